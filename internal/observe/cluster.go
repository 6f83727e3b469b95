// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Facts describe one cluster at one time, and for how long they hold if no object changes.
type Facts struct {
	Cluster policy.Cluster
	Budgets Budgets
	// Largest is the largest size that the cluster has had, to be recorded.
	Largest annotation.LargestSize
	// neverGrew is true if the workload shows that the cluster has all of its members since it was created, or that
	// something else shows its learners.
	neverGrew bool
	// joinedAt is how many members were there before each of the pods.
	joinedAt map[string]int
	// sizeText is the owner's annotation with the number of voters.
	sizeText string
	// asked is the size that its owner asks for.
	asked int
	// elsewhere counts the listed members that no workload of the namespace has, and those that list the
	// cluster and are not ready.
	elsewhere int
	// listed counts the members that the members list.
	listed int
	// peersUnknown is why it is not known which other members there are, empty if it is known.
	peersUnknown string
	// Running is true once the workload exists. A user or an operator who creates a budget has
	// done so by then.
	Running bool
	// Replicas is the number from which the disruption controller subtracts maxUnavailable.
	Replicas int
	// At is when the facts were read.
	At time.Time
	// NextChange is after how long the facts change by time alone: a lease expires, or a pod
	// has been ready long enough. Zero for never.
	NextChange time.Duration
	// Confirmed is false while a member's health depends on a lease that was read for the first
	// time just now, or on an answer that is awaited. No budget may be loosened by such facts.
	Confirmed bool
	// Notes are what users should know about how the facts were found.
	Notes []policy.Note
}

// Cluster reads the facts of an owner's cluster that the rules use.
func (r *Reader) Cluster(ctx context.Context, owner owner.Owner) (policy.Cluster, error) {
	f, err := r.Facts(ctx, owner)
	return f.Cluster, err
}

// Facts reads an owner's cluster and its budgets.
func (r *Reader) Facts(ctx context.Context, owner owner.Owner) (Facts, error) {
	return r.FactsAs(ctx, owner, nil)
}

// FactsAs reads the facts as if a budget were already stored as given.
func (r *Reader) FactsAs(ctx context.Context, o owner.Owner, pdb *policyv1.PodDisruptionBudget) (Facts, error) {
	w, err := r.Workload(ctx, o)
	if err != nil {
		return Facts{}, err
	}
	f := Facts{
		Cluster: policy.Cluster{Namespace: o.Namespace, Name: o.Name, Target: o.Target().String(), Undeclared: o.WithoutStatefulSet(), Operation: w.operation()},
		Running: w.StatefulSet != nil || o.WithoutStatefulSet(), Replicas: w.replicas(), At: r.Leases.Clock.Now(), Confirmed: true,
	}
	if w.StatefulSet != nil {
		if err := etcdconf.MemberOf(etcdconf.PodOfTemplate(w.StatefulSet)).Err; err != nil {
			f.note(reasons.ContainerUnknown, "StatefulSet %s/%s: %s", w.StatefulSet.Namespace, w.StatefulSet.Name, err)
		}
	}
	if f.Budgets, err = r.budgets(ctx, &w, pdb); err != nil {
		return f, err
	}
	f.Cluster.NonMemberPods = f.Budgets.NonMemberPods
	f.asked = max(int(o.Replicas), w.replicas()) + len(o.PodsBeside)
	f.elsewhere, f.listed, f.peersUnknown = o.MembersDown(), o.MembersListed(), o.UnknownPeers()
	f.sizeText, f.neverGrew = o.SizeText(), w.neverGrew()
	f.Largest = f.largest(f.Budgets.Largest)
	f.Replicas = f.Budgets.expected(f.Replicas)
	if err := r.traffic(ctx, &w, &f); err != nil {
		return f, err
	}
	// A hibernated cluster still has its leases, and druid's conditions are those from before.
	// No member of it runs, and none is missing.
	if o.Replicas == 0 && len(w.Pods) == 0 {
		f.Cluster.Hibernated = f.Largest.N
		return f, nil
	}
	if w.etcd != nil {
		err = r.druid(ctx, &w, &f)
	} else {
		r.statefulSet(ctx, &w, &f)
	}
	f.addRestarting(&w)
	f.Largest = f.largest(f.Budgets.Largest)
	f.resize()
	f.noteUnknownSize(o)
	if f.Largest.Ahead(f.sizeText, f.At) {
		f.note(reasons.SizeAhead, "the annotation %s=%q of %s does not count yet, because its time is in the future; to declare the number of voters, %s",
			v1alpha1.SizeAnnotation, f.sizeText, o, f.Cluster.DeclareVoters("N"))
	}
	return f, err
}

