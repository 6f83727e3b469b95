// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// fakeParts stands for every program with a few bytes of its own.
func fakeParts(t *testing.T) parts {
	t.Helper()
	dir := t.TempDir()
	built := parts{programs: map[string]string{}, busybox: filepath.Join(dir, "busybox")}
	write(t, built.busybox, "#!/bin/sh\necho busybox\necho chown\necho sh\n")
	for _, program := range programs.All() {
		built.programs[program] = filepath.Join(dir, program+"-1")
		write(t, built.programs[program], program)
	}
	return built
}

// write makes a program.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// unpack returns the files of an image by path, and what is in them.
func unpack(t *testing.T, image v1.Image) (headers map[string]*tar.Header, contents map[string]string) {
	t.Helper()
	headers, contents = map[string]*tar.Header{}, map[string]string{}
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }()
	for archive := tar.NewReader(flat); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		at := path.Join("/", header.Name)
		headers[at], contents[at] = header, string(data)
	}
}

func TestKnownImages(t *testing.T) {
	t.Parallel()
	built := fakeParts(t)
	for _, image := range Known() {
		t.Run(path.Base(image.Name), func(t *testing.T) {
			t.Parallel()
			// Without a registry, the kubelet asks Docker Hub. Without a tag, it asks for the latest.
			if tag, err := name.NewTag(image.Name); err != nil || tag.TagStr() == "latest" {
				t.Errorf("a pod can't name it by its tag: %v", err)
			}
			content, err := image.content(built)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate.Image(content, validate.Fast); err != nil {
				t.Error(err)
			}
			headers, contents := unpack(t, content)
			checkHomes(t, headers)
			for _, p := range image.programs {
				if contents[p.path] != p.name {
					t.Errorf("%s holds %q, want the program %s", p.path, contents[p.path], p.name)
				}
			}
			start := slices.Concat(image.entrypoint, image.command)[0]
			if header := headers[start]; header == nil || header.Mode&0o111 != 0o111 {
				t.Errorf("%s can't be executed: %+v", start, header)
			}
		})
	}
}

// checkHomes holds an image to what etcd-backup-restore needs: users with homes
// of their own.
func checkHomes(t *testing.T, headers map[string]*tar.Header) {
	t.Helper()
	type home struct {
		Type byte
		UID  int
		Mode int64
	}
	for at, want := range map[string]home{
		"/root":         {tar.TypeDir, 0, 0o700},
		"/home/nonroot": {tar.TypeDir, 65532, 0o700},
		"/tmp":          {tar.TypeDir, 0, 0o1777},
		"/etc/passwd":   {tar.TypeReg, 0, 0o644},
	} {
		header := headers[at]
		if header == nil {
			t.Errorf("there is no %s", at)
			continue
		}
		if diff := cmp.Diff(want, home{header.Typeflag, header.Uid, header.Mode}); diff != "" {
			t.Errorf("%s: %s", at, diff)
		}
	}
}

// TestDruidsImages holds the names to those that druid v0.37.0 has built in.
func TestDruidsImages(t *testing.T) {
	t.Parallel()
	known := slices.Collect(maps.Keys(byName()))
	for _, image := range []string{
		"europe-docker.pkg.dev/gardener-project/public/gardener/etcd-wrapper:v0.6.2",
		"europe-docker.pkg.dev/gardener-project/public/gardener/etcd-wrapper:v0.8.0",
		"europe-docker.pkg.dev/gardener-project/public/gardener/etcdbrctl:v0.41.2",
		"europe-docker.pkg.dev/gardener-project/public/gardener/etcdbrctl:v0.43.0",
		"europe-docker.pkg.dev/gardener-project/public/3rd/alpine:3.21.3",
	} {
		if !slices.Contains(known, image) {
			t.Errorf("nothing makes %s", image)
		}
	}
}

// byName returns the known images by name.
func byName() map[string]Image {
	images := map[string]Image{}
	for _, image := range Known() {
		images[image.Name] = image
	}
	return images
}

func TestAlpineHasLinks(t *testing.T) {
	t.Parallel()
	content, err := byName()[Alpine].content(fakeParts(t))
	if err != nil {
		t.Fatal(err)
	}
	headers, _ := unpack(t, content)
	for _, tool := range []string{"/bin/sh", "/bin/chown"} {
		if header := headers[tool]; header == nil || header.Linkname != "/bin/busybox" {
			t.Errorf("%s is no link to busybox: %+v", tool, header)
		}
	}
}

// TestDigest makes the same image of files in other folders at another time.
func TestDigest(t *testing.T) {
	t.Parallel()
	image := byName()[Etcd("v3.7.3")]
	built, again := fakeParts(t), fakeParts(t)
	first, second := digest(t, image, built), digest(t, image, again)
	if first != second {
		t.Errorf("the same programs make %s and %s", first, second)
	}
	write(t, again.programs["etcdutl"], "changed")
	if changed := digest(t, image, again); changed == first {
		t.Errorf("another program makes the same image %s", changed)
	}
}

// digest returns the digest of an image made of the parts.
func digest(t *testing.T, image Image, built parts) string {
	t.Helper()
	content, err := image.content(built)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := content.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}
