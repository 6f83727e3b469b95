// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Findings holds what this controller found last of each cluster's budget, for
// other controllers. A new leader starts with none. The zero value is ready; it is safe
// for concurrent use.
type Findings struct {
	memory.Keyed[owner.Key, v1alpha1.Finding]

	once    sync.Once
	changes chan event.GenericEvent
}

// set replaces the finding on a cluster's budget, and sends an event to the channel of Changed for
// another verdict or reason.
func (f *Findings) set(key owner.Key, finding v1alpha1.Finding) {
	before, _ := f.Swap(key, finding)
	if before.Verdict == finding.Verdict && before.Reason == finding.Reason {
		return
	}
	select {
	case f.Changed() <- event.GenericEvent{}:
	default: // a change that was not received yet
	}
}

// Changed returns the channel that has an event after a finding has changed.
func (f *Findings) Changed() chan event.GenericEvent {
	f.once.Do(func() { f.changes = make(chan event.GenericEvent, 1) })
	return f.changes
}

// NewFinding returns a finding. The status of a policy has the names of reasons.
func NewFinding(v v1alpha1.Verdict, reason policy.Reason, message string) v1alpha1.Finding {
	return v1alpha1.Finding{Verdict: v, Reason: reason.Name(), Message: message}
}
