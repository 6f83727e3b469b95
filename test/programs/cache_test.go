// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// killMe has TestMain fill an entry of the cache that it names, and never end.
const killMe = "KUBECTL_ETCD_TEST_FILL_CACHE"

func TestMain(m *testing.M) {
	dir := os.Getenv(killMe)
	if dir == "" {
		os.Exit(m.Run())
	}
	_, _ = Cache{dir}.Make(context.Background(), "test/thing", "1", func(dir string) error {
		_ = os.WriteFile(filepath.Join(dir, "half"), nil, 0o600)
		_, _ = os.Stdout.WriteString("filling\n")
		_, err := io.Copy(io.Discard, os.Stdin) // until the parent ends
		return err
	})
}

// fillWith returns a fill that puts one file with a text into the entry.
func fillWith(text string) func(dir string) error {
	return func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "text"), []byte(text), 0o600)
	}
}

// checkEntry compares the files of an entry's folder and of the folders beside it.
func checkEntry(t *testing.T, dir, text string, siblings ...string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "text"))
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != text {
		t.Errorf("the entry holds %q, want %q", data, text)
	}
	checkNames(t, filepath.Dir(dir), append([]string{".lock"}, siblings...)...)
}

// checkNames compares the names in a folder.
func checkNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in %s: %s", dir, diff)
	}
}

func TestMakeOnce(t *testing.T) {
	t.Parallel()
	cache := Cache{t.TempDir()}
	var fills atomic.Int32
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() {
			dir, err := cache.Make(t.Context(), "test/thing", "1", func(dir string) error {
				fills.Add(1)
				return fillWith("one")(dir)
			})
			if err != nil {
				t.Error(err)
				return
			}
			checkEntry(t, dir, "one", "1")
		})
	}
	makers.Wait()
	if fills.Load() != 1 {
		t.Errorf("filled %d times", fills.Load())
	}
}

func TestMakeAnotherKey(t *testing.T) {
	t.Parallel()
	cache := Cache{t.TempDir()}
	for _, key := range []string{"1", "2"} {
		dir, err := cache.Make(t.Context(), "test/thing", key, fillWith(key))
		if err != nil {
			t.Fatal(err)
		}
		if key == "2" {
			checkEntry(t, dir, "2", "1", "2")
		}
	}
}

func TestMakeAfterFailure(t *testing.T) {
	t.Parallel()
	cache := Cache{t.TempDir()}
	wanted := errors.New("the disk is full")
	_, err := cache.Make(t.Context(), "test/thing", "1", func(dir string) error {
		return errors.Join(fillWith("half")(dir), wanted)
	})
	if !errors.Is(err, wanted) {
		t.Errorf("got error %v", err)
	}
	checkNames(t, filepath.Join(cache.Dir, "test", "thing"), ".lock")
	dir, err := cache.Make(t.Context(), "test/thing", "1", fillWith("whole"))
	if err != nil {
		t.Fatal(err)
	}
	checkEntry(t, dir, "whole", "1")
}

// TestMakeAfterKill kills a process while it fills an entry: the next one gets
// the lock and starts afresh.
func TestMakeAfterKill(t *testing.T) {
	t.Parallel()
	cache := Cache{t.TempDir()}
	child := startFilling(t, cache)
	if dir, err := cache.Find("test/thing", "1"); dir != "" || err != nil {
		t.Errorf("a half filled entry is found in %q (%v)", dir, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	dir, err := cache.Make(t.Context(), "test/thing", "1", fillWith("whole"))
	if err != nil {
		t.Fatal(err)
	}
	checkEntry(t, dir, "whole", "1")
}

func TestMakeGivesUpWaiting(t *testing.T) {
	t.Parallel()
	cache := Cache{t.TempDir()}
	startFilling(t, cache)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := cache.Make(ctx, "test/thing", "1", fillWith("never"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v while another process fills", err)
	}
}

// startFilling starts a process that is filling an entry when this returns, and
// goes on until it is killed.
func startFilling(t *testing.T, cache Cache) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killMe+"="+cache.Dir)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
		_ = stdin.Close()
	})
	if _, err := io.ReadFull(stdout, make([]byte, len("filling\n"))); err != nil {
		t.Fatal(err)
	}
	return child
}

func TestUnusedEntriesGo(t *testing.T) {
	t.Parallel()
	cache := Cache{t.TempDir()}
	for _, key := range []string{"old", "used"} {
		dir, err := cache.Make(t.Context(), "test/thing", key, fillWith(key))
		if err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-2 * unusedFor)
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cache.Find("test/thing", "used"); err != nil {
		t.Fatal(err)
	}
	dir, err := cache.Make(t.Context(), "test/thing", "new", fillWith("new"))
	if err != nil {
		t.Fatal(err)
	}
	checkEntry(t, dir, "new", "new", "used")
}

func TestRemove(t *testing.T) {
	t.Parallel()
	cache := Cache{filepath.Join(t.TempDir(), "cache")}
	for _, name := range []string{"test/thing", "test/other", "more/thing"} {
		if _, err := cache.Make(t.Context(), name, "1", fillWith("one")); err != nil {
			t.Fatal(err)
		}
	}
	foreign := filepath.Join(cache.Dir, "letters")
	if err := os.MkdirAll(filepath.Join(foreign, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := cache.Remove(); err != nil {
		t.Fatal(err)
	}
	checkNames(t, cache.Dir, "letters")
	if err := os.RemoveAll(foreign); err != nil {
		t.Fatal(err)
	}
	if err := cache.Remove(); err != nil {
		t.Fatal(err)
	}
	checkNames(t, filepath.Dir(cache.Dir))
}
