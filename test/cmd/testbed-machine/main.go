// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Command testbed-machine is what the testbed runs inside its machines: the
// first process of each, and the programs that Kubernetes doesn't bring. It is
// no part of the testbed program, so that machines stay as they are while that
// changes.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-etcd/kubectl-etcd/test/provisioner"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/registry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "testbed-machine", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newMachineCmd(), newServeRegistryCmd(), newProvisionCmd())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "testbed-machine:", err)
		os.Exit(1)
	}
}

func newMachineCmd() *cobra.Command {
	var inside bool
	cmd := &cobra.Command{
		Use:   "machine DIR NAME",
		Short: "Be the first process of a machine",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return machine.Main(cmd.Context(), args[0], args[1], inside)
		},
	}
	cmd.Flags().BoolVar(&inside, "inside", false, "its surroundings are set up")
	return cmd
}

func newServeRegistryCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "serve-registry ADDRESS DIR",
		Short: "Serve the images that were pushed to DIR",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", args[0])
			if err != nil {
				return err
			}
			return registry.Serve(cmd.Context(), l, args[1])
		},
	}
}

func newProvisionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "provision KUBECONFIG ROOT",
		Short: "Make volumes below ROOT",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", args[0])
			if err != nil {
				return err
			}
			return provisioner.Run(cmd.Context(), config, args[1])
		},
	}
}
