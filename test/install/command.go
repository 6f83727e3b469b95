// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// NewCertManagerCommand returns the command that installs and uninstalls cert-manager. There is
// no such command for etcd-webhook, which is installed as its documentation shows.
func NewCertManagerCommand(attach clusters.Attach) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cert-manager",
		Short: "Install and uninstall cert-manager on a testbed",
		Args:  cobra.NoArgs, // reject unknown subcommands
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "install",
		Short: "Install cert-manager and wait until it is Ready",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tb, err := attach(cmd.Context())
			if err != nil {
				return err
			}
			if err := AddCertManager(cmd.Context(), tb, cmd.ErrOrStderr()); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "cert-manager is Ready")
			return nil
		},
	}, &cobra.Command{
		Use:   "uninstall",
		Short: "Remove cert-manager, and the objects of all certificates with it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tb, err := attach(cmd.Context())
			if err != nil {
				return err
			}
			return RemoveCertManager(cmd.Context(), tb)
		},
	})
	return cmd
}
