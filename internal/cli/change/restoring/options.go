// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restoring is the change that restores a snapshot into a cluster. snapshot restore and recover are
// commands of it.
package restoring

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Options are the flags of a restore.
type Options struct {
	change.Flags
	PlanOptions

	// Abort undoes an unfinished restore.
	Abort bool
	// Resume begins no restore: it only continues an unfinished one.
	Resume bool
	// Given is the path or URL of the snapshot as the user gave it, if the file that is restored is a copy.
	Given string
}

// Validate checks the values of the flags. It is called before data is downloaded or saved, which can take long.
func (o Options) Validate() error {
	if !o.Wait {
		return change.ErrWait
	}
	return o.PlanOptions.Validate()
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
	// AllowUnsaved allows a restore that can't save the present data of members that run.
	AllowUnsaved bool
	// Lost are the pods of members whose volumes are lost for good.
	Lost []string
	// FromOther allows the snapshot of another cluster without a question.
	FromOther bool

	// given reports whether a flag was given.
	given func(flag string) bool
}

// AddFlags adds the flags.
func AddFlags(cmd *cobra.Command, o *PlanOptions) {
	flags := cmd.Flags()
	o.given = flags.Changed
	flags.Int64Var(&o.Bump, "bump-revision", restore.DefaultBump, "Number by which the restore raises the revision. It marks earlier revisions as compacted. 0 disables both")
	flags.Int32Var(&o.Replicas, "replicas", 0, "Number of members to restore. The default is the number that the cluster should have")
	flags.DurationVar(&o.KeepFor, "keep-old-for", 0, "Time after which kubectl etcd sweep may delete the old data, such as 168h. The default is no limit")
	flags.StringVar(&o.Tool, "tool", "", "Program that makes data directories: etcdutl, or etcdctl for etcd 3.4. The default is the one in PATH")
	flags.StringVar(&o.Image, "helper-image", "busybox:1.37", "Image with tar, for pods that copy data into volumes or into a backup store on a node")
}

// AddResume adds the flag of a restore that only continues.
func AddResume(cmd *cobra.Command, o *Options) {
	cmd.Flags().BoolVar(&o.Resume, "resume", false, "Continue an unfinished restore, as the same command does without this flag, and begin none")
}

// NothingToResume returns what a restore reports that only continues, if none is unfinished.
func NothingToResume(cluster fmt.Stringer) string {
	return fmt.Sprintf("No restore into %s is unfinished: there is nothing to continue.", cluster)
}

// AddAllowUnsaved adds the flag of a restore that replaces data which no member may have saved.
func AddAllowUnsaved(cmd *cobra.Command, o *PlanOptions) {
	cmd.Flags().BoolVar(&o.AllowUnsaved, "allow-unsaved", false, "Restore even if members run that don't answer, so that their present data can't be saved")
}

// AddLost adds the flag of the members that get new volumes.
func AddLost(cmd *cobra.Command, o *PlanOptions) {
	cmd.Flags().StringSliceVar(&o.Lost, "lost", nil, "Pods of members whose data is lost for good, although their volumes seem to exist")
}

// continues returns an error if a flag was given with another value than that with which the unfinished restore began:
// its steps depend on it.
func (o PlanOptions) continues(rec *progress.Record) error {
	for _, f := range []struct{ flag, began, now string }{
		{"bump-revision", strconv.FormatInt(rec.Bump, 10), strconv.FormatInt(o.Bump, 10)},
		{"replicas", strconv.Itoa(int(rec.Size)), strconv.Itoa(int(cmp.Or(o.Replicas, rec.Size)))},
		{"keep-old-for", policy.Duration(rec.KeepFor), policy.Duration(o.KeepFor)},
	} {
		if f.began != f.now && o.given != nil && o.given(f.flag) {
			return operate.Refuse("the unfinished restore began with --%[1]s %[2]s, which can't change to %[3]s: leave out --%[1]s to continue it", f.flag, f.began, f.now)
		}
	}
	for _, pod := range o.Lost {
		if !slices.Contains(rec.Lost, pod) {
			return operate.Refuse("the unfinished restore began without --lost %s, and can't change: leave out --lost to continue it", pod)
		}
	}
	return nil
}

// Validate checks the values of the flags.
func (o PlanOptions) Validate() error {
	switch {
	case o.Bump < 0:
		return fmt.Errorf("--bump-revision is %d, and can't be less than 0", o.Bump)
	case o.KeepFor < 0:
		return fmt.Errorf("--keep-old-for is %s, and can't be less than 0", policy.Duration(o.KeepFor))
	case o.Replicas < 0 || o.Replicas > policy.MaxScale:
		return fmt.Errorf("--replicas is %d, and must be from 0 to %d", o.Replicas, policy.MaxScale)
	}
	return nil
}
