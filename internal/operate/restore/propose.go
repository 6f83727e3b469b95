// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Propose describes a restore for the user.
func (r Plan) Propose(steps []step.Step, warnings []string) operate.Plan {
	p := operate.Plan{
		Title: fmt.Sprintf("restore %s (revision %d) into %s, with %s", filepath.Base(r.File), r.Snapshot.Revision, r.Owner, policy.Count(len(r.Members), "member")),
		// A plan without a step that the user agreed to, such as the cut of client traffic, is another one.
		// So is one with another loss: of members that don't answer, or whose data is not saved.
		Subject: fmt.Sprintf("%s %x %q %q %t", r.Owner.UID, r.Snapshot.SHA256, titles(steps), r.unanswered(), r.unsaved() == ""),
		Typed:   r.Owner.Name,
		Facts:   append(r.snapshotFacts(), r.lost()),
		Needs:   r.needs(),
	}
	p.Unconfirmed = r.unconfirmed()
	p.Passing = r.passing()
	for _, w := range warnings {
		if !slices.ContainsFunc(p.Passing, func(has operate.Passing) bool { return has.Text == w+"." }) {
			p.Warnings = append(p.Warnings, w+".")
		}
	}
	if r.Druid == nil && !r.Clients && len(r.Gone)+len(r.lostClaims()) > 0 {
		p.Warnings = append(p.Warnings, "Client traffic isn't cut: while volumes are created, members run without data, and clients that reach them find an empty cluster. Stop the clients first.")
	}
	if r.Druid == nil && !r.Clients {
		p.Warnings = append(p.Warnings, "Client traffic isn't cut: clients reach the restored members as soon as they start. Stop the clients first.")
	}
	p.Steps = titles(steps)
	return p
}

// unconfirmed returns why -y alone does not confirm the restore, empty if it does.
func (r Plan) unconfirmed() string {
	from := r.other()
	if from == "" || r.FromOther {
		return ""
	}
	return fmt.Sprintf("the snapshot is of another cluster, %s: with -y, add --from-other-cluster to restore it into %s", from, r.Owner)
}

func titles(steps []step.Step) []string {
	var out []string
	for _, s := range steps {
		if len(s.Acts) > 0 {
			out = append(out, s.Title)
		}
	}
	return out
}

func (r Plan) snapshotFacts() []string {
	return []string{
		fmt.Sprintf("the snapshot has %s at revision %d, %s, and %s", policy.Count(r.Snapshot.Keys, "key"), r.Snapshot.Revision, policy.Bytes(r.Snapshot.Size), r.taken()),
		fmt.Sprintf("the restored members begin at revision %d", r.restored()),
	}
}

// ProposeRest describes the rest of an unfinished restore, or its undoing.
func (r Plan) ProposeRest(rec *progress.Record, steps []step.Step, undo bool) operate.Plan {
	did := "continue"
	if undo {
		did = "undo"
	}
	p := operate.Plan{
		Title:   fmt.Sprintf("%s the restore into %s", did, r.Owner),
		Subject: fmt.Sprintf("%s %s %q", r.Owner.UID, rec.SHA256, titles(steps)),
		Facts:   []string{"begun " + format.Time(rec.Journal().Began)},
		Steps:   titles(steps),
		Needs:   r.needs(),
	}
	if rec.Journal().By != "" {
		p.Facts[0] += " by " + rec.Journal().By
	}
	if lost := r.UndoLoses(rec); undo && lost != "" {
		p.Warnings = append(p.Warnings, lost)
	}
	if left := r.sourceLeft(rec); undo && left != "" {
		p.Warnings = append(p.Warnings, strings.TrimPrefix(left, ". ")+".")
	}
	if r.Returned && !undo {
		p.Warnings = append(p.Warnings, r.Starter+" since the restore stopped the members: they stop again, and what they have now is replaced.")
	}
	if r.otherSource {
		p.Typed, p.Unconfirmed = r.Owner.Name, r.unconfirmed()
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s (revision %d) replaces the snapshot with which the restore began.", filepath.Base(r.File), r.Snapshot.Revision))
	}
	if r.Unstopped && !undo { // the loss may be another one than that which the user agreed to
		p.Typed = r.Owner.Name
	}
	if len(rec.Lost) > 0 && !undo {
		p.Facts = append(p.Facts, "members with lost volumes, which get new claims: "+policy.List(rec.Lost))
	}
	if !undo {
		r.warnOfAbsent(func(format string, args ...any) { p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...)+".") })
		p.Facts = append(p.Facts, "before the restore, "+r.lost(), fmt.Sprintf("%d of %d steps are done", rec.Done, rec.Done+len(steps)))
	}
	return p
}

// ReadNeeds returns the permissions to read whether a restore is unfinished, and is one of the present StatefulSet.
func ReadNeeds(o owner.Owner) []operate.Need {
	if o.StatefulSet == "" {
		return nil
	}
	need := operate.NeedIn(o.Namespace)
	return []operate.Need{need("get", "", "configmaps", "", journal.Name(o)), need("get", "apps", "statefulsets", "", o.StatefulSet)}
}

// StopNeeds returns the permissions that the steps of every restore need.
func StopNeeds(o owner.Owner) []operate.Need {
	need, kept := operate.NeedIn(o.Namespace), journal.Name(o)
	return []operate.Need{
		need("get", "", "configmaps", "", kept), need("create", "", "configmaps", "", ""),
		need("patch", "", "configmaps", "", kept), need("delete", "", "configmaps", "", kept),
		need("get", "apps", "statefulsets", "", o.StatefulSet), need("patch", "apps", "statefulsets", "scale", o.StatefulSet),
		need("patch", "apps", "statefulsets", "", o.StatefulSet),
		need("get", "", "pods", "", ""), need("create", "", "pods", "portforward", ""),
	}
}

// needs returns the permissions for the steps. Those for client traffic are checked with the cut.
func (r Plan) needs() []operate.Need {
	need := operate.NeedIn(r.Owner.Namespace)
	needs := StopNeeds(r.Owner)
	if len(r.HelperPods()) > 0 {
		needs = append(needs, need("create", "", "pods", "", ""), need("delete", "", "pods", "", ""),
			need("get", "", "pods", "exec", ""), need("create", "", "pods", "exec", ""))
	}
	if r.Druid != nil || r.OneByOne || len(r.Lost)+len(r.Ending) > 0 || r.OldSize > 0 {
		needs = append(needs, need("get", "", "persistentvolumeclaims", "", ""), need("delete", "", "persistentvolumeclaims", "", ""),
			operate.Need{Verb: "get", Resource: "persistentvolumes"}, operate.Need{Verb: "patch", Resource: "persistentvolumes"})
	}
	if r.Druid != nil {
		needs = append(needs, need("patch", "", "configmaps", "", r.Druid.ConfigMap), need("delete", "coordination.k8s.io", "leases", "", ""),
			need("patch", druidv1alpha1.GroupName, "etcds", "", r.Owner.Name))
	}
	return needs
}
