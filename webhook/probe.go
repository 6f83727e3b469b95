// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// Identity names the replica that answers a probe.
type Identity struct {
	// Replica is the pod's name. Version is the version that the program was built from,
	// which may differ from the image's tag. Neither has blanks.
	Replica, Version string
}

// isProbe reports whether a pod asks, in a dry run, for an answer that it doesn't have yet.
// kubectl etcd webhook status creates such a pod. A pod that is really created gets no
// answer, and when the API server calls again for one request, the first answer stays.
func isProbe(req admission.Request, pod *corev1.Pod) bool {
	return req.DryRun != nil && *req.DryRun &&
		pod.Annotations[v1alpha1.ProbeAnnotation] != "" && pod.Annotations[v1alpha1.ProbeAnswerAnnotation] == ""
}

// markProbe adds the answer to a probe to the Decision on its pod: as an annotation, which
// shows that patches are applied, and as a warning, which arrives even if another webhook
// refuses the pod.
func (i Identity) markProbe(d Decision) Decision {
	answer := fmt.Sprintf("replica=%s version=%s outcome=%s reason=%s", i.Replica, i.Version, d.Outcome, d.Reason)
	if d.Policy != "" {
		answer += " policy=" + d.Policy
	}
	d.Patch = append(d.Patch, jsonpatch.NewOperation("add", annotationPath(v1alpha1.ProbeAnswerAnnotation), answer))
	d.Warnings = append(d.Warnings, v1alpha1.ProbeAnswerAnnotation+": "+answer)
	return d
}
