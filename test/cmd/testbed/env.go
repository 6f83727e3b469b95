// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

func newEnvCmd(o *testbed.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print the shell lines that point kubectl at a testbed",
		Long: "Print the shell lines that point kubectl at a testbed, and put a kubectl of its version first:\n\n" +
			"  eval \"$(testbed env)\"",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := testbed.Attach(cmd.Context(), *o)
			if err != nil {
				return err
			}
			printEnv(cmd.OutOrStdout(), t)
			return nil
		},
	}
}

func printEnv(out io.Writer, t *testbed.Testbed) {
	fmt.Fprintf(out, "export KUBECONFIG=%s\n", t.Kubeconfig())
	fmt.Fprintf(out, "export PATH=%s:$PATH\n", t.Bin())
}
