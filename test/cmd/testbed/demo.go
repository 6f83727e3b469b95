// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
	"github.com/kubectl-etcd/kubectl-etcd/test/story"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

func newDemoCmd(o *testbed.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Start a testbed, install everything, and play the story on real etcd clusters",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			o.Log = out
			paths, err := programs.Ensure(cmd.Context(), programs.Cache{}, []string{plugin}, out)
			if err != nil {
				return err
			}
			t, err := testbed.Up(cmd.Context(), *o)
			if err != nil {
				return err
			}
			end := farewell(t, filepath.Dir(paths[plugin]))
			w, err := story.Open(t, story.NewPrinter(out, colored()), out)
			if err != nil {
				return err
			}
			if err := story.Play(cmd.Context(), w); err != nil {
				return fmt.Errorf("the story came out otherwise: %w\n\n%s", err, end)
			}
			_, err = io.WriteString(out, "\nThe story is complete. "+end)
			return err
		},
	}
}

const plugin = "kubectl-etcd"

// farewell returns how to use what is left running. The plugin is in a folder of its own.
func farewell(t *testbed.Testbed, pluginFolder string) string {
	return fmt.Sprintf(`The cluster is still there; to inspect it:

  export KUBECONFIG=%s
  export PATH=%s:%s:$PATH    # kubectl 1.37, kubectl-etcd
  kubectl get etcds,pods,pdb -A
  kubectl etcd list -A
  kubectl describe etcdtopologypolicy default

To stop it and leave nothing behind: make down
`, t.Kubeconfig(), t.Bin(), pluginFolder)
}

func colored() bool {
	return os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(os.Stdout.Fd()))
}
