// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts types what a person types, into the real kubectl with the plugin in
// its PATH, beside the cluster shared of namespace shared. Scripts leave that as
// it is; the namespace $NS is theirs, all scripts' together, and empty at first.
func TestScripts(t *testing.T) {
	operating(t, 1)
	borrowDruid(t) // locks of other tests would be seen, and what they refuse
	plugin, err := pluginPath()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{"kubectl-etcd", "kubectl_complete-etcd"} {
		if err := os.Symlink(plugin, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	ns := namespace(t)
	samples, err := filepath.Abs("../../manifests/samples")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{bin, bed.Bin(), os.Getenv("PATH")}, string(filepath.ListSeparator))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", path)
			e.Setenv("KUBECONFIG", bed.Kubeconfig())
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("NS", ns)
			e.Setenv("SAMPLES", samples)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "without": without},
	})
}

// exits runs a program until it ends with this exit code: exits CODE PROGRAM [ARG...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(limit / 4); ; time.Sleep(time.Second) {
		code := 0
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok {
				ts.Fatalf("run %s: %v", args[1], err)
			}
			code = exit.ExitCode()
		}
		if strconv.Itoa(code) == args[0] {
			return
		}
		if neg || time.Now().After(deadline) {
			ts.Fatalf("%v exits with %d, want %s", args[1:], code, args[0])
		}
	}
}

// without runs a program until it succeeds and has not these words on its standard
// error: without REGEXP PROGRAM [ARG...]. A role that was just given takes a moment.
func without(ts *testscript.TestScript, neg bool, args []string) {
	words := regexp.MustCompile(args[0])
	for deadline := time.Now().Add(limit / 4); ; time.Sleep(time.Second) {
		err := ts.Exec(args[1], args[2:]...)
		if said := ts.ReadFile("stderr"); err == nil && !words.MatchString(said) {
			return
		} else if neg || time.Now().After(deadline) {
			ts.Fatalf("%v: %v, and it says %s", args[1:], err, said)
		}
	}
}
