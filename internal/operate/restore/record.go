// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// NewRecord returns the record of a plan of which no step has been done.
func NewRecord(r Plan) *progress.Record {
	size := int32(len(r.Members)) //nolint:gosec // there are few members
	steps := r.steps()
	rec := &progress.Record{
		SHA256: fmt.Sprintf("%x", r.Snapshot.SHA256), OneByOne: r.OneByOne, At: r.At.UTC().Truncate(time.Second), Bump: r.Bump, KeepFor: r.KeepFor, Size: size, OldSize: r.OldSize,
		Hashed: r.Snapshot.Hashed, Revision: r.Snapshot.Revision, Written: r.Snapshot.Written,
		Etcd: r.Etcd, Newest: r.Newest, Loss: r.lost(), Survivor: r.Survivor, Read: r.Read, Backup: r.Backup, Answers: r.Answers, Led: r.Led, FirstStop: firstStop(steps), FirstTouch: firstTouch(steps), Clients: r.Clients, Uncut: r.Uncut, Before: r.Before,
		Gone: r.Gone, Ending: r.Ending, Unbound: r.Unbound, Lost: r.Lost, Order: r.order(),
	}
	rec.File, rec.Parameters = progress.GivenName(r.Given)
	for _, key := range []string{traffic.SuspendAnnotation, unprotection} {
		if value, there := r.Owner.Annotations[key]; there && r.Druid != nil {
			if rec.Annotations == nil {
				rec.Annotations = map[string]string{}
			}
			rec.Annotations[key] = value
		}
	}
	return rec
}

// before fills in the owner as it was before the first step.
func before(rec *progress.Record, o owner.Owner) owner.Owner {
	annotations := map[string]string{}
	for key, value := range o.Annotations {
		if key != traffic.SuspendAnnotation && key != unprotection {
			annotations[key] = value
		}
	}
	maps.Copy(annotations, rec.Annotations)
	o.Annotations = annotations
	return o
}

// Continue fills in the plan of an unfinished restore, as it was before the first step. The plan has the
// owner and the flags, and the snapshot unless the restore is undone.
func (r *Plan) Continue(ctx context.Context, rec *progress.Record, kube client.Client, reader *observe.Reader, image string) error {
	sts, err := rec.OfPresent(ctx, kube, r.Owner)
	if err != nil {
		return err
	}
	mark, marked := step.MarkOf(sts)
	if marked {
		r.Owner.Replicas = mark.Replicas
	}
	r.Bump, r.At, r.Owner, r.Etcd, r.Newest, r.Answers = rec.Bump, rec.At, before(rec, r.Owner), rec.Etcd, rec.Newest, rec.Answers
	r.KeepFor, r.Lost, r.Loss, r.Saved, r.Backup = rec.KeepFor, rec.Lost, recordedLoss(rec), rec.Survivor != "", rec.Backup
	r.Snapshot.Hashed, r.Snapshot.Revision, r.Snapshot.Written = rec.Hashed, rec.Revision, rec.Written
	r.recorded = true
	alarms := r.Snapshot.Alarms
	r.Snapshot.Alarms = nil // the steps are those of the beginning, when an earlier version may have ignored the alarms
	if err := r.Find(ctx, kube, reader, rec.Size, image); err != nil {
		return err
	}
	r.Snapshot.Alarms, r.OneByOne = alarms, r.OneByOne || rec.OneByOne
	r.Clients, r.Uncut, r.Before = rec.Clients, rec.Uncut, rec.Before
	gone, ending := r.Gone, r.Ending
	r.OldSize = rec.OldSize
	r.Gone, r.Ending, r.Unbound, r.Lost = rec.Gone, rec.Ending, rec.Unbound, rec.Lost
	r.Unmarked, r.DeletesClaims = !marked, r.DeletesClaims || mark.DeletesClaims
	r.changedClaims(rec, gone)
	r.endingSince = slices.DeleteFunc(ending, func(c string) bool { return slices.Contains(rec.Ending, c) })
	r.findReturned(rec, sts)
	if slices.Contains(r.begun(rec), stopped) && !r.Returned {
		r.stoppedByUs(rec.Done)
	}
	if r.Druid != nil {
		r.Druid.Stored = 0 // the sidecars may have stored the restored revision
	}
	return nil
}

// OtherFile adds to the error of Same how to go on.
func (r Plan) OtherFile(rec *progress.Record, err error) error {
	by := ""
	if rec.Journal().By != "" {
		by = " by " + format.PrintableLine(rec.Journal().By)
	}
	undo := ", or undo it with " + r.plugin("snapshot restore %s --abort", r.Target())
	if rec.Final { // nothing undoes it
		undo = ""
	}
	return fmt.Errorf("%w; that restore was begun%s at %s: if its command still runs, wait; otherwise continue it with its own file%s",
		err, by, format.Time(rec.Journal().Began), undo)
}

// MayHaveSetAside reports whether a journal is of a restore that may have renamed the data of members.
func MayHaveSetAside(j *journal.Journal) bool {
	var rec progress.Record
	return j.Kind == journal.KindRestore && (json.Unmarshal(j.Payload, &rec) != nil || rec.Done > 0)
}

// AsideName returns the end of the name that a restore gives to old data. It is that of any restore if the journal
// can't be read.
func AsideName(j *journal.Journal) string {
	var rec progress.Record
	if json.Unmarshal(j.Payload, &rec) != nil || rec.At.IsZero() {
		return "*.before-*"
	}
	return "*" + Plan{At: rec.At}.aside("")
}