// noteUnknownSize notes what would show which other members there are.
func (f *Facts) noteUnknownSize(o owner.Owner) {
	why := f.Cluster.SizeUnknown
	if o.WithoutStatefulSet() { // of several pods, it is not known whether they are all
		why = cmp.Or(why, o.UnknownPeers())
	}
	if why == "" {
		return
	}
	effect, how := "", "write the list of all members into the pod template of each member: the flag --initial-cluster, or the variable ETCD_INITIAL_CLUSTER with a plain value"
	if !o.WithoutStatefulSet() {
		effect = "Until it is known, a budget that etcd-webhook keeps allows no eviction. "
		how += "; or, " + f.Cluster.DeclareListed()
	}
	f.note(policy.SizeUnknown, "it is not known which members the cluster has beside %s: %s. %sTo show it, %s",
		policy.Count(max(1, len(f.Cluster.Members)), "known member"), why, effect, how)
}

// traffic reads whether client traffic is cut.
func (r *Reader) traffic(ctx context.Context, w *Workload, f *Facts) error {
	var services corev1.ServiceList
	if err := r.List(ctx, &services, client.InNamespace(w.owner.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Services of %s: %w", w.owner, err)
	}
	var err error
	f.Cluster.TrafficCut, err = r.trafficCut(ctx, w, services.Items)
	return err
}

// changeIn records that the facts change by time alone after d.
func (f *Facts) changeIn(d time.Duration) {
	if d = max(d, time.Millisecond); f.NextChange == 0 || d < f.NextChange {
		f.NextChange = d
	}
}

func (f *Facts) note(reason policy.Reason, format string, args ...any) {
	f.Notes = append(f.Notes, policy.NewNote(reason, format, args...))
}

// operation returns the scale or rollout under way, empty for none.
func (w *Workload) operation() string {
	if w.owner.WithoutStatefulSet() {
		return ""
	}
	if w.StatefulSet == nil {
		return fmt.Sprintf("StatefulSet %s is not created yet", w.owner.StatefulSet)
	}
	if w.etcd != nil {
		have, want := w.replicas(), int(w.etcd.Spec.Replicas)
		switch {
		case have == want:
		case int(owner.ReconciledReplicas(w.etcd, w.StatefulSet)) == want:
			return fmt.Sprintf("scale from %d to %d members", have, want)
		default:
			// Any reconcile would begin it.
			return fmt.Sprintf("scale from %d to %d members, which etcd-druid has not begun", have, want)
		}
	}
	for _, sts := range w.Sets() {
		if operation := operationOf(sts); operation != "" {
			return operation
		}
	}
	return ""
}

// RolloutUnderWay is how an operation that is a rollout begins.
const RolloutUnderWay = "rollout"

// operationOf returns the scale or rollout of a StatefulSet, empty for none.
func operationOf(sts *appsv1.StatefulSet) string {
	want, have := owner.ReplicasOf(sts), int(sts.Status.Replicas)
	onDelete := sts.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
	switch s := sts.Status; {
	case s.ObservedGeneration < sts.Generation:
		return "an update that its controller has not observed yet"
	case have < want && sts.Generation == 1: // no one has changed it since its creation
		return fmt.Sprintf("StatefulSet %s has created %d of its %d pods", sts.Name, have, want)
	case have != want:
		return fmt.Sprintf("scale from %d to %d members", have, want)
	// Kubernetes before 1.36 never calls an update by OnDelete complete (issue 73492).
	case onDelete && int(s.UpdatedReplicas) == want:
	case s.UpdateRevision != s.CurrentRevision:
		return fmt.Sprintf(RolloutUnderWay+", %d of %d members updated", s.UpdatedReplicas, want)
	}
	return ""
}
