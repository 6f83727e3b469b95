// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// tell records a warning as an Event on a cluster's owner.
func tell(r recorder.EventRecorder, o observe.Owner, n policy.Note, action string) {
	r.Eventf(referenceTo(o), nil, corev1.EventTypeWarning, n.Reason, action, "%s", cut(n.Message))
}

// tellOf records a warning as an Event on a member's pod. On the owner, those
// of several pods would be folded into one, with the words of the first.
func tellOf(r recorder.EventRecorder, pod *corev1.Pod, o observe.Owner, n policy.Note, action string) {
	r.Eventf(pod, referenceTo(o), corev1.EventTypeWarning, n.Reason, action, "%s", cut(n.Message))
}

func referenceTo(o observe.Owner) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID}
}

// cut shortens a text to what an Event or a status takes. Half a letter at its end would
// be sent as a whole one that stands for it, and be too long again.
func cut(text string) string {
	if len(text) <= maxNote {
		return text
	}
	end := maxNote - len("...")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
