// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// losses is where the data of the voters is, while the quorum is lost.
type losses struct {
	// gone counts the voters whose data is lost, and lost are those of them that are known.
	gone int
	lost []Member
	// survivors answer with their data. silent don't answer, and nothing shows that their data is lost.
	survivors, silent []Member
	// leaving are those of both whose data ends with their pods, since their volume claims are going or gone.
	leaving []Member
}

func (s *state) losses() losses {
	l := losses{gone: min(s.AwayGone, s.hidden), survivors: s.where(answers)}
	l.lost = s.where(func(m Member) bool { return s.counts(m) && gone(m) })
	l.silent = s.where(func(m Member) bool { return s.counts(m) && !gone(m) && !answers(m) })
	l.leaving = slices.DeleteFunc(slices.Concat(l.survivors, l.silent), func(m Member) bool { return m.Data != DataLeaving && !m.lost() })
	l.gone += len(l.lost)
	return l
}

// gone reports whether the data of a member is known to be lost, and the member doesn't serve it either.
func gone(m Member) bool { return m.lost() && !answers(m) && conditionOf(m) != well }

// recover returns the least action where the quorum is lost. Nothing is deleted: the data of each member
// may be the newest. Members with their data come first, then what survivors have, then backups.
func (s *state) recover() Action {
	l := s.losses()
	enough := s.voters-l.gone >= s.quorum
	unhurried := len(l.leaving) == 0 && s.restorable()
	switch {
	case s.ScaledIn:
		return Action{Do: ScaleBack, Why: "Voters were scaled away. The volumes of their pods are there, and more replicas bring them back."}
	case !enough && len(l.silent) > 0 && (len(l.survivors) == 0 || unhurried):
		return s.bringBackFirst(l)
	case !enough && len(l.survivors) > 0 && len(l.silent) == 0 && s.recovers(l):
		return s.recoverFrom(l)
	case len(l.survivors) > 0 && s.voters-l.gone-len(l.leaving) < s.quorum:
		return s.saveFirst(l)
	case enough:
		return s.bringBack(l)
	}
	return s.backup(l)
}

// recovers reports whether kubectl etcd recover acts without a silent member. It refuses while a survivor's volume claim is
// being deleted, and while a voter that no known pod runs may have more.
func (s *state) recovers(l losses) bool {
	leaving := slices.ContainsFunc(l.survivors, func(m Member) bool { return m.Data == DataLeaving })
	return s.restorable() && !leaving && s.hiddenBack() == 0
}

// backup returns the action where no known member has its data and none answers.
func (s *state) backup(l losses) Action {
	switch {
	case s.hiddenBack() > 0:
		return Action{Do: Check, Why: fmt.Sprintf("%s, and no member answers. No known pod runs %s, and nothing shows that their data is lost. Find them before a backup is restored, and keep all volumes.",
			s.lossOf(l), policy.Count(s.hiddenBack(), "voter"))}
	case s.Store && s.Sidecar && s.voters == 1 && len(l.lost) == 1 && l.lost[0].Data == DataNone && l.lost[0].Pod == PodUnready && !l.lost[0].SidecarWaits:
		return Action{Do: Wait, Member: l.lost[0].Name, Why: "Its data is lost, and its sidecar restores the last full snapshot and the delta snapshots after it (I-7). Wait until etcd answers, and don't restore a file meanwhile: it would lack the deltas. The log of the container backup-restore of " + l.lost[0].Name + " shows the progress. If it shows an error that stays, restore a file: kubectl etcd snapshot restore FILE NAME."}
	case s.Store && s.NotRestorable != "":
		return Action{Do: ListSnapshots, Why: fmt.Sprintf("%s, and no member answers. A backup has to be restored, and no command restores it into the present members: %s.", s.lossOf(l), s.NotRestorable)}
	case s.Store && s.Sidecar:
		return Action{Do: ListSnapshots, Why: s.lossOf(l) + ", and no member answers. The store has the last full snapshot, and in delta snapshots what was written after it. kubectl etcd snapshot restore FILE NAME restores a file without these deltas. The steps that keep them are in docs/snapshots.md, section All data of an Etcd is lost."}
	case s.Store:
		return Action{Do: ListSnapshots, Why: s.lossOf(l) + ", and no member answers. A backup has to be restored: kubectl etcd snapshot restore FILE NAME."}
	}
	return Action{Do: Check, Why: s.lossOf(l) + ", no member answers, and no backup is known. Keep all volumes."}
}

