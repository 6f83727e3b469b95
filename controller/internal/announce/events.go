// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package announce records notes as Events.
package announce

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Event records a note as an Event of a kind. related is the other object that it is about, nil for none.
func Event(r recorder.EventRecorder, regarding, related runtime.Object, kind string, n policy.Note, action string) {
	r.Eventf(regarding, related, kind, n.Reason.Name(), action, "%s", format.Note(n.Message))
}

// Warning records a note as a warning Event on a cluster's owner.
func Warning(r recorder.EventRecorder, o owner.Owner, n policy.Note, action string) {
	Event(r, Reference(o), nil, corev1.EventTypeWarning, n, action)
}

// Reference returns a reference to a cluster's owner, as Events have it.
func Reference(o owner.Owner) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID}
}
