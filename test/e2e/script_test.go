// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestScripts types what a user types, into the real kubectl with the plugin in its PATH. The
// cluster shared in namespace shared exists, and scripts leave it as it is. All scripts share
// the namespace $NS, which is empty at first.
func TestScripts(t *testing.T) {
	operating(t, 1)
	borrowDruid(t) // the scripts must not see locks of other tests
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
	path := strings.Join([]string{bin, bed.Bin(), scripttest.PathWithout("kubectl-etcd")}, string(filepath.ListSeparator))
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits(t.Context()), "without": without(t.Context())},
	})
}

// exits runs a program until it ends with this exit code: exits CODE PROGRAM [ARG...].
func exits(ctx context.Context) func(*testscript.TestScript, bool, []string) {
	return until(ctx, func(want string, code int, _ string) bool { return strconv.Itoa(code) == want })
}

// without runs a program until it succeeds without a match on its standard error: without REGEXP
// PROGRAM [ARG...]. A new role takes a moment to be in effect.
func without(ctx context.Context) func(*testscript.TestScript, bool, []string) {
	return until(ctx, func(texts string, code int, printed string) bool {
		return code == 0 && !regexp.MustCompile(texts).MatchString(printed)
	})
}

// until returns a script command that repeats a program until ok accepts its exit code and
// standard error. The first argument of the command is the wanted value.
func until(ctx context.Context, ok func(wanted string, code int, printed string) bool) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("this command can't be negated, and needs a wanted value and a program")
		}
		err := clusters.Await(ctx, limit/4, fmt.Sprintf("%v to end as wanted: %s", args[1:], args[0]), func(context.Context) (string, bool, error) {
			code, err := 0, ts.Exec(args[1], args[2:]...)
			if exit, ended := errors.AsType[*exec.ExitError](err); ended {
				code, err = exit.ExitCode(), nil
			}
			printed := ts.ReadFile("stderr")
			return fmt.Sprintf("exit code %d, stderr %s", code, printed), err == nil && ok(args[0], code, printed), err
		})
		if err != nil {
			ts.Fatalf("%v", err)
		}
	}
}
