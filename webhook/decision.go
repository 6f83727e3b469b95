// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"gomodules.xyz/jsonpatch/v2"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Decision is what a handler answers to one request. The zero Decision is no decision:
// the endpoint replaces it by the one that is safe for its handler (see undecided), and
// respond refuses it.
type Decision struct {
	Outcome Outcome
	Reason  policy.Reason
	// Policy is the name of the EtcdTopologyPolicy that was followed.
	Policy string
	Patch  []jsonpatch.Operation
	// Warnings are sentences for the client. They come with every outcome.
	Warnings []string
	// Message is for the client whose request is Denied: what is refused, why, with the
	// numbers, and what would change it.
	Message string
}

// Outcome is what became of a request. It is part of the API, as a value of a metric's
// label and of an audit annotation.
type Outcome string

const (
	// Ignored requests are about objects that this project doesn't protect.
	Ignored Outcome = "Ignored"
	// Unchanged objects need nothing.
	Unchanged Outcome = "Unchanged"
	// Patched objects were changed.
	Patched Outcome = "Patched"
	// Warned requests pass unchanged, with warnings.
	Warned Outcome = "Warned"
	// FailedOpen requests could not be judged, and pass unchanged.
	FailedOpen Outcome = "FailedOpen"
	// Denied requests are refused.
	Denied Outcome = "Denied"
)

// passes reports whether a request with this outcome passes.
func (o Outcome) passes() bool {
	switch o {
	case Ignored, Unchanged, Patched, Warned, FailedOpen:
		return true
	case Denied:
	}
	return false
}
