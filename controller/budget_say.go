// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// The reasons of this controller's own findings.
const (
	reasonWriteDenied = "BudgetWriteDenied"
	reasonWrittenBack = "BudgetWrittenBack"
	reasonWouldKeep   = "PolicyWarns"
)

// actionKeep is what an Event of this controller is about.
const actionKeep = "KeepBudget"

// maxNote is the longest text that an Event takes.
const maxNote = 1024

// say tells each note that holds now once, as an Event on the owner.
func (c *cluster) say(notes []policy.Note) {
	var reasons []string
	for _, n := range notes {
		reasons = append(reasons, n.Reason)
	}
	fresh := c.said.fresh(c.owner.Key(), reasons)
	for _, n := range notes {
		if at := slices.Index(fresh, n.Reason); at >= 0 {
			fresh = slices.Delete(fresh, at, at+1)
			c.tell(n, true)
		}
	}
}

// tell records an Event on the owner.
func (c *cluster) tell(n policy.Note, warning bool) {
	kind := corev1.EventTypeNormal
	if warning {
		kind = corev1.EventTypeWarning
	}
	on := &corev1.ObjectReference{
		APIVersion: c.owner.APIVersion, Kind: c.owner.Kind,
		Namespace: c.owner.Namespace, Name: c.owner.Name, UID: c.owner.UID,
	}
	c.Recorder.Eventf(on, nil, kind, n.Reason, actionKeep, "%s", cut(n.Message))
}