// lossOf returns how much data is lost, as the beginning of a sentence.
func (s *state) lossOf(l losses) string {
	voters := policy.Count(s.voters, "voter")
	if n := len(l.leaving); n > 0 {
		return fmt.Sprintf("The data of %d of %s is lost now or when their pods end", l.gone+n, voters)
	}
	return fmt.Sprintf("The data of %d of %s is lost", l.gone, voters)
}

// neverAnswers is why a member with all of its data may never answer again: etcd opens its client port when it starts only
// after a quorum has committed an entry.
const neverAnswers = "Without a quorum, an etcd that has restarted answers no client, even if its data is whole"

// fromVolumes is how to get the data of members that never answer again, as a sentence. It names the members that are lost.
func (s *state) fromVolumes(l losses) string {
	if !s.restorable() {
		return neverAnswers + ": docs/guides/recovering-quorum.md shows under \"If no member answers\" how to read that data from its volume."
	}
	lost := ""
	if len(l.lost) > 0 {
		lost = " --lost " + strings.Join(names(l.lost), ",")
	}
	return fmt.Sprintf("%s: if the lost data can't come back, kubectl etcd recover NAME --from-volume %s%s restores that data from the volume.",
		neverAnswers, strings.Join(names(l.silent), ","), lost)
}

// bringBackFirst returns the inspection of a member that may have all data that is left, or more than the survivors
// have. Without a quorum that can come back, nothing else has what is in it.
func (s *state) bringBackFirst(l losses) Action {
	silent, survivors := policy.List(names(l.silent)), policy.List(names(l.survivors))
	a := Action{Do: InspectPod, Member: l.silent[0].Name}
	if m, ok := firstDown(l.silent); ok {
		a.Member = m.Name
	}
	if survivors == "" {
		a.Why = fmt.Sprintf("%s, and no member answers. Nothing shows that the data of %s is lost, and it may be all that is left: restore no backup before you have tried to get it.", s.lossOf(l), silent)
	} else {
		a.Why = fmt.Sprintf("%s, and %s. Nothing shows that the data of %s is lost, and it may be more than %s: bring it back first.", s.lossOf(l), stillAnswer(l), silent, policy.Names(names(l.survivors), "has", "have"))
	}
	a.Why += s.detailOf(a.Member) + leavingWhy(l)
	if s.restorable() {
		a.Why += " If it answers, kubectl etcd recover NAME restores the cluster from the member that has applied most. " + s.fromVolumes(l)
		if survivors != "" {
			a.Why += fmt.Sprintf(" Only if the data of %s can't be read from a volume either, kubectl etcd recover NAME --lost %s restores what the others have.", silent, strings.Join(names(l.silent), ","))
		}
	} else {
		a.Why += " If it answers, kubectl etcd snapshot save NAME FILE saves its data. " + s.fromVolumes(l)
	}
	return a
}

// recoverFrom returns the restore of what survivors have. The command names the members whose data is shown to be lost
// by their volume claims. A log proves less, so a user has to name a member whose loss only its log shows.
func (s *state) recoverFrom(l losses) Action {
	var lost, logged []string
	for _, m := range l.lost {
		if m.Data == DataNone {
			lost = append(lost, m.Name)
		} else {
			logged = append(logged, m.Name)
		}
	}
	a := Action{Do: Recover, Lost: lost, Why: s.lossOf(l)}
	if len(l.lost) > 0 {
		a.Why = policy.Names(described(l.lost), "has lost its data", "have lost their data")
	}
	a.Why += fmt.Sprintf(", and %s. If the lost data can't come back, this command saves the data of the member that has applied most, and restores it. Delete no pod.", stillAnswer(l))
	if s.Revision > 0 && s.Backup > s.Revision {
		a.Why += fmt.Sprintf(" The backups have revision %d, and the members that answer have %d at most: so the command refuses, unless --member names the one to restore. To see the backups: kubectl etcd snapshot list NAME. To restore one: kubectl etcd snapshot restore FILE NAME.", s.Backup, s.Revision)
	}
	if _, v := s.fromSurvivors(lost); !v.Allowed && len(logged) > 0 {
		a.Lost = append(a.Lost, "POD")
		a.Why += fmt.Sprintf(" Replace POD by %s, after you have made sure that the log is right.", strings.Join(logged, ","))
	}
	return a
}

