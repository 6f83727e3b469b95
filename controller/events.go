// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// The actions of the Budget controller's Events. Kubernetes merges Events that differ only
// in their message into a series that shows the first message. With an action for each
// direction, a change in one doesn't hide a change in the other.
const (
	actionKeep    = "KeepBudget"
	actionRelease = "ReleaseBudget"
	actionTighten = "TightenBudget"
	actionLoosen  = "LoosenBudget"
)

// maxMessage is the longest message that an Event may have, in bytes.
const maxMessage = 1024

// The types of Events.
const (
	normal  = corev1.EventTypeNormal
	warning = corev1.EventTypeWarning
)

// warn records a warning Event on a cluster's owner.
func warn(r recorder.EventRecorder, o owner.Owner, n policy.Note, action string) {
	r.Eventf(referenceTo(o), nil, corev1.EventTypeWarning, n.Reason.Name(), action, "%s", format.Truncate(n.Message, maxMessage))
}

// warnOnPod records a warning Event on a member's pod. On the owner, the Events of several
// pods would be merged into one that shows the first message.
func warnOnPod(r recorder.EventRecorder, pod *corev1.Pod, o owner.Owner, n policy.Note, action string) {
	r.Eventf(pod, referenceTo(o), corev1.EventTypeWarning, n.Reason.Name(), action, "%s", format.Truncate(n.Message, maxMessage))
}

func referenceTo(o owner.Owner) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID}
}
