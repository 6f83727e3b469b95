// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
	"github.com/kubectl-etcd/kubectl-etcd/test/release"
)

// TestInstallAsTheReadmeHasIt types each line of the README's block on installing etcd-webhook.
// It only replaces the address of the releases. Each line must succeed.
func TestInstallAsTheReadmeHasIt(t *testing.T) {
	uninstalled(t)
	from, made := published(t)
	block := shellBlock(t, "README.md", "\n**The webhook**")
	lines := strings.Split(strings.ReplaceAll(block, "https://github.com/kubectl-etcd/kubectl-etcd/releases/download", from), "\n")
	if len(lines) != 5 || !strings.Contains(lines[0], from) {
		t.Fatalf("the README's block has changed:\n%s", block)
	}
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.Webhook}, io.Discard); err != nil {
		t.Fatal(err)
	}
	certManagerInstalled(t)
	for _, line := range lines[1:] {
		image := made.Digest
		if strings.Contains(line, " -k manifests") {
			image = ":dev"
		}
		works(t, lines[0]+"\n"+line, image)
	}
}

// published builds a release of the committed files, serves it below its version, and pushes its
// image to the nodes' registry.
func published(t *testing.T) (address string, made *release.Released) {
	t.Helper()
	const version = "v0.1.0"
	dir := t.TempDir()
	host := []release.Platform{{OS: "linux", Arch: runtime.GOARCH}}
	made, err := release.Make(t.Context(), release.Options{
		Source: "../..", Out: filepath.Join(dir, version), Version: version, Plugins: host, Images: host, Progress: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := pushLayout(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL, made
}

// pushLayout pushes a release's image under its name in the release's manifests.
func pushLayout(ctx context.Context, made *release.Released) error {
	ref, err := name.ParseReference(images.Webhook)
	if err != nil {
		return err
	}
	registry, err := name.NewRegistry(bed.Registry(), name.Insecure)
	if err != nil {
		return err
	}
	outer, err := layout.ImageIndexFromPath(made.Image)
	if err != nil {
		return err
	}
	top, err := outer.IndexManifest()
	if err != nil {
		return err
	}
	index, err := outer.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		return err
	}
	return remote.WriteIndex(registry.Repo(ref.Context().RepositoryStr()).Tag(made.Version), index, remote.WithContext(ctx))
}

// works types a command that installs etcd-webhook, checks that etcd-webhook works with this
// image, and removes it.
func works(t *testing.T, typed, image string) {
	t.Helper()
	eventually(t, typed, func(ctx context.Context) (string, bool, error) {
		printed, err := inShell(ctx, typed)
		return fmt.Sprintf("%s%v", printed, err), err == nil, nil // API servers may not trust cert-manager's webhook yet
	})
	rolledOut(t)
	if runs := kubectl(t, "get", "deployment", Name, "-n", Namespace, "-o", "jsonpath={.spec.template.spec.containers[*].image}"); !strings.HasSuffix(runs, image) {
		t.Errorf("%s\nruns %s, not %s", typed, runs, image)
	}
	plugin(t, 0, "webhook", "status")
	uninstalled(t)
}
