// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// Groups of commands in the help text.
const (
	lifecycle = "lifecycle"
	failures  = "failures" // break and mend parts of a testbed
)

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:           "testbed",
		Short:         "Run a real Kubernetes cluster on this machine",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	var o testbed.Options
	root.PersistentFlags().StringVar(&o.Name, "name", testbed.DefaultName, "the testbed's name; several run side by side")
	root.PersistentFlags().StringVar(&o.StateDir, "state-dir", testbed.DefaultStateDir, "where testbeds keep their files, a directory each")
	root.AddGroup(&cobra.Group{ID: lifecycle, Title: "The testbed itself:"})
	root.AddGroup(&cobra.Group{ID: failures, Title: "Failures, to see how the cluster handles them:"})
	root.AddCommand(newActCmds(&o)...)
	for _, cmd := range []*cobra.Command{newUpCmd(&o), newDownCmd(&o), newStatusCmd(&o), newEnvCmd(&o), newDemoCmd(&o), newPushCmd(&o), newBuildCmd(), newCleanCmd()} {
		cmd.GroupID = lifecycle
		root.AddCommand(cmd)
	}
	attach := func(ctx context.Context) (clusters.Testbed, error) { return testbed.Attach(ctx, o) }
	root.AddCommand(clusters.NewCommand(attach), clusters.NewDruidCommand(attach), install.NewCertManagerCommand(attach))
	return root
}

// newCleanCmd has no part in a testbed's life: what it removes is built again.
func newCleanCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove the cache of built programs and images",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return programs.Cache{}.Remove()
		},
	}
}
