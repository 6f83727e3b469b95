// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"

	"gomodules.xyz/jsonpatch/v2"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// keepRestart adds the record of a restart that was requested to a write that removes it, as etcd-druid's
// reconciliation does. Without the record, the controller would restart all members once more. A request that the same
// write removes is kept, too: a user who withdraws it removes only that.
func (w *rolloutWrite) keepRestart(d Decision) Decision {
	record := w.before.Annotations[v1alpha1.RestartedPodsAnnotation]
	if _, kept := w.after.Annotations[v1alpha1.RestartedPodsAnnotation]; kept || d.Reason == reasons.NotEtcd || annotation.ParseRestartRecord(record).Request == "" {
		return d
	}
	want := map[string]string{v1alpha1.RestartedPodsAnnotation: record}
	if request := w.before.Annotations[v1alpha1.RestartRequestAnnotation]; request != "" && w.after.Annotations[v1alpha1.RestartRequestAnnotation] == "" {
		want[v1alpha1.RestartRequestAnnotation] = request
	}
	if len(d.Patch) == 0 && d.Outcome != FailedOpen {
		d.Outcome, d.Reason = Patched, reasons.RestartRecordKept
	}
	d.Patch = append(d.Patch, w.addAnnotations(want, d.Patch)...)
	return d
}

// addAnnotations returns the operations by which the StatefulSet gets annotations after a patch.
func (w *rolloutWrite) addAnnotations(want map[string]string, patch []jsonpatch.Operation) []jsonpatch.Operation {
	const all = "/metadata/annotations"
	made := slices.ContainsFunc(patch, func(o jsonpatch.Operation) bool { return o.Path == all })
	if len(w.after.Annotations) == 0 && !made {
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", all, want)}
	}
	var ops []jsonpatch.Operation
	for _, key := range []string{v1alpha1.RestartedPodsAnnotation, v1alpha1.RestartRequestAnnotation} {
		if text := want[key]; text != "" {
			ops = append(ops, jsonpatch.NewOperation("add", annotationPath(key), text))
		}
	}
	return ops
}
