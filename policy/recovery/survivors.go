// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// MayAnswer reports whether a verdict of MayRecover is about members that don't answer, so that it can be another one
// when they are asked again.
func MayAnswer(v policy.Verdict) bool { return v.Reason == SurvivorSilent || v.Reason == NoSurvivor }

// MayRecover decides whether a cluster may be restored from what survivors have. declared are the members
// that the user declares to be lost for good: no object and no log shows for sure that data is lost.
// survivors are the members that still answer, in the order of the facts. It refuses while the members that
// may come back are enough for a quorum: to bring them back loses nothing.
func MayRecover(f Facts, declared []string) (survivors []string, v policy.Verdict) {
	s := count(f)
	if v, wrong := wrongly(f, declared); wrong {
		return nil, v
	}
	switch {
	case f.Clusters > 1:
		return nil, policy.Refuse(RecoverSplit, "its members belong to %d etcd clusters; decide first which cluster is the right one", f.Clusters)
	case s.hibernated():
		return nil, policy.Refuse(RecoverHibernated, "it is scaled to 0")
	case !s.lost():
		return nil, policy.Refuse(QuorumNotLost, "it is not certain that the quorum is lost: %d of %s healthy, quorum is %d", s.ready, policy.Count(s.voters, "voter"), s.quorum)
	case f.ScaledIn:
		return nil, policy.Refuse(ScaledAway, "voters were scaled away, and the volumes of their pods are there; scale back out")
	}
	return s.fromSurvivors(declared)
}

// MayReadVolumes decides whether a cluster may be restored from the volumes of members that don't answer, or from survivors.
// It counts the data of these members as saved, and never as a reason to give up a quorum: while the members whose data
// may be there are enough for one, their own etcd keeps more than what can be read from a volume. One that lists members that the cluster
// doesn't have any more has no quorum alone. Without volumes, it is MayRecover.
func MayReadVolumes(f Facts, declared, volumes []string) (survivors []string, v policy.Verdict) {
	survivors, v = MayRecover(f, declared)
	if v.Reason == SurvivorSilent || v.Reason == DataMayReturn && count(f).voters == 1 {
		return MayRecover(f, slices.Concat(declared, volumes))
	}
	return survivors, v
}

// fromSurvivors decides that where the quorum is lost.
func (s *state) fromSurvivors(declared []string) (survivors []string, v policy.Verdict) {
	survivors = names(s.where(answers))
	back, unknown := s.mayReturn(declared), s.mayHold(declared)
	switch {
	case len(survivors)+len(back)+s.hiddenBack() >= s.quorum:
		way := "If the data of a member is lost for good, declare it with --lost POD"
		if s.voters == 1 { // one that runs alone answers without others
			way = fmt.Sprintf("If etcd had more members, whose data is gone, it never answers: add --from-volume %s to restore its data from the volume", strings.Join(back, ","))
		}
		return survivors, policy.Refuse(DataMayReturn, "%d of %s still answer, and the data of others may be there (%s): %d are a quorum, and nothing is lost when they come back. %s%s",
			len(survivors), policy.Count(s.voters, "voter"), unanswered(back, s.hiddenBack()), s.quorum, way, s.damages())
	case len(unknown) > 0:
		return survivors, policy.Refuse(SurvivorSilent, "%s, and the data of each may be there%s. Bring them back, and run the same command again. %s: to restore that data from the volume, add --from-volume %s. Declare a member with --lost only if its data can't be read from a volume either",
			policy.Names(unknown, "did not answer", "did not answer"), furthest(survivors), neverAnswers, strings.Join(unknown, ","))
	case s.hiddenBack() > 0:
		return survivors, s.hiddenVoters(survivors)
	case len(survivors) == 0:
		return nil, policy.Refuse(NoSurvivor, "no member answers, and the data of each is lost or was declared to be lost; %srestore a backup", s.declaredOnly(declared))
	}
	return survivors, policy.Allow(SurvivorsRecover, "%s, quorum is %d of %s, and the data of the others is lost", policy.Names(survivors, "still answers", "still answer"), s.quorum, policy.Count(s.voters, "voter"))
}

