// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

func newDownCmd(o *testbed.Options) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a testbed and leave nothing of it behind",
		Long: "Stop a testbed and leave nothing of it behind: no process, network namespace, link, mount, cgroup, route or\n" +
			"file. It works in any state, also after an up that was killed half way.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Log = cmd.OutOrStdout()
			if all {
				return downAll(cmd.Context(), *o, cmd.OutOrStdout())
			}
			return testbed.Down(cmd.Context(), *o)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "stop every testbed on this machine")
	return cmd
}

func downAll(ctx context.Context, o testbed.Options, out io.Writer) error {
	found, err := testbed.Names(o.StateDir)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		fmt.Fprintln(out, "there is no testbed")
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(found)) {
		each := o
		each.Name, each.StateDir = name, filepath.Dir(found[name])
		errs = append(errs, testbed.Down(ctx, each))
	}
	return errors.Join(errs...)
}
