// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package registry serves container images to a testbed's machines from a
// directory. It takes pushes from anybody who reaches it; only the host and the
// testbed do.
package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Serve answers on the listener until the context ends. What was pushed before
// with the same directory is there again.
func Serve(ctx context.Context, l net.Listener, dir string) error {
	blobs, manifests := filepath.Join(dir, "blobs"), filepath.Join(dir, "manifests")
	for _, d := range []string{blobs, manifests} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	// The library keeps blobs on disk, but manifests in memory.
	k := &keeper{dir: manifests, next: registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
		registry.Logger(log.New(os.Stdout, "", log.LstdFlags)),
	)}
	if err := k.replay(ctx); err != nil {
		return err
	}
	server := &http.Server{Handler: k, ReadHeaderTimeout: time.Minute}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// keeper stores every manifest that is pushed, to push it again after a restart.
type keeper struct {
	dir  string
	next http.Handler
}

// manifest is a push of a manifest.
type manifest struct {
	Path, ContentType string
	Body              []byte
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/manifests/") {
		k.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m := manifest{r.URL.Path, r.Header.Get("Content-Type"), body}
	if err := k.store(m); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	k.next.ServeHTTP(w, r)
}

func (k *keeper) store(m manifest) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	file := filepath.Join(k.dir, strings.ReplaceAll(strings.Trim(m.Path, "/"), "/", "_"))
	if err := os.WriteFile(file+".part", data, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".part", file)
}

// replay pushes what was stored. An index is refused while one of its
// manifests is missing, so that what is refused is tried again after the rest.
func (k *keeper) replay(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(k.dir, "*"))
	if err != nil {
		return err
	}
	for range 2 {
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var m manifest
			if json.Unmarshal(data, &m) != nil {
				continue // cut off in the middle of a push
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://registry"+m.Path, bytes.NewReader(m.Body))
			if err != nil {
				return err
			}
			r.Header.Set("Content-Type", m.ContentType)
			k.next.ServeHTTP(discard{}, r)
		}
	}
	return nil
}

// discard is the answer to a replayed push, which no one waits for.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
