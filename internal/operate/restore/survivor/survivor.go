// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package survivor chooses the member whose data recover restores: of those that still answer after the quorum is lost. It
// compares their data with each other, and their revision with the backups. It checks that a recovery that continues is the
// one that began. Package restore restores the data.
package survivor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Set has the members that answer of a cluster that has lost its quorum.
type Set struct {
	All []etcd.Member
	// Source is the one whose data is restored. Chosen means that the user chose it.
	Source etcd.Member
	Chosen bool
}

// Find returns the survivors in a survey. Each of them must answer. The source is the one of the pod that the user
// chose, or else the one that has applied most: it has all that the others have applied. One that reports corrupt data is no
// source, and without a choice none is: it is not known which of them has the right data.
func Find(o owner.Owner, survey etcd.Survey, pods []string, chosen string) (Set, error) {
	s := Set{Chosen: chosen != ""}
	if s.Chosen && !slices.Contains(pods, chosen) {
		return s, Refuse(o, "%s is chosen with --member, and only %s can provide the data", chosen, policy.List(pods))
	}
	for _, pod := range pods {
		i := slices.IndexFunc(survey.Members, func(m etcd.Member) bool { return m.Pod == pod && m.Err == nil })
		switch {
		case i < 0:
			return s, Refuse(o, "%s no longer answers, and may have applied most; run the command again", pod)
		case slices.Contains(survey.Members[i].Alarms, "CORRUPT") && (!s.Chosen || pod == chosen):
			return s, Refuse(o, "%s reports that its data is corrupt; restore a backup, or choose another member with --member POD", pod)
		case pod == chosen, !s.Chosen && (s.Source.Pod == "" || further(survey.Members[i], s.Source)):
			s.Source = survey.Members[i]
		}
		s.All = append(s.All, survey.Members[i])
	}
	return s, nil
}

// further reports whether a member is a better source than another one. A snapshot has what its member has applied, so that
// decides. Of two that have applied the same, the one with more committed entries in its log is about to apply them. The term
// decides nothing: the status of a member has that of the last election that it took part in, not that of its last entry,
// so a member that was cut off and campaigned alone may have the highest.
func further(m, than etcd.Member) bool {
	return cmp.Or(cmp.Compare(m.RaftApplied, than.RaftApplied), cmp.Compare(m.RaftIndex, than.RaftIndex)) > 0
}

// unapplied describes entries that a survivor knows to be committed, and that the source has not applied: the file may lack
// them. It is empty for none.
func (s Set) unapplied() string {
	most := s.Source
	for _, m := range s.All {
		if m.RaftIndex > most.RaftIndex {
			most = m
		}
	}
	if most.RaftIndex <= s.Source.RaftApplied {
		return ""
	}
	return fmt.Sprintf("%s has committed raft entries up to index %d, and %s had applied those up to %d when it was asked: the snapshot may lack what was written with the others",
		most.Pod, most.RaftIndex, s.Source.Pod, s.Source.RaftApplied)
}

// Pods returns the pods of the survivors.
func (s Set) Pods() []string { return podsIn(s.All) }

// Revision returns the highest revision of the survivors.
func (s Set) Revision() int64 {
	newest := int64(0)
	for _, m := range s.All {
		newest = max(newest, m.Revision)
	}
	return newest
}

// Compare compares the data of the survivors, and returns their Facts. Each reads its whole database for that, which notef
// announces.
func (s Set) Compare(ctx context.Context, o owner.Owner, members *etcd.Cluster, timer clock.Clock, notef func(format string, args ...any)) ([]string, error) {
	var hashes etcd.Hashes
	if len(s.All) > 1 {
		notef("Comparing the data of %s", policy.List(s.Pods()))
		var err error
		if hashes, err = members.Hashes(ctx, s.All, timer); err != nil {
			return nil, err
		}
	}
	return s.Facts(o, hashes)
}

// Facts describe the source and how the data of the others compares with its data, for a plan. The error is a difference
// about which the user has to decide: the index of a member does not show whose data is right.
func (s Set) Facts(o owner.Owner, h etcd.Hashes) ([]string, error) {
	groups, left := h.Groups()
	facts := []string{s.source()}
	if missing := s.unapplied(); missing != "" {
		facts = append(facts, missing)
	}
	switch {
	case len(groups) > 1 && !s.Chosen:
		return nil, s.differ(o, groups, h.Revision)
	case len(groups) > 1:
		facts = append(facts, fmt.Sprintf("the data of %s differs at revision %d: that of %s is restored", differing(groups), h.Revision, s.Source.Pod))
	case len(left) > 0:
		facts = append(facts, fmt.Sprintf("it is not known whether all that answer have the same data: %s", incomparable(left[0])))
	case len(s.All) > 1:
		facts = append(facts, fmt.Sprintf("%s at revision %d", policy.Names(podsIn(s.All), "has its data", "have the same data"), h.Revision))
	}
	return facts, nil
}

func (s Set) source() string {
	how := "has applied most"
	if s.Chosen {
		how = "is chosen with --member"
	}
	facts := []string{fmt.Sprintf("%s %s: revision %d, index %d", s.Source.Pod, how, s.Source.Revision, s.Source.RaftApplied)}
	for _, m := range s.All {
		if m.RaftApplied > s.Source.RaftApplied {
			facts = append(facts, fmt.Sprintf("%s has applied more: revision %d, index %d", m.Pod, m.Revision, m.RaftApplied))
		}
	}
	return strings.Join(facts, "; ")
}

// differ returns the refusal to choose between data that differs, with the commands that save each.
func (s Set) differ(o owner.Owner, groups [][]etcd.Hash, revision int64) error {
	var saves []string
	for _, group := range groups {
		pod := group[0].Pod
		saves = append(saves, fmt.Sprintf("kubectl etcd snapshot save %s %s --member %s -n %s", o.Target(), format.Quote(pod+".db"), pod, o.Namespace))
	}
	return Refuse(o, "the data of %s differs at revision %d, although all have applied the same writes up to it, and it is not known which is right. Save each (%s), compare the files, and run the same command again with --member POD, the one whose data is to be restored",
		differing(groups), revision, strings.Join(saves, "; "))
}

// differing lists groups of members by their data.
func differing(groups [][]etcd.Hash) string {
	var out []string
	for _, group := range groups {
		var pods []string
		for _, m := range group {
			pods = append(pods, m.Pod)
		}
		out = append(out, fmt.Sprintf("%s (hash %x)", policy.List(pods), group[0].Hash))
	}
	return strings.Join(out, " and of ")
}

func incomparable(m etcd.Incomparable) string {
	if m.Err != nil {
		return fmt.Sprintf("%s: %s", m.Pod, etcd.Reason(m.Err))
	}
	return fmt.Sprintf("%s has compacted up to revision %d, another up to %d", m.Pod, m.CompactRevision, m.Other)
}

func podsIn(all []etcd.Member) []string {
	var pods []string
	for _, m := range all {
		pods = append(pods, m.Pod)
	}
	return pods
}

// SameSource returns an error if another member is chosen than the one whose data an unfinished recovery restores.
func SameSource(o owner.Owner, survivor, chosen string) error {
	if chosen == "" || chosen == survivor {
		return nil
	}
	return Refuse(o, "the unfinished restore began without --member %s, and can't change: leave out --member to continue it", chosen)
}
