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
	reasonNameTaken   = "BudgetNameTaken"
	reasonWrittenBack = "BudgetWrittenBack"
	reasonWouldKeep   = "PolicyWarns"
)

// What an Event of this controller is about. Events that differ in their text
// alone are merged into a series that shows the first text, so a change in one
// direction must not hide the change in the other.
const (
	actionKeep    = "KeepBudget"
	actionTighten = "TightenBudget"
	actionLoosen  = "LoosenBudget"
)

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
			tell(c.Recorder, c.owner, n, actionKeep)
		}
	}
}

// inform records an Event on the owner that is no warning.
func (c *cluster) inform(n policy.Note, action string) {
	c.Recorder.Eventf(referenceTo(c.owner), nil, corev1.EventTypeNormal, n.Reason, action, "%s", cut(n.Message))
}
