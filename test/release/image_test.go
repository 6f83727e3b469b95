// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"archive/tar"
	"debug/elf"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// imageLimit is what a node has to store of the webhook's image, unpacked.
const imageLimit = 40 << 20

// imageFiles are all that the image has, with their modes, on every platform.
var imageFiles = map[string]int64{"etc/passwd": 0o644, "etc/group": 0o644, "LICENSE": 0o644, webhookProgram: 0o755}

// testImages holds what nodes need of the images that a release has; nothing is taken
// from the folder with the programs, which no one pulls.
func testImages(t *testing.T, release, version string) {
	t.Helper()
	images := readImages(t, filepath.Join(release, "image"))
	for _, platform := range AllImages() {
		t.Run(platform.String(), func(t *testing.T) {
			image := images[platform.String()]
			if image == nil {
				t.Fatal("the layout has no image")
			}
			testConfig(t, image, platform)
			testLayers(t, image, platform, version)
		})
	}
}

func testConfig(t *testing.T, image v1.Image, platform Platform) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if got := (Platform{config.OS, config.Architecture}); got != platform {
		t.Errorf("its platform is %s", got)
	}
	if config.Config.User != "65532:65532" {
		t.Errorf("it runs as %q", config.Config.User)
	}
	if !slices.Equal(config.Config.Entrypoint, []string{"/" + webhookProgram}) || len(config.Config.Cmd) > 0 {
		t.Errorf("it starts %q with %q", config.Config.Entrypoint, config.Config.Cmd)
	}
}

// testLayers inspects what the layers unpack to.
func testLayers(t *testing.T, image v1.Image, platform Platform, version string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), webhookProgram)
	size, files := unpack(t, image, program)
	if size > imageLimit {
		t.Errorf("its layers unpack to %d bytes, more than %d", size, imageLimit)
	}
	if !maps.Equal(files, imageFiles) {
		t.Errorf("it has the files with modes %v, want %v", files, imageFiles)
	}
	testStatic(t, program, platform)
	if platform == host[0] {
		wantVersion(t, program, version)
	}
}

// wantVersion asks the webhook its version.
func wantVersion(t *testing.T, program, version string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "-version").CombinedOutput()
	if err != nil || string(out) != version+"\n" {
		t.Errorf("etcd-webhook -version prints %q, want %s: %v", out, version, err)
	}
}

// testStamped makes an image of a version that git doesn't know.
func testStamped(t *testing.T, source string) {
	t.Helper()
	o := Options{Source: source, Version: "v9.8.7", Progress: t.Output()}
	built, err := o.compile(t.Context(), t.TempDir(), webhookProgram, host)
	if err != nil {
		t.Fatal(err)
	}
	image, err := imageOf(built[0], filepath.Join(source, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if v := built[0].version; v != o.Version {
		t.Errorf("it is labelled %s", v)
	}
	testLayers(t, image, host[0], o.Version)
}

// unpack counts the bytes that an image's layers unpack to, lists their files with
// their modes, and writes the program to a path.
func unpack(t *testing.T, image v1.Image, program string) (size int64, files map[string]int64) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]int64{}
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		counted := &counter{Reader: content}
		archive := tar.NewReader(counted)
		for header, err := archive.Next(); !errors.Is(err, io.EOF); header, err = archive.Next() {
			if err != nil {
				t.Fatal(err)
			}
			files[header.Name] = header.Mode
			if header.Name == webhookProgram {
				save(t, program, archive)
			}
		}
		// What pads a tar is stored, too.
		if _, err := io.Copy(io.Discard, counted); err != nil {
			t.Fatal(err)
		}
		if err := content.Close(); err != nil {
			t.Fatal(err)
		}
		size += counted.read
	}
	return size, files
}

// counter counts what is read.
type counter struct {
	io.Reader
	read int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	return n, err
}

// save writes a program that can be run.
func save(t *testing.T, path string, content io.Reader) {
	t.Helper()
	if err := create(path, func(w io.Writer) error { _, err := io.Copy(w, content); return err }); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// machines are the architectures as a program's file names them.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// testStatic holds that a program runs on its platform with nothing beside it.
func testStatic(t *testing.T, program string, platform Platform) {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if file.Machine != machines[platform.Arch] {
		t.Errorf("the program is for %s", file.Machine)
	}
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			t.Error("the program needs a loader, and an empty image has none")
		}
	}
}

// readImages are the images of a layout by their platforms; every digest is right.
func readImages(t *testing.T, dir string) map[string]v1.Image {
	t.Helper()
	layouts, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(layouts); err != nil {
		t.Fatal(err)
	}
	outer, err := layouts.IndexManifest()
	if err != nil || len(outer.Manifests) != 1 {
		t.Fatalf("the layout has %d indexes: %v", len(outer.Manifests), err)
	}
	index, err := layouts.ImageIndex(outer.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.IndexManifest()
	if err != nil || len(inner.Manifests) != len(AllImages()) {
		t.Fatalf("the index has %d images: %v", len(inner.Manifests), err)
	}
	images := map[string]v1.Image{}
	for _, m := range inner.Manifests {
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		images[m.Platform.String()] = image
	}
	return images
}
