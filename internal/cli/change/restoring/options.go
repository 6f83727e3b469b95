// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restoring is the change that restores a snapshot into a cluster. snapshot restore and recover are
// commands of it.
package restoring

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
)

// Options are the flags of a restore.
type Options struct {
	change.Flags
	PlanOptions

	// Abort undoes an unfinished restore.
	Abort bool
}

// PlanOptions are the flags of a restore that its plan depends on.
type PlanOptions struct {
	// Bump is added to the revision, 0 for nothing.
	Bump int64
	// Replicas is the number of members, 0 for the number that the cluster should have.
	Replicas int32
	// Image is the image of helper pods.
	Image string
	// KeepFor is how long the old data is kept, 0 for no limit.
	KeepFor time.Duration
	// Tool is the program that makes data directories, empty for the one in PATH.
	Tool string
}

// AddFlags adds the flags.
func AddFlags(cmd *cobra.Command, o *PlanOptions) {
	flags := cmd.Flags()
	flags.Int64Var(&o.Bump, "bump-revision", restore.DefaultBump, "Number by which the restore raises the revision. It marks earlier revisions as compacted. 0 disables both")
	flags.Int32Var(&o.Replicas, "replicas", 0, "Number of members to restore. The default is the number that the cluster should have")
	flags.DurationVar(&o.KeepFor, "keep-old-for", 0, "Time after which kubectl etcd sweep may delete the old data, such as 168h. The default is no limit")
	flags.StringVar(&o.Tool, "tool", "", "Program that makes data directories: etcdutl, or etcdctl for etcd 3.4. The default is the one in PATH")
	flags.StringVar(&o.Image, "helper-image", "busybox:1.37", "Image with tar, for pods that copy data into volumes or into a backup store on a node")
}

// Validate checks the values of the flags.
func (o PlanOptions) Validate() error {
	switch {
	case o.Bump < 0:
		return fmt.Errorf("--bump-revision is %d, and can't be less than 0", o.Bump)
	case o.KeepFor < 0:
		return fmt.Errorf("--keep-old-for is %s, and can't be less than 0", o.KeepFor)
	case o.Replicas < 0 || o.Replicas > membership.MaxMembers:
		return fmt.Errorf("--replicas is %d, and must be from 0 to %d", o.Replicas, membership.MaxMembers)
	}
	return nil
}
