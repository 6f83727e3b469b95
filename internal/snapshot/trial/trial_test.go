// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program writes a shell script that stands for a program.
func program(t *testing.T, dir, name, script string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNothingIsLeft: neither the directory nor the process is left, however a trial ends. Only the user can read the
// directory, and etcd gets no variables that are flags.
//
//nolint:gocyclo // one check a trace
func TestNothingIsLeft(t *testing.T) {
	for _, row := range []struct {
		name, tool, etcd string
		// cancelled means that the user interrupts while etcd starts.
		cancelled, damaged bool
		want               string
	}{
		{name: "the tool fails", tool: "mkdir data; echo broken >&2; exit 1", want: "can't restore it: exit status 1: broken. That does not show"},
		{name: "the hash is wrong", tool: "mkdir data; echo 'Error: expected sha256 [1], got [2]' >&2; exit 1", damaged: true, want: "can't restore it: exit status 1: Error: expected sha256"},
		{name: "the tool is killed", tool: "mkdir data; kill -9 $$", want: "more memory"},
		{name: "etcd fails", tool: "mkdir data", etcd: "echo no bucket; exit 1", want: "etcd doesn't start from it: exit status 1: no bucket"},
		{name: "etcd finds damage", tool: "mkdir data", etcd: "echo 'panic: invalid page type: 3: 10'; exit 2", damaged: true, want: "etcd doesn't start from it: exit status 2: panic"},
		{name: "etcd is killed", tool: "mkdir data", etcd: "kill -9 $$", want: "more memory"},
		{name: "etcd ends", tool: "mkdir data", etcd: "exit 0", want: "it has ended without an error"},
		{name: "interrupted", tool: "mkdir data", etcd: "echo $$ > $OUT/pid.part; mv $OUT/pid.part $OUT/pid; exec sleep 1000", cancelled: true, want: "Ctrl-C"},
	} {
		t.Run(row.name, func(t *testing.T) {
			bin, temporary := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", temporary)
			t.Setenv("OUT", bin)
			t.Setenv("ETCD_CONFIG_FILE", "/etc/etcd.yaml")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			trial := Trial{
				File: "main.db", Logf: func(string, ...any) {},
				Tool: program(t, bin, "etcdutl", `{ stat -c %a .; umask; } > $OUT/mode; env > $OUT/env; `+row.tool),
				Etcd: program(t, bin, "etcd", row.etcd),
			}
			pid := filepath.Join(bin, "pid")
			if row.cancelled {
				go func() {
					for ctx.Err() == nil {
						if _, err := os.Stat(pid); err == nil {
							cancel(errors.New("Ctrl-C"))
						}
						time.Sleep(10 * time.Millisecond)
					}
				}()
			}
			_, err := trial.Run(ctx)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
			var d *DamagedError
			if errors.As(err, &d) != row.damaged {
				t.Errorf("the snapshot counts as damaged: %t", !row.damaged)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("%v are left, %v", left, err)
			}
			if row.cancelled {
				text, err := os.ReadFile(pid)
				if err != nil {
					t.Fatal(err)
				}
				n, err := strconv.Atoi(strings.TrimSpace(string(text)))
				if err != nil {
					t.Fatal(err)
				}
				if err := syscall.Kill(n, 0); !errors.Is(err, syscall.ESRCH) {
					t.Errorf("etcd still runs: %v", err)
				}
			}
			if mode, err := os.ReadFile(filepath.Join(bin, "mode")); err != nil || string(mode) != "700\n0077\n" {
				t.Errorf("the directory and the mask are %q, %v", mode, err)
			}
			if env, err := os.ReadFile(filepath.Join(bin, "env")); err != nil || strings.Contains(string(env), "ETCD_CONFIG_FILE") {
				t.Errorf("the tool reads ETCD_CONFIG_FILE: %v", err)
			}
		})
	}
}

// TestFailure: only what the content of the snapshot shows is damage.
func TestFailure(t *testing.T) {
	t.Parallel()
	exit := errors.New("exit status 1")
	for printed, want := range map[string]string{
		"Error: expected sha256 [1], got [2]":                                       "",
		"panic: assertion failed: Page expected to be: 5, but self identifies as 0": "",
		"Error: snapshot missing hash but --skip-hash-check=false":                  "",
		"Error: invalid database":                                                   "",
		"write /tmp/x/member/snap/db: no space left on device":                      "room for the whole database",
		"panic: assertion failed: write: no space left on device":                   "room for the whole database",
		"open data/member: Permission denied":                                       "TMPDIR",
		"mkdir data: read-only file system":                                         "TMPDIR",
		"fatal error: runtime: out of memory":                                       "more memory",
		"Error: unknown command \"snapshot\" for \"tool\"":                          "--tool and --etcd",
		"Error: unknown flag: --skip-hash-check":                                    "--tool and --etcd",
		"flag provided but not defined: -enable-grpc-gateway":                       "--tool and --etcd",
		"cluster cannot be downgraded: unsupported storage version":                 "--tool and --etcd",
		"": "--tool and --etcd",
	} {
		err := failure("etcdutl can't restore it", exit, printed)
		var d *DamagedError
		if errors.As(err, &d) != (want == "") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", printed, err)
		}
	}
}

// TestCompare: an etcd with other data than the file is no proof.
func TestCompare(t *testing.T) {
	t.Parallel()
	var trial Trial
	trial.Content.Keys, trial.Content.Revision = 3, 9
	for _, row := range []struct {
		result Result
		ok     bool
	}{
		{Result{Keys: 3, Revision: 9}, true},
		{Result{Keys: 3, Revision: 10}, true}, // a lease has expired
		{Result{Keys: 2, Revision: 9}, false},
		{Result{Keys: 3, Revision: 8}, false},
	} {
		if err := trial.compare(row.result); (err == nil) != row.ok {
			t.Errorf("%+v: %v", row.result, err)
		}
	}
}

func TestPrefixOf(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"/registry/pods/team/main-0": "/registry/pods/", "/registry/pods": "/registry/", "a/b/c/d": "a/b/", "a/b": "a/", "plain": "", "/plain": "", "": "", "//x": "//",
	} {
		if got := prefixOf(key); got != want {
			t.Errorf("the prefix of %q is %q, want %q", key, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("ETCDCTL_ENDPOINTS", "production:2379")
	if slices.ContainsFunc(environment(), func(v string) bool { return strings.HasPrefix(v, "ETCDCTL_") }) {
		t.Error("the tools read ETCDCTL_ENDPOINTS")
	}
}
