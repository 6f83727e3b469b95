// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// startRegistry serves an empty registry and returns its address.
func startRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pull returns an image as a node gets it that takes the registry for a mirror
// of every other one.
func pull(t *testing.T, address, repository, tag string) v1.Image {
	t.Helper()
	host, err := name.NewRegistry(address, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(host.Repo(repository).Tag(tag))
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestPush(t *testing.T) {
	t.Parallel()
	address, cache := startRegistry(t), programs.Cache{Dir: t.TempDir()}
	var printed bytes.Buffer
	if err := Push(t.Context(), cache, address, []string{Pause}, &printed); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(printed.String(), "\npushing image "+Pause+"\n") {
		t.Errorf("the progress is:\n%s", &printed)
	}
	image := pull(t, address, "pause", "3.10.1")
	if err := validate.Image(image, validate.Fast); err != nil {
		t.Error(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		Entrypoint: []string{"/pause"}, User: "65535:65535", WorkingDir: "/",
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Error(diff)
	}

	printed.Reset()
	if err := Push(t.Context(), cache, address, []string{Pause}, &printed); err != nil {
		t.Fatal(err)
	}
	if printed.Len() != 0 {
		t.Errorf("what is there already is pushed again:\n%s", &printed)
	}
}

func TestPushChangedImage(t *testing.T) {
	t.Parallel()
	address, built := startRegistry(t), fakeParts(t)
	host, err := name.NewRegistry(address, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image := byName()[Webhook]
	for _, text := range []string{"one", "two"} {
		write(t, built.programs["etcd-webhook"], text)
		content, err := image.content(built)
		if err != nil {
			t.Fatal(err)
		}
		if err := push(t.Context(), host, Webhook, content, t.Output()); err != nil {
			t.Fatal(err)
		}
		_, contents := unpack(t, pull(t, address, "kubectl-etcd/etcd-webhook", "dev"))
		if got := contents["/etcd-webhook"]; got != text {
			t.Errorf("pulled %q, want %q", got, text)
		}
	}
}

func TestPushNowhere(t *testing.T) {
	t.Parallel()
	if err := Push(t.Context(), programs.Cache{Dir: t.TempDir()}, "127.0.0.1:1", []string{"docker.io/emacs"}, t.Output()); err == nil || !strings.Contains(err.Error(), "docker.io/emacs") {
		t.Errorf("an unknown image gives error %v", err)
	}
}
