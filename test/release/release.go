// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package release makes what is published of a version: archives of the plugin,
// the webhook's image, their bills of materials, checksums and krew's manifest.
// Everything is a function of the commit, the Go release and the version, so two
// machines make the same bytes. It publishes nothing, and of networks needs the
// module proxy alone, as long as a module is missing.
package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/krew"
	semver "k8s.io/apimachinery/pkg/util/version"
)

// The programs that are released.
const (
	pluginProgram  = "kubectl-etcd"
	webhookProgram = "etcd-webhook"
)

// Options are the source, the folder and the platforms of a release.
type Options struct {
	// Source is a checkout with git. What it has committed is released, and
	// nothing else that stands there.
	Source string
	// Out is where everything is written. What an earlier release left there goes.
	Out string
	// Version is stamped into the programs; empty for what git reports.
	Version string
	// Download is the address of the folder that krew finds the archives in;
	// empty for the project's releases on GitHub.
	Download string
	// Plugins and Images are the platforms; AllPlugins and AllImages where empty.
	Plugins, Images []Platform
	// Progress receives what is being made.
	Progress io.Writer
	// environment adds to what the Go command gets for a platform; nil for nothing.
	environment func(Platform) []string
}

// Platform is an operating system and an architecture, as Go names them.
type Platform struct{ OS, Arch string }

// String is linux/amd64.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// AllPlugins returns the platforms of the plugin.
func AllPlugins() []Platform {
	return []Platform{
		{"darwin", "amd64"},
		{"darwin", "arm64"},
		{"linux", "amd64"},
		{"linux", "arm64"},
		{"windows", "amd64"},
		{"windows", "arm64"},
	}
}

// AllImages returns the platforms of the images.
func AllImages() []Platform { return []Platform{{"linux", "amd64"}, {"linux", "arm64"}} }

// Released is what was made; every path is absolute.
type Released struct {
	// Version is the version that the programs report.
	Version string
	// Archives are the plugin's, with their checksums.
	Archives []krew.Archive
	// Manifest is krew's, Checksums the list of sha256 sums of every file.
	Manifest, Checksums string
	// Image is the folder of an OCI layout with one index, Digest that index. PluginImage is the
	// plugin's, for the jobs of snapshot schedules.
	Image, Digest, PluginImage string
}

// Make makes a release.
func Make(ctx context.Context, o Options) (*Released, error) {
	r, err := o.make(ctx)
	if err != nil {
		return nil, fmt.Errorf("make a release of %s: %w", o.Source, err)
	}
	return r, nil
}

// publishable reports whether krew and registries accept a version. An empty one is git's.
func publishable(version string) bool {
	_, wrong := semver.ParseSemantic(version)
	return version == "" || wrong == nil && strings.HasPrefix(version, "v") && !strings.Contains(version, "+")
}

func (o Options) make(ctx context.Context) (*Released, error) {
	if len(o.Plugins) == 0 {
		o.Plugins = AllPlugins()
	}
	if len(o.Images) == 0 {
		o.Images = AllImages()
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if !publishable(o.Version) {
		return nil, fmt.Errorf("version %q: krew takes v1.2.3 or v1.2.3-rc.1, and an image's tag has no +", o.Version)
	}
	var err error
	// The Go command runs elsewhere.
	if o.Out, err = filepath.Abs(o.Out); err != nil {
		return nil, err
	}
	if err := clear(o.Out); err != nil {
		return nil, err
	}
	clone, err := os.MkdirTemp("", "kubectl-etcd-release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(clone) }() // no one knows of it
	if err := cloneInto(ctx, clone, o.Source); err != nil {
		return nil, err
	}
	o.Source = clone
	programs := filepath.Join(o.Out, programsFolder)
	plugins, err := o.compile(ctx, programs, pluginProgram, o.Plugins)
	if err != nil {
		return nil, err
	}
	webhooks, err := o.compile(ctx, programs, webhookProgram, o.Images)
	if err != nil {
		return nil, err
	}
	return o.assemble(plugins, webhooks)
}

// cloneInto copies what is committed into an empty folder. The Go command finds no
// commit in a worktree (golang.org/issue/58218), and what isn't committed must not
// be released.
func cloneInto(ctx context.Context, dir, source string) error {
	out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", source, dir).CombinedOutput() //nolint:gosec // the caller chooses the source
	if err != nil {
		return fmt.Errorf("clone %s: %w: %s", source, err, bytes.TrimSpace(out))
	}
	return nil
}

// programsFolder is the first thing that a release makes.
const programsFolder = "programs"

// clear removes an earlier release, and nothing else that stands there.
func clear(out string) error {
	there, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, programsFolder)); err != nil && len(there) > 0 {
		return fmt.Errorf("%s isn't empty and no earlier release: empty it or name another folder", out)
	}
	return os.RemoveAll(out)
}

// assemble makes everything of the programs; without a webhook, no image.
func (o Options) assemble(plugins, webhooks []program) (*Released, error) {
	r := &Released{Version: plugins[0].version}
	for _, p := range slices.Concat(plugins, webhooks) {
		if p.version != r.Version {
			return nil, fmt.Errorf("%s is version %s and %s version %s: did the checkout change meanwhile?", plugins[0].path, r.Version, p.path, p.version)
		}
		if err := writeBOM(filepath.Join(o.Out, p.title()+".cdx.json"), p); err != nil {
			return nil, err
		}
	}
	for _, p := range plugins {
		archive, err := o.archive(p)
		if err != nil {
			return nil, err
		}
		r.Archives = append(r.Archives, archive)
	}
	if len(webhooks) > 0 {
		var err error
		r.Image = filepath.Join(o.Out, "image")
		if r.Digest, err = writeImage(r.Image, webhooks, filepath.Join(o.Source, "LICENSE")); err != nil {
			return nil, err
		}
		if err := o.writeManifests(r.Version, r.Digest); err != nil {
			return nil, err
		}
		if err := o.writePluginImage(r, plugins); err != nil {
			return nil, err
		}
	}
	r.Manifest = filepath.Join(o.Out, krew.Name+".yaml")
	text, err := krew.Manifest(krew.Release{Version: r.Version, Archives: r.Archives})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(r.Manifest, text, 0o644); err != nil { //nolint:gosec // it is to be published
		return nil, err
	}
	r.Checksums = filepath.Join(o.Out, "checksums.txt")
	return r, writeChecksums(o.Out, r.Checksums)
}

// writePluginImage writes the plugin's image for those of its platforms that images have.
func (o Options) writePluginImage(r *Released, plugins []program) error {
	plugins = slices.DeleteFunc(slices.Clone(plugins), func(p program) bool { return !slices.Contains(o.Images, p.platform) })
	if len(plugins) == 0 {
		return nil
	}
	r.PluginImage = filepath.Join(o.Out, "plugin-image")
	_, err := writeImage(r.PluginImage, plugins, filepath.Join(o.Source, "LICENSE"))
	return err
}