// described returns members with what shows that their data is lost.
func described(lost []Member) []string {
	var out []string
	for _, m := range lost {
		if m.Damage != "" {
			m.Name += " (" + m.Damage + ")"
		}
		out = append(out, m.Name)
	}
	return out
}

func stillAnswer(l losses) string {
	return policy.Names(names(l.survivors), "still answers", "still answer")
}

// saveFirst returns the save of what survivors have, where their data may go with their pods, or where no command restores it.
func (s *state) saveFirst(l losses) Action {
	a := Action{Do: SaveSnapshot, Why: fmt.Sprintf("%s, and %s. Save the data of the one that has applied most first, and delete no pod. %s", s.lossOf(l), stillAnswer(l), s.afterSnapshot(l))}
	if len(l.silent) > 0 {
		a.Why += fmt.Sprintf(" Don't restore it before %s too, or is known to be lost for good: what it has may be more.", policy.Names(names(l.silent), "answers", "answer"))
	}
	if hidden := s.hiddenBack(); hidden > 0 {
		a.Why += fmt.Sprintf(" Don't restore it before you have found %s that no known pod runs, or know that the data is lost for good: it may be more.", policy.Count(hidden, "voter"))
	}
	return a
}

// restorable reports whether kubectl etcd restores into the present members.
func (s *state) restorable() bool { return s.NotRestorable == "" && !s.inPods() }

// inPods reports whether a member's data ends with its pod. What is restored there would be lost with the next pod, so
// the commands that restore refuse it.
func (s *state) inPods() bool {
	return len(s.where(func(m Member) bool { return m.Data == DataInPod })) > 0
}

// afterSnapshot returns how to restore the data of survivors that has been saved.
func (s *state) afterSnapshot(l losses) string {
	switch {
	case s.NotRestorable != "":
		return fmt.Sprintf("No command restores it into the present members: %s.", s.NotRestorable)
	case s.inPods():
		return "Then create another StatefulSet with a volume claim template for the data, and restore the file into it: kubectl etcd snapshot restore FILE statefulset/OTHER."
	}
	then := "Then kubectl etcd snapshot restore FILE NAME restores it"
	if len(l.leaving) > 0 {
		then += ", and shows first how to keep the volumes"
	}
	return then + "."
}

// bringBack returns the inspection of the first member to bring back where enough of them have their data.
func (s *state) bringBack(l losses) Action {
	a := Action{Do: Check, Why: fmt.Sprintf("The data of %d of %s seems to exist. Bring these members back, and change nothing else.", s.voters-l.gone, policy.Count(s.voters, "voter"))}
	if m, ok := firstDown(slices.Concat(s.past, s.waiting)); ok {
		a.Do, a.Member = InspectPod, m.Name
		a.Why += s.detailOf(m.Name)
	}
	if s.voters == 1 && len(l.silent) == 1 && s.restorable() { // one that runs alone answers without others
		a.Why += fmt.Sprintf(" If its container runs and etcd had more members, whose data is gone, it never answers: kubectl etcd recover NAME --from-volume %s restores its data from the volume.", l.silent[0].Name)
	}
	a.Why += leavingWhy(l)
	return a
}

// detailOf returns why a member is not well, as a sentence after another.
func (s *state) detailOf(name string) string {
	i := slices.IndexFunc(s.Members, func(m Member) bool { return m.Name == name })
	if i < 0 || s.Members[i].Detail == "" {
		return ""
	}
	return " " + name + ": " + strings.TrimSuffix(s.Members[i].Detail, ".") + "."
}

// leavingWhy returns the warning of data that ends with pods, as a sentence after another.
func leavingWhy(l losses) string {
	if len(l.leaving) == 0 {
		return ""
	}
	return " Volume claims are being deleted: delete no pod, because the data is deleted with it."
}

// firstDown returns the member to begin with: one whose pod doesn't run, and that has its data.
func firstDown(down []Member) (Member, bool) {
	for _, is := range []func(Member) bool{
		func(m Member) bool { return m.down() && !m.lost() },
		func(m Member) bool { return !m.lost() && m.Answer != NoLeader },
		func(m Member) bool { return m.down() },
		func(m Member) bool { return m.Pod != PodUnseen },
	} {
		for _, m := range down {
			if is(m) {
				return m, true
			}
		}
	}
	return Member{}, false
}
