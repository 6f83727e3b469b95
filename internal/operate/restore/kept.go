// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// KeptOf returns the old data that restores of a cluster keep, as its owner records it.
func KeptOf(o owner.Owner) []annotation.KeptData {
	return annotation.ParseKeptData(o.Annotations[v1alpha1.KeptDataAnnotation])
}

// kept returns the record of the old data of this restore.
func (r Plan) kept() annotation.KeptData {
	k := annotation.KeptData{At: r.At.UTC().Truncate(time.Second), Volumes: r.Druid != nil || r.OneByOne || len(r.Lost)+len(r.Ending) > 0}
	if r.KeepFor > 0 {
		k.Until = k.At.Add(r.KeepFor)
	}
	return k
}

// recordKept records on the owner that the restore keeps old data. It comes before the data gets another name, so
// that nothing is kept of which there is no record.
func (r Plan) recordKept() step.Action {
	return r.writeKept(annotation.WithKeptData(KeptOf(r.Owner), r.kept()))
}

// WithoutRecords removes the records of restores, by their stamps, from the owner.
func (r Plan) WithoutRecords(stamps ...string) step.Action {
	return r.writeKept(annotation.WithoutKeptData(KeptOf(r.Owner), stamps...))
}

func (r Plan) writeKept(all []annotation.KeptData) step.Action {
	kind, name := r.object()
	return step.Annotate{Kind: kind, Name: name, Overwrite: true, Changes: []step.Annotation{
		{Key: v1alpha1.KeptDataAnnotation, Value: annotation.FormatKeptData(all), Remove: len(all) == 0},
	}}
}

// volumeMark returns the annotation of volumes that are kept: the restore, and the cluster.
func (r Plan) volumeMark() step.Annotation {
	return step.Annotation{Key: v1alpha1.KeptDataAnnotation, Value: r.stamp() + " " + string(r.Owner.UID)}
}

// discardHow returns how the old data is removed.
func (r Plan) discardHow() string {
	how := "to remove it when the cluster is healthy: " + r.plugin("snapshot restore %s --discard", r.Target())
	if until := r.kept().Until; !until.IsZero() {
		how += fmt.Sprintf(", or after %s: %s", format.Time(until), r.plugin("sweep %s --remove", r.Target()))
	}
	return how
}
