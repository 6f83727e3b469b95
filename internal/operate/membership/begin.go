// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// Begin writes the journal of what was planned; Run does the rest. With dry it only tries the journal
// and the first writes by dry runs at the API server.
func (m *Members) Begin(ctx context.Context, j *Change, dry bool) error {
	s, err := m.observe(ctx, nil, j.Target)
	if err != nil {
		return err
	}
	if s.sts.UID != j.journal.Object || s.Replicas != j.Replicas {
		return fmt.Errorf("StatefulSet %s/%s has changed since the plan was made: run it again", s.sts.Namespace, s.sts.Name)
	}
	if err := m.checkLock(); err != nil {
		return err
	}
	if err := j.begin(ctx, m.Kube, s.sts, dry); err != nil || !dry {
		return err
	}
	return m.try(ctx, s, j)
}

// try writes to the StatefulSet by a dry run, so that admission reviews it.
func (m *Members) try(ctx context.Context, s *observation, j *Change) error {
	edited := s.template.clone()
	if j.Operation != membership.ScaleIn {
		if err := s.setBootstrap(ctx, m, &edited, s.Bootstrap); err != nil {
			return err
		}
	}
	mark, err := j.Found.mark()
	if err != nil {
		return err
	}
	return m.patch(ctx, s.sts, func(sts *appsv1.StatefulSet) {
		sts.Spec.Template = edited.template
		if j.Operation != membership.ScaleIn {
			setMark(sts, mark)
		}
		if j.Operation != membership.Replace {
			m.setReplicas(sts, j.Target)
		}
	}, client.DryRunAll)
}

// PlanResume returns what is left of an unfinished operation, or what undoing it would do. It refuses
// only a journal with values that nothing but it has: each step checks again.
func (m *Members) PlanResume(ctx context.Context, j *Change, undo bool) (operate.Plan, error) {
	undo = undo || j.Undo
	p := operate.Plan{Facts: []string{"begun " + format.Time(j.journal.Began)}}
	what := fmt.Sprintf("scaling %s to %s", m.Owner, policy.Count(j.Target, "member"))
	if j.Operation == membership.Replace {
		what = fmt.Sprintf("replacing %s of %s", m.Owner.PodName(j.Ordinal), m.Owner)
	}
	p.Title, p.Needs = "resume "+what, m.configNeeds(j)
	if undo {
		p.Title = "undo " + what
		p.Steps = undoSteps(j)
	}
	s, err := m.observe(ctx, j, 0)
	if halted, is := errors.AsType[*operate.HaltedError](err); is {
		return p, operate.Refuse("%v", halted)
	}
	if err != nil {
		p.Passing = append(p.Passing, operate.Passingf("The cluster can't be read completely now (%v); this waits until it can.", err))
		return p, nil
	}
	if err := s.compare(); err != nil {
		return p, err
	}
	p.Facts = append(p.Facts, restores(j, s.before, undo)...)
	if undo && s.TemplateEdited {
		p.Warnings = append(p.Warnings, "Another client has changed the StatefulSet's template since: that change stays. Once the update strategy is restored, it is rolled out, unless etcd-webhook holds it.")
	}
	voters, healthy := membership.Votes(s.Members)
	p.Facts = append(p.Facts, fmt.Sprintf("%d of %d voters healthy, quorum is %d", healthy, voters, policy.Quorum(voters)))
	record := s.recordOf(j)
	record.Undo = undo
	step := membership.Next(s.ClusterState, record)
	if why := m.distrust(s, j); why != "" && step.Act != membership.Done {
		return p, operate.Refuse("%s%s", why, m.orAbort(s, j))
	}
	switch step.Act { //nolint:exhaustive // the others are something to do
	case membership.Wait, membership.Stop:
		p.Facts = append(p.Facts, "waits for: "+step.Message)
	case membership.Done:
		p.Facts = append(p.Facts, "all steps are done")
	default:
		p.Facts = append(p.Facts, "the next step: "+m.describe(s, step, false))
	}
	return p, nil
}

// orAbort returns how a change of which no step may be done is ended, empty where that would be refused, too: nothing may
// be left to undo.
func (m *Members) orAbort(s *observation, j *Change) string {
	undone := s.recordOf(j)
	if undone.Undo = true; j.Undo || membership.Next(s.ClusterState, undone).Act != membership.Done {
		return ""
	}
	return fmt.Sprintf(". It has changed nothing that is to be undone, so this ends it, too: %s -n %s", j.Abort(m.Owner), m.Owner.Namespace)
}

// restores returns what is left of an operation restores, as facts.
func restores(j *Change, before found, undo bool) []string {
	how := "at its end, it restores "
	switch {
	case j.Operation == membership.ScaleIn, !undo && j.Operation == membership.ScaleOut:
		return nil
	case undo:
		how = "undoing restores "
	}
	var facts []string
	for _, value := range before.values() {
		facts = append(facts, how+value)
	}
	return facts
}

// undoSteps returns the steps that undo an operation.
func undoSteps(j *Change) []string {
	const restored = "restore template and update strategy"
	switch j.Operation {
	case membership.ScaleIn:
		claims := "replica, pod and volume claims"
		if j.KeepClaims {
			claims = "replica and pod"
		}
		return []string{"delete " + claims + " of a member that has left etcd already", "remove no other member"}
	case membership.Replace:
		return []string{"remove the learner that was added", restored, "a member that was removed stays removed, until it is replaced again"}
	case membership.ScaleOut:
	}
	return []string{"remove a learner that was added, its replica, pod and volume claims", restored, "members that already vote stay"}
}

// Needs returns the permissions that a change of members uses.
func (m *Members) Needs() []operate.Need {
	o := m.Owner
	need := operate.NeedIn(o.Namespace)
	return []operate.Need{
		need("get", "apps", "statefulsets", "", o.StatefulSet), need("patch", "apps", "statefulsets", "", o.StatefulSet),
		need("list", "", "pods", "", ""), need("patch", "", "pods", "", ""), need("delete", "", "pods", "", ""),
		need("create", "", "pods", "portforward", ""),
		need("get", "", "persistentvolumeclaims", "", ""), need("delete", "", "persistentvolumeclaims", "", ""),
		need("list", "", "services", "", ""), need("list", "policy", "poddisruptionbudgets", "", ""),
		need("get", "", "configmaps", "", journal.Name(o)), need("create", "", "configmaps", "", ""),
		need("patch", "", "configmaps", "", journal.Name(o)), need("delete", "", "configmaps", "", journal.Name(o)),
	}
}

// configNeeds returns the permissions for the ConfigMaps from which new members read their initial
// cluster.
func (m *Members) configNeeds(j *Change) []operate.Need {
	var needs []operate.Need
	for _, name := range slices.Sorted(maps.Keys(j.Found.Configs)) {
		for _, verb := range []string{"get", "patch"} {
			needs = append(needs, operate.Need{Verb: verb, Resource: "configmaps", Namespace: m.Owner.Namespace, Name: name})
		}
	}
	return needs
}
