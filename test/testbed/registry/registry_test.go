// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"net"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestImagesSurviveARestart pushes an image and an index, and pulls them from
// another server with the same directory.
func TestImagesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	image, err := random.Image(100, 2)
	if err != nil {
		t.Fatal(err)
	}
	index, err := random.Index(100, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	address, stop := serve(t, dir)
	if err := remote.Write(tag(t, address, "deep/er/image:v1"), image); err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(tag(t, address, "index:v1"), index); err != nil {
		t.Fatal(err)
	}
	stop()

	address, stop = serve(t, dir)
	defer stop()
	got, err := remote.Image(tag(t, address, "deep/er/image:v1"))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := image.Digest()
	if digest, err := got.Digest(); err != nil || digest != want {
		t.Errorf("pulled %s, %v; pushed %s", digest, err, want)
	}
	layers, err := got.Layers()
	if err != nil || len(layers) != 2 {
		t.Errorf("layers: %d, %v", len(layers), err)
	}
	if _, err := remote.Index(tag(t, address, "index:v1")); err != nil {
		t.Error(err)
	}
}

func serve(t *testing.T, dir string) (address string, stop func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, dir) }()
	return l.Addr().String(), func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func tag(t *testing.T, address, image string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(address+"/"+image, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}
