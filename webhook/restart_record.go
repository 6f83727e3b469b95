// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"slices"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// keepRestart adds the record of a restart that was requested to a write that removes it and leaves the request, as
// etcd-druid's reconciliation does while that is on the Etcd. Without the record, the controller would restart all
// members once more.
//
// A write that removes the request, too, withdraws it. The record of a restart that has not ended is then kept, so that
// the controller ends it and reports that. Only the write of a program that may not know the annotations withdraws nothing.
func (w *rolloutWrite) keepRestart(req admission.Request, d Decision) Decision {
	text := w.before.Annotations[v1alpha1.RestartedPodsAnnotation]
	record := annotation.ParseRestartRecord(text)
	if _, kept := w.after.Annotations[v1alpha1.RestartedPodsAnnotation]; kept || d.Reason == reasons.NotEtcd || record.Request == "" {
		return d
	}
	want := map[string]string{v1alpha1.RestartedPodsAnnotation: text}
	request := w.before.Annotations[v1alpha1.RestartRequestAnnotation]
	if _, ofDruid := owner.EtcdOf(w.before); ofDruid {
		request = "" // only that of the Etcd counts
	}
	switch removed := request != "" && w.after.Annotations[v1alpha1.RestartRequestAnnotation] == ""; {
	case removed && w.byOperator(req):
		want[v1alpha1.RestartRequestAnnotation] = request
		d.Warnings = append(d.Warnings, fmt.Sprintf("the restart that is requested of StatefulSet %s/%s goes on, since a program that manages it may remove all annotations. To withdraw it, remove only this one:", w.after.Namespace, w.after.Name),
			fmt.Sprintf("kubectl annotate statefulset %s -n %s %s-", w.after.Name, w.after.Namespace, v1alpha1.RestartRequestAnnotation))
	case removed && len(record.Pods) == 0:
		return d
	}
	if len(d.Patch) == 0 && d.Outcome != FailedOpen {
		d.Outcome, d.Reason = Patched, reasons.RestartRecordKept
	}
	d.Patch = append(d.Patch, w.addAnnotations(want, d.Patch)...)
	return d
}

// byOperator reports whether a ServiceAccount writes a StatefulSet that belongs to another object, as an operator does.
func (w *rolloutWrite) byOperator(req admission.Request) bool {
	return strings.HasPrefix(req.UserInfo.Username, "system:serviceaccount:") && metav1.GetControllerOfNoCopy(w.before) != nil
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
