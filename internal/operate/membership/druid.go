// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// maxOrdinals is how many ordinals are searched for volumes that remain.
const maxOrdinals = policy.MaxScale + 1

// DruidNeeds returns the permissions that scaling an Etcd uses.
func (m *Members) DruidNeeds() []operate.Need {
	o := m.Owner
	need := operate.NeedIn(o.Namespace)
	return append([]operate.Need{
		need("get", druidv1alpha1.GroupName, "etcds", "", o.Name), need("patch", druidv1alpha1.GroupName, "etcds", "", o.Name),
		need("patch", druidv1alpha1.GroupName, "etcds", "scale", o.Name),
		need("get", "apps", "statefulsets", "", o.StatefulSet), need("list", "", "pods", "", ""),
		need("create", "", "pods", "portforward", ""), need("get", "", "persistentvolumeclaims", "", ""),
	}, druidViewNeeds(o)...)
}

// druidViewNeeds returns the permissions to check whether an Etcd is healthy enough for a change.
func druidViewNeeds(o owner.Owner) []operate.Need {
	return []operate.Need{
		{Verb: "list", Resource: "services", Namespace: o.Namespace},
		{Verb: "list", Group: "policy", Resource: "poddisruptionbudgets", Namespace: o.Namespace},
		{Verb: "list", Group: "coordination.k8s.io", Resource: "leases", Namespace: o.Namespace},
	}
}

// PlanDruidScale checks whether etcd-druid can scale an Etcd, and returns the plan. The error is a
// *RefusedError where it can't. The plan is empty where the Etcd has that size already.
// saved is a file with a snapshot of the cluster, which is required before all members stop.
func (m *Members) PlanDruidScale(ctx context.Context, target int, saved string) (operate.Plan, error) {
	plan, err := m.planDruidScale(ctx, target)
	if err != nil || plan.Title == "" || target > 0 {
		return plan, err
	}
	fact, err := m.savedBefore(ctx, saved)
	plan.Facts = append(plan.Facts, fact)
	return plan, err
}

func (m *Members) planDruidScale(ctx context.Context, target int) (operate.Plan, error) {
	what := fmt.Sprintf("scale %s to %s", m.Owner, policy.Count(target, "member"))
	if err := tooMany(what, target); err != nil {
		return operate.Plan{}, err
	}
	e, err := operate.ReadEtcd(ctx, m.Kube, m.Owner)
	if err != nil {
		return operate.Plan{}, err
	}
	now, err := m.reconciledSize(ctx, e)
	if err != nil {
		return operate.Plan{}, err
	}
	f := &operate.Findings{}
	if _, suspended := e.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation]; suspended {
		f.Refuse("annotation %s keeps etcd-druid from acting on it: remove that first", druidv1alpha1.SuspendEtcdSpecReconcileAnnotation)
	}
	if target == now && target == int(e.Spec.Replicas) {
		return m.already(target), f.Refused(what)
	}
	if err := m.judgeDruid(ctx, what, int(e.Spec.Replicas), now, target, f); err != nil {
		return operate.Plan{}, err
	}
	refuseEven(target, f)
	return operate.Plan{
		Title: fmt.Sprintf("scale %s from %d to %s", m.Owner, now, policy.Count(target, "member")), Facts: f.Facts, Warnings: f.Warnings,
		Steps: []string{fmt.Sprintf("set its replicas to %d", target), "request a reconciliation from etcd-druid", awaitStep(target)},
	}, f.Refused(what)
}

// judgeDruid checks whether etcd-druid can scale an Etcd to target. now is how many members it runs,
// and spec is how many the Etcd has in its spec.
func (m *Members) judgeDruid(ctx context.Context, what string, spec, now, target int, f *operate.Findings) error {
	if spec != now {
		f.Fact("its replicas are %d, and etcd-druid has not reconciled that: it runs %d", spec, now)
	}
	switch {
	case target > 0 && target < max(now, spec):
		f.Refuse("etcd-druid does not scale in: an Etcd of %d can get more members, or 0, which stops all and keeps their volumes; to have %d, restore a backup into a new Etcd of that size", max(now, spec), target)
	case target == now:
	case now == 0:
		if err := m.checkDruidWake(ctx, target, f); err != nil {
			return err
		}
		return m.checkTrafficCut(ctx, f)
	case target == 0:
		f.Warn("All members stop, and their volumes stay. To start them again, use the same number: --replicas %d.", now)
	default:
		return m.checkDruidScaleOut(ctx, what, now, target, spec == now, f)
	}
	return nil
}

