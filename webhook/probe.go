// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"fmt"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// Identity is who answers, for those who ask that.
type Identity struct {
	// Replica is the pod's name; Version is what the program was built from, which
	// the image's tag needn't say. Neither has blanks.
	Replica, Version string
}

// answered adds to what is decided of a pod an answer to whoever asks, in a dry
// run, whether the API server calls this program: kubectl etcd webhook status.
// It stands on the pod that comes back, which shows that patches are applied,
// and in a warning, which comes back even if something else refuses the pod. A
// pod that is really created gets none.
func answered(d decision, req admission.Request, self Identity) decision {
	if req.DryRun == nil || !*req.DryRun || !bytes.Contains(req.Object.Raw, []byte(v1alpha1.ProbeAnnotation)) {
		return d
	}
	pod, err := readPod(req)
	if err != nil || !asks(pod) {
		return d
	}
	said := fmt.Sprintf("replica=%s version=%s outcome=%s reason=%s", self.Replica, self.Version, d.outcome, d.reason)
	if d.policy != "" {
		said += " policy=" + d.policy
	}
	path := "/metadata/annotations/" + strings.ReplaceAll(v1alpha1.ProbeAnswerAnnotation, "/", "~1")
	d.patch = append(d.patch, jsonpatch.NewOperation("add", path, said))
	d.warnings = append(d.warnings, v1alpha1.ProbeAnswerAnnotation+": "+said)
	return d
}

// asks says whether a pod wants an answer and has none: called again for the
// same request, what was said first stands.
func asks(pod *corev1.Pod) bool {
	return pod.Annotations[v1alpha1.ProbeAnnotation] != "" && pod.Annotations[v1alpha1.ProbeAnswerAnnotation] == ""
}
