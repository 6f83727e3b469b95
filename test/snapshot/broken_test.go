// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// cutter is a proxy that ends every connection after so many bytes, or changes
// nothing and sends nothing more.
type cutter struct {
	address string
	after   atomic.Int64
	silent  atomic.Bool
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c := &cutter{address: l.Addr().String()}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(in, to)
		}
	}()
	return c
}

func (c *cutter) serve(in net.Conn, to string) {
	defer in.Close()
	out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	go io.Copy(out, in) //nolint:errcheck // ends with the connection
	_, _ = io.CopyN(in, out, c.after.Load())
	for c.silent.Load() {
		time.Sleep(10 * time.Millisecond)
	}
}

func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A connection that is cut anywhere, or that falls silent, leaves nothing, and is
// an error; and the next attempt finds its way.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	r := of(t, "3.7")
	address, _ := r.start(t, filepath.Join(t.TempDir(), "data"))
	fill(t, dial(t, address))
	path := filepath.Join(t.TempDir(), "snapshot.db")
	whole, err := snapshot.Saver{Sources: []snapshot.Source{source(address)}}.ToFile(t.Context(), path, false, nothing)
	if err != nil {
		t.Fatal(err)
	}
	proxy := newCutter(t, address)
	points := []int64{0, 1, 100, 1000, whole.Size - 32, whole.Size - 1, whole.Size}
	for range 25 {
		points = append(points, rand.Int64N(whole.Size))
	}
	for _, after := range points {
		for _, silent := range []bool{false, true} {
			proxy.after.Store(after)
			proxy.silent.Store(silent)
			dir := t.TempDir()
			save := snapshot.Saver{Sources: []snapshot.Source{source(proxy.address)}, Idle: 200 * time.Millisecond}
			got, err := save.ToFile(t.Context(), filepath.Join(dir, "snapshot.db"), false, nothing)
			if err == nil || got.Size != 0 || len(left(t, dir)) > 0 {
				t.Errorf("cut after %d of %d bytes, silent %v: got %+v, %v, and %q is left", after, whole.Size, silent, got, err, left(t, dir))
			}
			proxy.silent.Store(false)
		}
	}
	dir := t.TempDir()
	save := snapshot.Saver{Sources: []snapshot.Source{source(proxy.address), source(address)}, Retries: 1}
	if got, err := save.ToFile(t.Context(), filepath.Join(dir, "snapshot.db"), false, nothing); err != nil || got.Attempts != 2 {
		t.Errorf("with a second member: %+v, %v", got, err)
	}
}

// A disk without space is reported before anything is written, and one that fills up
// meanwhile when it happens; nothing is left of either.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("mounting a small file system is root's: run this test as root")
	}
	r := of(t, "3.7")
	address, _ := r.start(t, filepath.Join(t.TempDir(), "data"))
	fill(t, dial(t, address))
	disk := smallDisk(t)
	path := filepath.Join(disk, "snapshot.db")
	save := snapshot.Saver{Sources: []snapshot.Source{source(address)}, Retries: 3}
	_, err := save.ToFile(t.Context(), path, false, nothing)
	if err == nil || !strings.Contains(err.Error(), "bytes free") || len(left(t, disk)) > 0 {
		t.Errorf("too small: %v; %q is left", err, left(t, disk))
	}

	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	attempts := 0
	save.Begin = func(string, int64) { attempts++ }
	shrunk := false
	save.Progress = func(done int64) {
		if done > 1<<20 && !shrunk { // another user takes the rest
			shrunk = true
			if err := os.WriteFile(filepath.Join(disk, "other"), make([]byte, 62<<20), 0o600); err != nil {
				t.Log(err)
			}
		}
	}
	_, err = save.ToFile(t.Context(), path, false, nothing)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "are free in") || attempts != 1 {
		t.Errorf("filled meanwhile: %v, after %d attempts", err, attempts)
	}
	if names := left(t, disk); len(names) != 1 || names[0] != "other" {
		t.Errorf("filled meanwhile: %q is left", names)
	}
}

// smallDisk is where a file system of 2 MiB is mounted until the test ends.
func smallDisk(t *testing.T) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	return disk
}
