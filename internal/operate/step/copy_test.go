// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A kubectl whose pods are this machine.
const kubectl = `#!/bin/sh
while [ "$1" != "--" ]; do shift; done
shift
exec "$@"
`

// twoWays are the command of an action in a shell, and its Do.
func twoWays(t *testing.T, w *world) map[string]func(Action) error {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte(kubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	return map[string]func(Action) error{
		"Do": func(a Action) error { return a.Do(t.Context(), w.clients) },
		"Command": func(a Action) error {
			cmd := exec.CommandContext(t.Context(), "sh", "-ec", a.Command(flags))
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			return cmd.Run()
		},
	}
}

// tree writes files into a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// files reads what tree wrote, or an action.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		found[strings.TrimPrefix(name, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestCopyDir: Do and the command copy the same files, and compare them in the same way.
func TestCopyDir(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	data := map[string]string{"member/snap/db": "database", "member/wal/0.wal": strings.Repeat("log", 100_000), "other": "stays here"}
	for name, run := range twoWays(t, w) {
		for what, want := range map[string]map[string]string{
			"member": {"member/snap/db": data["member/snap/db"], "member/wal/0.wal": data["member/wal/0.wal"]},
			".":      data,
		} {
			a := CopyDir{From: tree(t, data), What: what, Pod: "restore-main-0", To: t.TempDir()}
			if err := run(a); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(want, files(t, a.To)); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", name, what, diff)
			}
			if err := run(CompareDir(a)); err != nil {
				t.Errorf("%s of %s: what is the same differs: %v", name, what, err)
			}
			if err := os.WriteFile(filepath.Join(a.To, "member/snap/db"), []byte("data"), 0o600); err != nil {
				t.Fatal(err)
			}
			if run(CompareDir(a)) == nil {
				t.Errorf("%s of %s: a shorter file is the same", name, what)
			}
		}
	}
}

func TestCopyDirCommand(t *testing.T) {
	t.Parallel()
	a := CopyDir{From: "restored/$pod", What: "member", Pod: "restore-$pod", To: "/data/etcd"}
	wantCommand(t, a, "tar -C restored/$pod -cf - member | kubectl --context desk -n team exec -i restore-$pod -- tar -C /data/etcd -xof -")
	wantCommand(t, CompareDir(a), `here=$(cd restored/$pod && find member -type f -exec sha256sum {} + | sort)
there=$(kubectl --context desk -n team exec restore-$pod -- sh -c 'cd /data/etcd && find member -type f -exec sha256sum {} + | sort')
[ "$here" = "$there" ] && echo "$pod: the same" || { echo "$pod: NOT the same, copy it again"; false; }`)
	for _, each := range []Action{a.forPod("main-0"), CompareDir(a).forPod("main-0")} {
		if text := each.Command(Flags{}); !strings.Contains(text, "restored/main-0") || !strings.Contains(text, "restore-main-0") {
			t.Errorf("for one pod it is %q", text)
		}
	}
}

// TestCopyDirFails: neither a missing directory nor a failed command passes.
func TestCopyDirFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wantError(t, CopyDir{From: filepath.Join(t.TempDir(), "none"), What: "member", To: t.TempDir()}.Do(t.Context(), w.clients), "none")
	from := tree(t, map[string]string{"member/db": strings.Repeat("x", 1<<20)})
	wantError(t, CopyDir{From: from, What: "member", Pod: "main-0", To: "/nowhere/at/all"}.Do(t.Context(), w.clients), "in pod main-0")
}

// TestCopyFile: Do and the command copy the same file, into a directory that they make.
func TestCopyFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, run := range twoWays(t, w) {
		from := filepath.Join(tree(t, map[string]string{"a b.db": "snapshot"}), "a b.db")
		a := CopyFile{From: from, Pod: "restore-main", To: filepath.Join(t.TempDir(), "v2", "restore.part")}
		if run(CompareFile(a)) == nil {
			t.Errorf("%s: a missing file is the same", name)
		}
		if err := run(a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := run(CompareFile(a)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(a.To, []byte("snap"), 0o600); err != nil {
			t.Fatal(err)
		}
		if run(CompareFile(a)) == nil {
			t.Errorf("%s: a shorter file is the same", name)
		}
	}
}

// TestCopyFileAgain: a copy that arrives incomplete is made again, five times at most.
func TestCopyFileAgain(t *testing.T) {
	t.Parallel()
	from := filepath.Join(tree(t, map[string]string{"main.db": "snapshot"}), "main.db")
	for lost, fails := range map[int]bool{0: false, 4: false, 5: true} {
		w := newWorld(t)
		real, copies := w.clients.Exec, 0
		w.clients.Exec = func(ctx context.Context, pod string, command []string, in io.Reader, out io.Writer) error {
			if in != nil {
				if copies++; copies <= lost {
					in = io.LimitReader(in, 4)
				}
			}
			return real(ctx, pod, command, in, out)
		}
		err := CopyFile{From: from, Pod: "main", To: filepath.Join(t.TempDir(), "part")}.Do(t.Context(), w.clients)
		if (err != nil) != fails || copies != min(lost+1, copyAttempts) {
			t.Errorf("%d lost: %d copies, %v", lost, copies, err)
		}
	}
}

func TestAppendHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := tree(t, map[string]string{"db": "database"})
	a := AppendHash{Database: filepath.Join(dir, "db"), Snapshot: filepath.Join(dir, "main.db")}
	wantCommand(t, AppendHash{"my db", "main.db"}, "{ cat 'my db'; openssl dgst -sha256 -binary 'my db'; } > main.db")
	w.do(t, a)
	got, err := os.ReadFile(a.Snapshot)
	sum := sha256.Sum256([]byte("database"))
	if err != nil || !bytes.Equal(got, append([]byte("database"), sum[:]...)) {
		t.Errorf("%q, %v", got, err)
	}
}
