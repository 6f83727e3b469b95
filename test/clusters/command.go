// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// Attach finds the testbed for a command.
type Attach func(ctx context.Context) (Testbed, error)

// NewCommand returns the command that creates and deletes ready-made clusters.
func NewCommand(attach Attach) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Make, break and delete etcd clusters on a testbed",
		Long: "Make, break and delete etcd clusters on a testbed. A cluster that gets no NAME has the name of what it is.\n" +
			"Clusters of druid's need druid: testbed druid install.",
		Args: cobra.NoArgs, // reject unknown subcommands
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var namespace string
	cmd.PersistentFlags().StringVarP(&namespace, "namespace", "n", "default", "the clusters' namespace, which is made where it is missing")
	for _, r := range readyMade {
		cmd.AddCommand(newMakeCmd(attach, &namespace, r.name, r.spec))
	}
	cmd.AddCommand(
		newDoCmd(attach, &namespace, "delete", "Delete a cluster with its volumes and backups", (*Cluster).Delete),
		newDoCmd(attach, &namespace, "break-store", "Make the backup store of a druid cluster unwritable", (*Cluster).BreakStore),
		newDoCmd(attach, &namespace, "heal-store", "Undo break-store and take a full snapshot", func(c *Cluster, ctx context.Context) error {
			if err := c.HealStore(ctx); err != nil {
				return err
			}
			return c.SnapshotFull(ctx)
		}),
		newDoCmd(attach, &namespace, "reconcile", "Have druid act on an Etcd", (*Cluster).Reconcile),
		newWriteCmd(attach, &namespace),
	)
	return cmd
}

// newMakeCmd returns the command that creates one ready-made cluster.
func newMakeCmd(attach Attach, namespace *string, name string, spec Spec) *cobra.Command {
	var wait, auth bool
	cmd := &cobra.Command{
		Use:   name + " [NAME]",
		Short: fmt.Sprintf("Make an etcd cluster of %d, flavour %s", spec.Size, spec.Flavour),
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tb, err := attach(cmd.Context())
			if err != nil {
				return err
			}
			spec.Progress = cmd.ErrOrStderr()
			spec.Bitnami.Auth = auth && spec.Flavour == Bitnami
			c, err := Apply(cmd.Context(), tb, *namespace, nameOf(name, args), spec)
			if err != nil || !wait {
				return err
			}
			if err := c.WaitReady(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "cluster %s is Ready\n", c)
			if auth {
				return c.EnableAuth(cmd.Context())
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&wait, "wait", true, "wait until it is Ready")
	flags.IntVar(&spec.Size, "size", spec.Size, "members")
	flags.BoolVar(&spec.TLS, "tls", false, "secure it with certificates made for it")
	flags.StringVar(&spec.Apart, "apart", "", "topology key of a required anti-affinity between members")
	flags.StringVar(&spec.StorageClass, "storage-class", "", "of the members' volumes; empty for the default")
	if spec.Flavour == Druid {
		flags.BoolVar(&spec.Druid.RunAsRoot, "root", false, "run the members as root")
		flags.BoolVar(&spec.Druid.NoBackups, "no-backups", false, "without a backup store")
		return cmd
	}
	flags.StringVar(&spec.Version, "version", "3.7", fmt.Sprintf("of etcd, one of %q", versions))
	flags.BoolVar(&spec.Ephemeral, "ephemeral", false, "keep data in an emptyDir")
	flags.BoolVar(&auth, "auth", false, "switch authentication on, with user root")
	if spec.Flavour == Plain {
		flags.StringVar((*string)(&spec.Plain.Like), "like", "", fmt.Sprintf("copy the manifests of one of %q", slices.Sorted(maps.Keys(products))))
	}
	return cmd
}

// newDoCmd returns a command that does one thing to an existing cluster.
func newDoCmd(attach Attach, namespace *string, use, short string, do func(*Cluster, context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use:       use + " READYMADE [NAME]",
		Short:     short,
		Args:      cobra.RangeArgs(1, 2),
		ValidArgs: ReadyMadeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := find(cmd.Context(), attach, *namespace, args)
			if err != nil {
				return err
			}
			return do(c, cmd.Context())
		},
	}
}

func newWriteCmd(attach Attach, namespace *string) *cobra.Command {
	return &cobra.Command{
		Use:       "write READYMADE [NAME]",
		Short:     "Keep putting keys into a cluster until interrupted, so that there is something to back up",
		Args:      cobra.RangeArgs(1, 2),
		ValidArgs: ReadyMadeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := find(cmd.Context(), attach, *namespace, args)
			if err != nil {
				return err
			}
			w := c.Write(cmd.Context())
			<-cmd.Context().Done()
			s := w.Stop()
			fmt.Fprintf(cmd.OutOrStdout(), "%d written, %d failed, longest gap %s\n", s.Written, s.Failed, s.LongestGap.Round(time.Millisecond))
			return nil
		},
	}
}

// find returns the cluster that a command names by its ready-made name and its name. The cluster
// has TLS if its certificates exist.
func find(ctx context.Context, attach Attach, namespace string, args []string) (*Cluster, error) {
	spec, err := ReadyMade(args[0])
	if err != nil {
		return nil, err
	}
	tb, err := attach(ctx)
	if err != nil {
		return nil, err
	}
	c, err := At(tb, namespace, nameOf(args[0], args[1:]), spec)
	if err != nil {
		return nil, err
	}
	c.TLS, err = c.certified(ctx)
	return c, err
}

func nameOf(readyMade string, args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return readyMade
}
