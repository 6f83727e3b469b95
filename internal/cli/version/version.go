// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package version implements kubectl etcd version.
package version

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// NewCommand returns the command kubectl etcd version.
func NewCommand(a *app.App) *cobra.Command {
	var clientOnly bool
	cmd := &cobra.Command{
		Use:   "version [--client]",
		Short: "Print the versions of the plugin and of the programs in the cluster",
		Long: ui.Paragraphs(`
			Print the versions of the plugin and of the API server, and of etcd-webhook and etcd-druid
			if they are installed. For the version of an etcd cluster, use status.`),
		Example: ui.Examples(`
			# Print only the version of the plugin
			kubectl etcd version --client

			# Print all versions in JSON
			kubectl etcd version -o json`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd, a, clientOnly)
		},
	}
	cmd.Flags().BoolVar(&clientOnly, "client", false, "Print only the plugin's version, without a connection to a cluster")
	ui.AddOutputFlags(cmd)
	return cmd
}

// run prints the plugin's version also if the API server can't be reached.
func run(cmd *cobra.Command, a *app.App, clientOnly bool) error {
	v := &v1alpha1.Version{Client: app.ClientVersion()}
	var serverErr error
	if !clientOnly {
		v.Server, serverErr = serverVersion(cmd.Context(), a)
	}
	err := a.Print(cmd, v, render.Version(a.Console, v))
	warnOfShadowingPlugins(a)
	if err == nil {
		err = serverErr
	}
	return err
}
