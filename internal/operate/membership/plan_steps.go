// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// planSteps describes the steps of an operation for its plan: those that the policy has it make if all goes well. Writes
// that belong together are one line.
func planSteps(s *observation, r membership.Record) []string {
	steps, ends := membership.Preview(s.ClusterState, r)
	var lines []string
	for len(steps) > 0 {
		line, used := s.planLine(steps, r)
		if line != "" {
			lines = append(lines, line)
		}
		steps = steps[used:]
	}
	if !ends {
		lines = append(lines, "what the state of the cluster needs then, which the command prints")
	}
	return lines
}

// planLine describes the first of some steps, and how many of them it describes.
func (s *observation) planLine(steps []membership.Step, r membership.Record) (line string, used int) {
	first := steps[0]
	pod := s.Ordinals[first.Ordinal].Pod
	switch first.Act { //nolint:exhaustive // the others end the operation
	case membership.SetPartition, membership.SetOnDelete, membership.SetBootstrap:
		return s.bootstrapLine(steps, r)
	case membership.AddLearner:
		if follows(steps, membership.SetReplicas) {
			return fmt.Sprintf("add %s to etcd as a learner, set the replicas to %d", pod, steps[1].Number), 2
		}
		return fmt.Sprintf("add %s to etcd as a learner", pod), 1
	case membership.Promote:
		return fmt.Sprintf("wait until %s is within %d entries of the leader, promote it", pod, policy.LagLimit), 1
	case membership.RemoveMember:
		it := "it"
		if r.Operation == membership.Replace {
			it = fmt.Sprintf("member %016x", first.Member)
		}
		return fmt.Sprintf("transfer leadership away from %s if it leads, remove %s from etcd", pod, it), 1
	case membership.SetReplicas:
		line := fmt.Sprintf("set the replicas to %d", first.Number)
		switch {
		case follows(steps, membership.DeleteClaims):
			return line + ", delete its volume claims", 2
		case r.KeepClaims:
			line += ", keep its volume claims"
		}
		return line, 1
	case membership.DeleteClaims:
		if follows(steps, membership.DeletePod) {
			return fmt.Sprintf("delete the volume claims of %s, then its pod", pod), 2
		}
		return fmt.Sprintf("delete the volume claims of %s", pod), 1
	case membership.DeletePod:
		return "delete pod " + pod, 1
	}
	return endLine(r), len(steps)
}

// bootstrapLine describes how the flags of the next member are written, and how that restarts no pod. If no member follows,
// it is how the operation ends.
func (s *observation) bootstrapLine(steps []membership.Step, r membership.Record) (line string, used int) {
	for ; used < len(steps); used++ {
		switch step := steps[used]; step.Act { //nolint:exhaustive // the others follow the flags
		case membership.SetPartition:
			line += fmt.Sprintf("hold back updates of pods below ordinal %d, then ", step.Number)
		case membership.SetOnDelete:
			line += "set the update strategy to OnDelete, "
		case membership.SetBootstrap:
			if used+1 == len(steps) || steps[used+1].Act != membership.AddLearner {
				return endLine(r), len(steps)
			}
			pod := s.Ordinals[steps[used+1].Ordinal].Pod
			return line + fmt.Sprintf("write initial-cluster with %s and state existing for %s", policy.Count(len(step.Bootstrap.URLs), "member"), pod), used + 1
		default:
			return endLine(r), len(steps)
		}
	}
	return endLine(r), used
}

// endLine describes how an operation ends that changed the template.
func endLine(r membership.Record) string {
	if r.Operation == membership.Replace {
		return "restore template and update strategy, so that no other pod restarts"
	}
	return "mark the pods as up to date and restore the update strategy, so that none restarts"
}

// follows reports whether the second of some steps does something.
func follows(steps []membership.Step, act membership.Act) bool {
	return len(steps) > 1 && steps[1].Act == act
}
