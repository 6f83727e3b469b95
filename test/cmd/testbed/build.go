// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

func newBuildCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Build every program that testbeds and their tests run",
		Long: "Build every program that testbeds and their tests run, as far as it isn't built yet.\n" +
			"Members that run beside a compiler wait for a processor and look dead.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := programs.Ensure(cmd.Context(), programs.Cache{}, programs.All(), cmd.OutOrStdout())
			return err
		},
	}
}
