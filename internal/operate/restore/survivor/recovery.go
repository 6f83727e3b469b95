// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// Recoverable returns the refusal of a verdict on whether a cluster may be restored from survivors, nil if it may.
func Recoverable(o owner.Owner, v policy.Verdict) error {
	switch {
	case v.Allowed:
		return nil
	case v.Reason == recovery.SurvivorSilent:
		return Refuse(o, "%s. To see why it does not answer: kubectl etcd diagnose %s -n %s", v.Message, o.Target(), o.Namespace)
	}
	return Refuse(o, "%s", v.Message)
}

// SamePods refuses where others answer now than when the data of one of them was saved.
func SamePods(o owner.Owner, before, now []string) error {
	if slices.Equal(now, before) {
		return nil
	}
	return Refuse(o, "%s answered before, and %s now: run the command again", policy.List(before), policy.List(now))
}

// SameLost returns an error if a member is declared to be lost that was none when the unfinished recovery began. That
// can have more lost members: its plan names them, and those whose volumes are gone need no declaration.
func SameLost(o owner.Owner, rec *progress.Record, lost []string) error {
	for _, pod := range lost {
		if !slices.Contains(rec.Lost, pod) {
			return Refuse(o, "the unfinished restore began without --lost %s, and can't change: leave out --lost to continue it", pod)
		}
	}
	return nil
}

// Refuse returns the error of a cluster that is not to be recovered.
func Refuse(o owner.Owner, format string, args ...any) error {
	return operate.RefuseTo("recover "+o.String(), format, args...)
}

// File returns the name of a file for a survivor's data. pod is in the name if it may be one of several, and empty otherwise.
func File(o owner.Owner, pod string, at time.Time) string {
	if pod != "" {
		pod += "-"
	}
	return fmt.Sprintf("%s-%s-survivor-%s%s.db", o.Namespace, o.Name, pod, at.UTC().Format("20060102T150405Z")) //nolint:forbidigo // a file name
}

// FileOf returns the file with the snapshot of an unfinished restore: the named one, or one in the
// current directory.
func FileOf(ctx context.Context, o owner.Owner, rec *progress.Record, named string) (string, error) {
	files := []string{named}
	if named == "" {
		var err error
		if files, err = filepath.Glob(fmt.Sprintf("%s-%s-survivor-*.db", o.Namespace, o.Name)); err != nil {
			return "", err
		}
	}
	for _, file := range files {
		content, err := snapshot.Inspect(ctx, file)
		if err == nil && rec.Same(file, content) == nil {
			return file, nil
		}
	}
	if rec.Final { // nothing undoes it
		return "", operate.Refuse("a restore into %s is unfinished, and can't be undone any more. Its snapshot (SHA-256 %s%s) is not here: continue it where that is, with kubectl etcd snapshot restore FILE %s -n %s",
			o, rec.SHA256, rec.From(), o.Target(), o.Namespace)
	}
	if named != "" {
		return "", operate.Refuse("a restore into %s is unfinished, and %s doesn't have its snapshot (SHA-256 %s%s): name the file that it was saved to with --save-to, or undo it with kubectl etcd recover %s --abort -n %s",
			o, named, rec.SHA256, rec.From(), o.Target(), o.Namespace)
	}
	return "", operate.Refuse("a restore into %s is unfinished, and the current directory doesn't have its snapshot (SHA-256 %s%s): continue it with kubectl etcd snapshot restore FILE %s -n %s, or undo it with kubectl etcd recover %s --abort -n %s",
		o, rec.SHA256, rec.From(), o.Target(), o.Namespace, o.Target(), o.Namespace)
}
