// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

func newUpCmd(o *testbed.Options) *cobra.Command {
	var subnet string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a testbed, or bring back one that is there",
		Long: "Start a testbed and wait until it is ready. On one that is there already, whatever is stopped, paused or\n" +
			"cut off comes back. The first start builds Kubernetes from source, a quarter of an hour or more.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if subnet != "" {
				if o.Subnet, err = netip.ParsePrefix(subnet); err != nil {
					return fmt.Errorf("--subnet: %w", err)
				}
			}
			return up(cmd.Context(), *o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVar(&o.Nodes, "nodes", 0, fmt.Sprintf("how many nodes (default %d)", testbed.DefaultNodes))
	cmd.Flags().IntVar(&o.Zones, "zones", 0, fmt.Sprintf("how many zones they are spread over (default %d)", testbed.DefaultZones))
	cmd.Flags().StringVar(&subnet, "subnet", "", "a /24 for the machines (default a free one of 10.89.0.0/16)")
	return cmd
}

func up(ctx context.Context, o testbed.Options, out io.Writer) error {
	o.Log = out
	// Builds that are left running when this program is killed are found by it.
	key, value := machine.Mark(o.Name)
	if err := os.Setenv(key, value); err != nil {
		return err
	}
	t, err := testbed.Up(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\ntestbed %s is ready. Use it with\n\n", t.Name())
	printEnv(out, t)
	fmt.Fprintf(out, "\nand stop it with\n\n  testbed down --name %s\n", t.Name())
	return nil
}
