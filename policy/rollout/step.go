// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Act is what the rule decides.
type Act string

// The acts. The zero act holds.
const (
	// Hold restarts no further pod.
	Hold Act = ""
	// Next has the StatefulSet's controller restart one more pod.
	Next Act = "Next"
	// Restart deletes a pod that is down, so that it is created again with the new template.
	Restart Act = "Restart"
	// Release gives the author's strategy back to all sets, or to one.
	Release Act = "Release"
)

// Step is the verdict.
type Step struct {
	Act    Act
	Reason policy.Reason
	// Message has the numbers.
	Message string
	// Pod is the one of Next and Restart.
	Pod string
	// Set is the one of Release, if it releases only one and others wait for it.
	Set string
	// Delete is true if the pod must be deleted now. It is false until the strategy with which it gets
	// the new template is in force.
	Delete bool
	// Values are the strategies of the sets, in their order. Released are those of which the hold
	// ends: they get back what their author chose. All others restart at most one pod at once.
	Values   []Value
	Released []bool
}

func (f Facts) hold(reason policy.Reason, format string, args ...any) Step {
	return f.step(Hold, reason, fmt.Sprintf(format, args...))
}

// release gives all sets their author's partition, and ends their hold.
func (f Facts) release(reason policy.Reason, format string, args ...any) Step {
	step := f.step(Release, reason, fmt.Sprintf(format, args...))
	for i, set := range f.Sets {
		if set.Held {
			step.Values[i], step.Released[i] = Value{Partition: set.Author}, f.ends(&set)
		}
	}
	return step
}

// step returns a step by which no pod restarts. A set that is complete is released.
func (f Facts) step(act Act, reason policy.Reason, message string) Step {
	step := Step{Act: act, Reason: reason, Message: message, Values: make([]Value, len(f.Sets)), Released: make([]bool, len(f.Sets))}
	for i := range f.Sets {
		switch set := &f.Sets[i]; {
		case !set.Held:
			step.Values[i] = set.Value
		case set.complete():
			step.Values[i], step.Released[i] = Value{Partition: set.Author}, true
		default:
			step.Values[i] = set.held()
		}
	}
	return step
}
