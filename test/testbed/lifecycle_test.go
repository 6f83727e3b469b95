// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// killRounds is how often an Up is killed half way, and killWithin the time in
// which that happens; an Up of one node takes about four seconds.
const (
	killRounds = 6
	killWithin = 5 * time.Second
)

// TestMain is also the process that TestKilledUp kills.
func TestMain(m *testing.M) {
	dir := os.Getenv("TESTBED_KILLED_UP")
	if dir == "" {
		os.Exit(m.Run())
	}
	if _, err := Up(context.Background(), killed(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func killed(dir string) Options {
	return Options{Name: "test-killed", Nodes: 1, StateDir: dir, Log: os.Stdout}
}

// TestKilledUp kills an Up with SIGKILL at random moments, and expects Down to
// leave the host as it was.
func TestKilledUp(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("TESTBED_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("moments are drawn with TESTBED_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	o := killed(t.TempDir())
	prepare(t, o)
	before := inspect(t, o.Name)
	for range killRounds {
		after := time.Duration(random.Int64N(int64(killWithin)))
		printed := killUp(t, o.StateDir, after)
		began := time.Now()
		if err := Down(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Logf("killed after %.2fs, after %q; down took %.2fs", after.Seconds(), lastLine(printed), time.Since(began).Seconds())
		before.nothingLeft(t, o.Name)
		if _, err := os.Stat(o.dir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", o.dir())
		}
	}
}

// prepare builds what Up would build first, so that the moments fall into what
// comes after, and so that no build is killed.
func prepare(t *testing.T, o Options) {
	t.Helper()
	o, err := o.complete()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(requireRoot(), requireTools(t.Context(), t.Output())); err != nil {
		t.Fatal(err)
	}
	l := newLayout(o, pool)
	l.Dir = t.TempDir()
	if err := l.installPrograms(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// killUp runs an Up in a process of its own, kills that after a while, and
// returns its output.
func killUp(t *testing.T, dir string, after time.Duration) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TESTBED_KILLED_UP="+dir)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(printed)
}

func lastLine(s string) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	return all[len(all)-1]
}

// TestDownLeavesNothing takes down a testbed in the worst state: a node frozen,
// one cut off, immutable files, and its own files gone.
func TestDownLeavesNothing(t *testing.T) {
	o := Options{Name: "test-down", Nodes: 2, StateDir: t.TempDir()}
	if err := requireRoot(); err != nil {
		t.Fatal(err)
	}
	before := inspect(t, o.Name)
	c := startCluster(t, o)
	if out, err := c.try("create", "deployment", "sleepers", "--image=registry.k8s.io/pause:3.10.1", "--replicas=4"); err != nil {
		t.Fatal(out)
	}
	c.kubectl("rollout", "status", "--timeout=10m", "deployment/sleepers")
	c.must(c.PauseNode(t.Context(), "node-1"))
	c.must(c.CutNode(t.Context(), "node-2"))
	makeImmutable(t, filepath.Join(c.Shared(), "store", "backup"))
	if len(before.left(inspect(t, o.Name))) == 0 {
		t.Error("a testbed that runs isn't seen: this test inspects the wrong files")
	}
	c.must(os.Remove(layoutFile(c.Dir())))
	began := time.Now()
	for range 2 { // the second finds nothing to do
		c.must(Down(t.Context(), o))
	}
	t.Logf("down twice took %.2fs", time.Since(began).Seconds())
	before.nothingLeft(t, o.Name)
}

// TestDownWithoutFiles takes down a testbed whose run directory is gone.
func TestDownWithoutFiles(t *testing.T) {
	o := Options{Name: "test-lost", Nodes: 1, StateDir: t.TempDir()}
	before := inspect(t, o.Name)
	c := startCluster(t, o)
	// A second Up finds the first and uses it.
	if _, err := Up(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Nodes = 2
	if _, err := Up(t.Context(), o); err == nil || !strings.Contains(err.Error(), "1 nodes in 1 zones") {
		t.Errorf("an Up with other nodes returns %v", err)
	}
	_ = os.RemoveAll(c.Dir()) // not all of it: the machines go on writing
	c.must(Down(context.WithoutCancel(t.Context()), o))
	before.nothingLeft(t, o.Name)
}

func makeImmutable(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0x10); err != nil {
			t.Logf("this file system has no immutable files: %v", err)
		}
	}
}