// hiddenVoters returns the refusal for voters that no known pod runs. They have no name that --lost could have.
func (s *state) hiddenVoters(survivors []string) policy.Verdict {
	instead := "restore a backup"
	if len(survivors) > 0 {
		instead = fmt.Sprintf("save a snapshot of what %s, and restore that file", policy.Names(survivors, "has", "have"))
	}
	return policy.Refuse(SurvivorSilent, "no known pod runs %s, and the data of each may be there%s: find the pods and the volumes, bring them back, and run the same command again. Only if that data is lost for good, %s",
		policy.Count(s.hiddenBack(), "voter"), furthest(survivors), instead)
}

// wrongly returns the refusal for a declared member that there is none of, or that answers.
func wrongly(f Facts, declared []string) (policy.Verdict, bool) {
	for _, name := range declared {
		i := slices.IndexFunc(f.Members, func(m Member) bool { return m.Name == name })
		switch {
		case i < 0:
			return policy.Refuse(NotAMember, "it has no member %s: it has %s", name, policy.List(names(f.Members))), true
		case f.Members[i].Answers():
			return policy.Refuse(StillAnswers, "%s is declared to be lost, and it answers: leave it out of --lost and --from-volume", name), true
		}
	}
	return policy.Verdict{}, false
}

// answers reports whether a voter's data can be saved: it serves it, even if its volume claim is gone.
func answers(m Member) bool {
	return m.Data != DataDamaged && m.Listed != Learner && m.Listed != NotListed && m.Answers()
}

// mayReturn returns the voters that don't answer and that are not declared to be lost.
func (s *state) mayReturn(declared []string) []string {
	return names(s.where(func(m Member) bool {
		return s.counts(m) && !answers(m) && !slices.Contains(declared, m.Name)
	}))
}

// mayHold returns those of them whose data no object and no log shows to be lost. What they have may be all that is left,
// or more than the survivors have.
func (s *state) mayHold(declared []string) []string {
	return names(s.where(func(m Member) bool {
		return s.counts(m) && !answers(m) && !gone(m) && !slices.Contains(declared, m.Name)
	}))
}

// declaredOnly returns the members that nothing but the declaration of the user shows to be lost, as the beginning of what to
// do. A user may have declared one only because it does not answer.
func (s *state) declaredOnly(declared []string) string {
	only := names(s.where(func(m Member) bool { return s.counts(m) && !gone(m) && slices.Contains(declared, m.Name) }))
	if len(only) == 0 {
		return ""
	}
	return fmt.Sprintf("nothing but --lost shows it of %s. %s: to restore that data from its volume, name the member with --from-volume instead of --lost. Only if there is none, ", policy.List(only), neverAnswers)
}

// furthest returns what a member that didn't answer may have beside survivors, for users.
func furthest(survivors []string) string {
	if len(survivors) == 0 {
		return ""
	}
	return ", with more than " + policy.Names(survivors, "has", "have")
}

// hiddenBack counts the voters that no known member is, and whose data may be there.
func (s *state) hiddenBack() int { return max(s.hidden-s.AwayGone, 0) }

// damages describes what shows that data is lost, for users.
func (s *state) damages() string {
	var out []string
	for _, m := range s.where(Member.lost) {
		out = append(out, m.Name+": "+orUnknown(m.Damage))
	}
	if len(out) == 0 {
		return ""
	}
	return ". " + strings.Join(out, "; ")
}

// unanswered describes voters that don't answer.
func unanswered(back []string, hidden int) string {
	if hidden > 0 {
		back = append(slices.Clone(back), fmt.Sprintf("%d without a known pod", hidden))
	}
	return policy.List(back)
}
