// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// notStopped reports whether a restore has not stopped the members of a StatefulSet: that has no mark of a restore, or it
// has replicas. Another client may have set these after the stop. Then the members run on their old data again.
func notStopped(sts *appsv1.StatefulSet) bool {
	_, marked := step.MarkOf(sts)
	return !marked || ptr.Deref(sts.Spec.Replicas, 1) > 0
}

// Unstopped reports whether a journal is of a restore that has stopped no member of its StatefulSet, or whose members
// another client has started before it changed any data. It is false if the journal doesn't show that.
func Unstopped(j *journal.Journal, sts *appsv1.StatefulSet) bool {
	var rec progress.Record
	if j.Kind != journal.KindRestore || j.ScaleTo > 0 || json.Unmarshal(j.Payload, &rec) != nil {
		return false
	}
	return rec.Done <= rec.FirstStop && notStopped(sts) || rec.Done < rec.FirstTouch && startedAgain(sts)
}

// MayStillStop refuses a restore whose members run on their present data, if what the members answer now is not what the user agreed
// to lose. The plan has the current survey, and the record what the plan had that the user agreed to. That a cluster with
// a quorum has written more is no reason: the plan showed that its present data is lost. Whether the quorum of a recovery
// is still lost is the decision of policy/recovery.
func (r Plan) MayStillStop(rec *progress.Record) error {
	switch {
	case rec.Survivor != "" && r.Newest > rec.Newest:
		return r.MustEnd(fmt.Sprintf("a member is at revision %d, and none was above %d when the data of %s was saved", r.Newest, rec.Newest, rec.Survivor))
	case rec.FirstStop > 0 && r.Led && !rec.Led && rec.Survivor == "":
		return r.MustEnd("the members have a quorum again, and had none when the restore began")
	case rec.FirstStop > 0 && r.Answers && !rec.Answers && rec.Survivor == "":
		return r.MustEnd("members answer that did not answer when the restore began, so that their data can be saved first")
	case (r.Bump > 0 || r.Druid != nil) && r.Newest >= r.restored():
		return r.MustEnd(fmt.Sprintf("it is at revision %d by now, and would be at %d: clients that watch don't notice a revision that isn't above all they have seen", r.Newest, r.restored()))
	}
	return r.silent()
}

// MustEnd returns the refusal of a restore whose members run on their present data, with the command that ends it.
func (r Plan) MustEnd(why string) error {
	state := "It has stopped no member"
	if r.Returned {
		state = "It has changed no data, and " + r.Starter
	}
	return &operate.RefusedError{What: "continue the restore into " + r.Owner.String(), Why: []string{fmt.Sprintf(
		"%s. %s. End it, which changes no data of the members and restores client traffic: %s. If the cluster is still to be restored after that, begin again",
		why, state, r.plugin("snapshot restore %s --abort", r.Target()))}}
}

// AsNow takes over the survey of the current plan, for the steps that the restore began with.
func (r *Plan) AsNow(now Plan) { r.Newest, r.Loss = now.Newest, now.lost() }

// AtStop takes over the last survey before members stop. Clients that have written since the plan may go on until then:
// their open connections outlive a cut.
func (r *Plan) AtStop(now Plan) {
	written := now.Led && now.Newest > r.Newest
	r.AsNow(now)
	if written {
		r.Loss += ". Clients have written since the plan was made: what they wrote after this count, until the members stopped, is also lost"
	}
}

// Redone returns how many steps of a restore whose members run count as done when it continues: the members are stopped
// again, and before that the present data is saved again, since clients may have written since. A journal of an earlier
// version has other steps.
func (r Plan) Redone(rec *progress.Record) int {
	steps := r.steps()
	save := slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == saved })
	switch {
	case rec.FirstStop == 0:
		return 0
	case save < 0:
		save = firstStop(steps)
	}
	return min(rec.Done, save)
}

// SavedAll reports whether a saved file, which ends at a revision, has all that the members of a survey have.
func SavedAll(revision int64, s etcd.Survey) bool {
	return !slices.ContainsFunc(s.Members, func(m etcd.Member) bool { return m.Err == nil && m.Revision > revision })
}
