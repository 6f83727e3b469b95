// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

func (r Plan) keep() step.Step {
	return step.Step{
		ID: saved, Title: "Save the present data", Why: "The data directories stay, too.",
		Acts: []step.Action{step.SaveSnapshot{Target: r.Target(), File: r.savedFile()}},
	}
}

// savedFile returns the file in the current directory in which the present data is saved.
func (r Plan) savedFile() string { return r.Owner.Name + ".before-" + r.localStamp() + ".db" }

// intact returns the members whose claims are there, with their old data.
func (r Plan) intact() []Member {
	replaced := slices.Concat(r.Gone, r.lostClaims())
	return slices.DeleteFunc(slices.Clone(r.into()), func(m Member) bool {
		return slices.ContainsFunc(r.ClaimsOf([]Member{m}), func(c string) bool { return slices.Contains(replaced, c) })
	})
}

// renameFirst renames the old data before members start on new volumes: with members that have lost
// their data, the others would change it.
func (r Plan) renameFirst() []step.Step {
	intact := r.intact()
	if len(intact) == 0 {
		return nil
	}
	start, end := r.helpers(intact)
	start.ID, end.ID = helpersFirst, "" // of other pods than later
	return []step.Step{start, {ID: renamed, Title: "Rename the old data", Uses: []string{stopped, helpersFirst}, Acts: []step.Action{
		r.noMember(), step.ForEach{Pods: podsOf(intact), Acts: r.roomBefore()}, r.recordKept(), step.ForEach{Pods: podsOf(intact), Acts: r.setAside(false)}, step.ForEach{Pods: podsOf(intact), Acts: r.room()},
	}}, end}
}

// lostClaims returns the claims that exist, and whose volumes are lost or stay without them.
func (r Plan) lostClaims() []string {
	var members []Member
	for _, m := range r.into() {
		if slices.Contains(r.Lost, m.Pod) {
			members = append(members, m)
		}
	}
	lost := slices.Concat(r.ClaimsOf(members), r.Ending)
	return slices.DeleteFunc(r.ClaimsOf(r.into()), func(c string) bool { return slices.Contains(r.Gone, c) || !slices.Contains(lost, c) })
}

// replaceClaims removes the claims of volumes that are lost, so that the members get new ones.
func (r Plan) replaceClaims(lost []string) step.Step {
	s := step.Step{ID: replaced, Final: true, Title: "Free the claims of the lost members", Why: "Their volumes stay, as PersistentVolumes that are Released, until you discard them."}
	if !slices.ContainsFunc(lost, func(c string) bool { return !slices.Contains(r.Unbound, c) }) {
		s.Why = "Their volumes are gone."
	}
	s.Acts = append(s.Acts, r.retainVolumes(lost)...)
	s.Acts = append(s.Acts, r.noMember(), step.Delete{Kind: step.Claim, Names: lost, IgnoreMissing: true})
	return s
}

// retainVolumes keeps the volumes of claims that are deleted next. A claim without a volume may have
// one by then.
func (r Plan) retainVolumes(claims []string) []step.Action {
	unbound := slices.DeleteFunc(slices.Clone(claims), func(c string) bool { return !slices.Contains(slices.Concat(r.Gone, r.Unbound, r.Ending), c) })
	bound := slices.DeleteFunc(slices.Clone(claims), func(c string) bool { return slices.Contains(unbound, c) })
	return []step.Action{r.recordKept(), step.RetainVolumes{Claims: bound, Unbound: unbound, Mark: r.volumeMark()}}
}

// makeClaims has the controller of the StatefulSet and the scheduler create the volumes, where
// members can run.
func (r Plan) makeClaims(into []Member) step.Step {
	claims := r.ClaimsOf(into)
	s := step.Step{
		ID: claimed, Final: true, Title: "Create the members' volumes",
		Why: fmt.Sprintf("%s: gone. The members that this starts on new volumes form an empty cluster, which has no data.", strings.Join(slices.Concat(r.Gone, r.lostClaims()), ", ")),
	}
	r.keepClaims(&s)
	// Never fewer than now: a scale-in would delete the claims of the others.
	s.Acts = append(s.Acts, r.scale(len(r.running())))
	for _, c := range claims { // of several at once, kubectl waits for the first only
		s.Acts = append(s.Acts, step.Wait{Kind: step.Claim, Names: []string{c}, For: step.Created, Timeout: 5 * time.Minute})
	}
	s.Acts = append(s.Acts, step.Wait{Kind: step.Claim, Names: claims, For: step.Field("status.phase", "Bound"), Timeout: 5 * time.Minute, Pods: podsOf(into)})
	return s
}

// keepClaims belongs before the first change of the number of replicas.
func (r Plan) keepClaims(s *step.Step) {
	if r.DeletesClaims {
		s.Why += " A scale-in deletes its claims: that is switched off first."
		s.Acts = append(s.Acts, step.ClaimPolicy{StatefulSet: r.Owner.StatefulSet, WhenScaled: "Retain", Mark: true})
	}
}

// freeClaims returns the step that removes the claims of the members that are added, and of those that the restored
// cluster doesn't have. A member is only added on a new volume.
func (r Plan) freeClaims() step.Step {
	claims := r.leftClaims()
	if r.OneByOne {
		claims = append(r.ClaimsOf(r.Members[1:]), claims...)
	}
	s := step.Step{
		Title: "Free the claims of the other members", Why: "The volumes with their old data stay, as PersistentVolumes that are Released, until you discard them.",
	}
	s.Acts = append(s.Acts, r.retainVolumes(claims)...)
	s.Acts = append(s.Acts, step.Delete{Kind: step.Claim, Names: claims, IgnoreMissing: true})
	return s
}

func (r Plan) deleteClaimsAgain() step.Step {
	return step.Step{
		Title: "Let a scale-in delete claims again", Why: "This is the previous setting.",
		Acts: []step.Action{step.ClaimPolicy{StatefulSet: r.Owner.StatefulSet, WhenScaled: "Delete"}},
	}
}
