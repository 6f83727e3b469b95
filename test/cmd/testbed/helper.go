// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-etcd/kubectl-etcd/test/provisioner"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/registry"
)

// The hidden commands are the testbed's own programs; machines run them.

func newMachineCmd() *cobra.Command {
	var inside bool
	cmd := &cobra.Command{
		Use:    "machine DIR NAME",
		Short:  "Be the first process of a machine",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return machine.Main(cmd.Context(), args[0], args[1], inside)
		},
	}
	cmd.Flags().BoolVar(&inside, "inside", false, "its surroundings are set up")
	return cmd
}

func newServeRegistryCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "serve-registry ADDRESS DIR",
		Short:  "Serve the images that were pushed to DIR",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
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
		Use:    "provision KUBECONFIG ROOT",
		Short:  "Make volumes below ROOT",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", args[0])
			if err != nil {
				return err
			}
			return provisioner.Run(cmd.Context(), config, args[1])
		},
	}
}
