// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/completion"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/version"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
)

// TestMain lets scripts run the program under both of its names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-etcd": main, completion.ShimName: main})
}

// TestScript plays what a person types, and reads what they would read. There is
// no cluster here: scripts that need one are those of test/e2e.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			deaf, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			e.Defer(func() { _ = deaf.Close() })
			// A server that takes connections and never answers.
			e.Setenv("DEAF", "http://"+deaf.Addr().String())
			e.Setenv("HOME", e.WorkDir)
			programs, _, _ := strings.Cut(e.Getenv("PATH"), string(filepath.ListSeparator))
			// The folder with this program, under both of its names.
			e.Setenv("PROGRAMS", programs)
			e.Setenv("PATH", programs+string(filepath.ListSeparator)+scripttest.PathWithout(version.PluginName))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": scripttest.Exits},
	})
}
