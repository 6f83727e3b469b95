// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"fmt"

	"github.com/spf13/cobra"
)

// NewDruidCommand returns the command that installs and uninstalls etcd-druid.
func NewDruidCommand(attach Attach) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "druid",
		Short: "Install and uninstall etcd-druid on a testbed",
		Args:  cobra.NoArgs, // reject unknown subcommands
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newInstallDruidCmd(attach), newUninstallDruidCmd(attach))
	return cmd
}

func newInstallDruidCmd(attach Attach) *cobra.Command {
	var options DruidOptions
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install etcd-druid, or change how it runs, and wait until it works",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tb, err := attach(cmd.Context())
			if err != nil {
				return err
			}
			options.Progress = cmd.ErrOrStderr()
			if err := InstallDruid(cmd.Context(), tb, options); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "etcd-druid works")
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&options.AutoReconcile, "auto-reconcile", false, "act on every Etcd at every sync, not on the annotation")
	flags.BoolVar(&options.OwnTimings, "own-timings", false, "leave druid its own timings, which are slower")
	flags.BoolVar(&options.Protection, "protection", false, "deny everybody else's changes to what druid made")
	flags.StringSliceVar(&options.ExemptServiceAccounts, "exempt", nil, "service accounts that may change it all the same, as system:serviceaccount:NAMESPACE:NAME")
	return cmd
}

func newUninstallDruidCmd(attach Attach) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Remove etcd-druid, once no Etcd is left",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tb, err := attach(cmd.Context())
			if err != nil {
				return err
			}
			return UninstallDruid(cmd.Context(), tb)
		},
	}
}