// reconciledSize returns the size to which etcd-druid has scaled a cluster, or is scaling it. It
// differs from the spec's where a user has changed only that.
func (m *Members) reconciledSize(ctx context.Context, e *druidv1alpha1.Etcd) (int, error) {
	sts, err := operate.ReadStatefulSet(ctx, m.Kube, m.Owner)
	switch {
	case apierrors.IsNotFound(err):
		sts = nil
	case err != nil:
		return 0, err
	}
	return int(owner.ReconciledReplicas(e, sts)), nil
}

// checkDruidWake refuses to start another number of members than was stopped: their data still has
// all of them.
func (m *Members) checkDruidWake(ctx context.Context, target int, f *operate.Findings) error {
	kept := 0
	for at := range maxOrdinals {
		for _, c := range m.Owner.Claims {
			var claim corev1.PersistentVolumeClaim
			err := m.Kube.Get(ctx, client.ObjectKey{Namespace: m.Owner.Namespace, Name: c.Template + "-" + m.Owner.PodName(at)}, &claim)
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("read PersistentVolumeClaim %s-%s: %w", c.Template, m.Owner.PodName(at), err)
			}
			if err == nil {
				kept = at + 1
			}
		}
	}
	f.Fact("it is stopped, with the volumes of %s", policy.Count(kept, "member"))
	if kept > 0 && kept != target {
		f.Refuse("it was stopped with %s, and their data counts all of them: start it with --replicas %d, which has a quorum, and then scale it", policy.Count(kept, "member"), kept)
	}
	return nil
}

// checkTrafficCut refuses to start members while client traffic is cut: their sidecars reach the
// others through the client Service.
func (m *Members) checkTrafficCut(ctx context.Context, f *operate.Findings) error {
	cluster, err := m.Reader.Cluster(ctx, m.Owner)
	if err != nil {
		f.Refuse("%s", cannotRead(err))
	}
	if v := policy.Precondition(policy.Cluster{Namespace: cluster.Namespace, Name: cluster.Name, Target: cluster.Target, TrafficCut: cluster.TrafficCut}, ""); v.Reason == policy.ClientTrafficCut {
		f.Refuse("%s", v.Message)
	}
	return nil
}

// checkDruidScaleOut refuses where a cluster isn't healthy, or new members could not join. reconciled
// is true where etcd-druid has reconciled its size, now.
func (m *Members) checkDruidScaleOut(ctx context.Context, what string, now, target int, reconciled bool, f *operate.Findings) error {
	s := &observation{pods: map[string]*corev1.Pod{}}
	if err := m.survey(ctx, s); err != nil {
		if none, ok := err.(*noQuorumError); ok { //nolint:errorlint // survey returns it as it is
			return &operate.RefusedError{What: what, Why: []string{memberlist.NoQuorum(none.survey, m.Owner)}}
		}
		return err
	}
	peers := memberlist.Peers(m.Owner, s.survey)
	if v := membership.MayAdd(peers); !v.Allowed {
		f.Refuse("%s", v.Message)
	} else {
		f.Fact("%s, quorum is %d", v.Message, policy.Quorum(len(peers)))
	}
	checkAlarms(s.survey, m.Owner, "", f)
	cluster, err := m.Reader.Cluster(ctx, m.Owner)
	if !reconciled {
		cluster = ofSize(cluster, now)
	}
	switch {
	case err != nil:
		f.Refuse("%s", cannotRead(err))
	case len(f.Refusals) == 0:
		if v := policy.Precondition(cluster, ""); !v.Allowed {
			f.Refuse("%s", v.Message)
		}
	}
	f.Warn("etcd-druid restarts the existing members, one by one, so that they know the new ones.")
	sts, err := operate.ReadStatefulSet(ctx, m.Kube, m.Owner)
	if err != nil {
		return err
	}
	return m.warnOfNodes(ctx, s, etcdconf.NextPod(sts, &sts.Spec.Template, m.Owner.PodName(target-1)), target, f)
}

// ofSize returns a cluster without the members that etcd-druid counts and has not created: they are
// no operation under way, and don't affect the health of the others.
func ofSize(c policy.Cluster, size int) policy.Cluster {
	c.Operation, c.Size, c.AllMembersReady = "", size, policy.Condition{}
	c.Members = c.Members[:min(size, len(c.Members))]
	return c
}
