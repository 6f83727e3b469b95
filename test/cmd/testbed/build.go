// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

func newBuildCmd() *cobra.Command {
	var without []string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build every program that testbeds and their tests run",
		Long: "Build every program that testbeds and their tests run, as far as it isn't built yet.\n" +
			"Members that run beside a compiler wait for a processor and seem dead.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names := programs.All()
			for _, name := range without {
				if !slices.Contains(programs.All(), name) {
					return fmt.Errorf("no program is called %q; known are %q", name, programs.All())
				}
				names = slices.DeleteFunc(names, func(other string) bool { return other == name })
			}
			_, err := programs.Ensure(cmd.Context(), programs.Cache{}, names, cmd.OutOrStdout())
			return err
		},
	}
	cmd.Flags().StringSliceVar(&without, "without", nil, "leave out these `programs`, which are built when something asks for them")
	return cmd
}
