// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts types what a person types, into the real kubectl with the plugin in
// its PATH, beside the cluster shared of namespace shared. Scripts leave that as
// it is; the namespace $NS is theirs, all scripts' together, and empty at first.
func TestScripts(t *testing.T) {
	operating(t, 1)
	sharedDruid(t)
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": scripttest.Exits},
	})
}
