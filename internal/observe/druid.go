// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	// heartbeats is how many of them a member may miss.
	heartbeats = 3
	// defaultHeartbeat is druid's where spec.etcd.heartbeatDuration is not set.
	defaultHeartbeat = 10 * time.Second
	// etcdContainer is the container of a druid pod that runs the member.
	etcdContainer = "etcd"
)

// druid reads the members and conditions of an Etcd.
//
// It can't distinguish learners: backup-restore writes Member for voters and learners alike, and
// the Etcd's status copies it. That is safe: etcd-wrapper's readiness probe is a linearizable read,
// which a learner refuses, so a learner has a fresh lease and an unready pod.
func (r *Reader) druid(ctx context.Context, w *Workload, f *Facts) error {
	leases, err := r.memberLeases(ctx, w.etcd)
	if err != nil {
		return err
	}
	limit, nodes := heartbeats*heartbeat(w.etcd), r.nodesOf(ctx, w.Pods)
	leader, anyFresh := latestLeader{}, false
	for _, pod := range w.Pods {
		m := memberOf(pod, nodes)
		if lease := leases[pod.Name]; lease != nil {
			age := r.Leases.Age(lease, limit)
			anyFresh = anyFresh || age.Age <= limit
			m.Ready = age.Age <= limit && leaseMatchesPod(lease, pod)
			f.noteLeaseAge(m.Ready, age, limit)
			leader.consider(lease, age, len(f.Cluster.Members))
			delete(leases, pod.Name)
		}
		f.addMember(m)
	}
	leader.mark(f.Cluster.Members)
	f.addMembersWithoutPod(leases, w)
	f.Cluster.AllMembersReady = f.druidCondition(w.etcd, druidv1alpha1.ConditionTypeAllMembersReady)
	f.Cluster.BackupReady = f.druidCondition(w.etcd, druidv1alpha1.ConditionTypeBackupReady)
	given := f.Cluster.AllMembersReady
	f.Cluster.Stale = len(f.Cluster.Members) > 0 && !anyFresh && (given.Status == policy.Absent || given.Age > policy.EvidenceLimit)
	f.addUnreconciled(w)
	return nil
}

// addUnreconciled adds that an Etcd asks for more members than etcd-druid has acted on. AllMembersReady is
// then False because fewer members are in the status than in the spec, which proves nothing.
func (f *Facts) addUnreconciled(w *Workload) {
	e, have := w.etcd, owner.ReconciledReplicas(w.etcd, w.StatefulSet)
	if e.Spec.Replicas <= have {
		return
	}
	if len(e.Status.Members) < int(e.Spec.Replicas) {
		f.Cluster.AllMembersReady = policy.Condition{}
	}
	how := fmt.Sprintf("to request that, run: kubectl annotate %s -n %s %s=%s", w.owner.Target(), e.Namespace, druidv1alpha1.DruidOperationAnnotation, druidv1alpha1.DruidOperationReconcile)
	if key := druidv1alpha1.GetSuspendEtcdSpecReconcileAnnotationKey(e.ObjectMeta); key != nil {
		how = fmt.Sprintf("the annotation %s keeps it from that", *key)
	}
	f.note(reasons.ReplicasNotReconciled, "%s asks for %s, and etcd-druid has not acted on that, so the cluster counts as one of %s; %s", w.owner, policy.Count(int(e.Spec.Replicas), "member"), policy.Count(int(have), "member"), how)
}

// memberLeases lists the leases that were ever held, by the name of the pod. Lease and member may
// have a prefix that the pod doesn't have.
func (r *Reader) memberLeases(ctx context.Context, etcd *druidv1alpha1.Etcd) (map[string]*coordinationv1.Lease, error) {
	var list coordinationv1.LeaseList
	err := r.List(ctx, &list, client.InNamespace(etcd.Namespace), client.UnsafeDisableDeepCopy, client.MatchingLabels{
		druidv1alpha1.LabelPartOfKey:    etcd.Name,
		druidv1alpha1.LabelComponentKey: source.MemberLeaseComponent,
	})
	if err != nil {
		return nil, fmt.Errorf("list leases of Etcd %s/%s: %w", etcd.Namespace, etcd.Name, err)
	}
	prefix := ""
	if p := etcd.Spec.MemberNamePrefix; p != nil && *p != "" {
		prefix = *p + "-"
	}
	leases := map[string]*coordinationv1.Lease{}
	for i := range list.Items {
		lease := &list.Items[i]
		if pod, ok := strings.CutPrefix(lease.Name, prefix); ok && lease.Spec.RenewTime != nil {
			leases[pod] = lease
		}
	}
	return leases, nil
}

func heartbeat(etcd *druidv1alpha1.Etcd) time.Duration {
	if d := etcd.Spec.Etcd.HeartbeatDuration; d != nil && d.Duration > 0 {
		return d.Duration
	}
	return defaultHeartbeat
}

// leaseMatchesPod reports whether the process that runs in a pod now can have renewed a lease. After
// a restart the lease is that of the process before: it was renewed before the container started, by
// the clock of the node that both ran on.
func leaseMatchesPod(lease *coordinationv1.Lease, pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	since, runs := podstate.ContainerSince(pod, etcdContainer)
	return runs && lease.Spec.RenewTime.After(since)
}

// noteLeaseAge records when a ready member's lease will be too old, and whether its age is confirmed.
func (f *Facts) noteLeaseAge(ready bool, age leaseclock.Age, limit time.Duration) {
	if !ready {
		return
	}
	f.changeIn(limit - age.Age + time.Millisecond)
	f.Confirmed = f.Confirmed && age.Confirmed
}

// latestLeader finds the member whose lease was last to name it leader. The lease of a member that
// lost its connection may still name it.
type latestLeader struct {
	found bool
	at    int
	age   time.Duration
}

func (y *latestLeader) consider(lease *coordinationv1.Lease, age leaseclock.Age, at int) {
	if holderRole(lease) == druidv1alpha1.EtcdRoleLeader && (!y.found || age.Age < y.age) {
		*y = latestLeader{found: true, at: at, age: age.Age}
	}
}

func (y *latestLeader) mark(members []policy.Member) {
	if y.found {
		members[y.at].Leader = true
	}
}

// holderRole returns the role in a member lease's holder, which is id:cluster:role, or id:role in
// older versions of backup-restore.
func holderRole(lease *coordinationv1.Lease) druidv1alpha1.EtcdRole {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	parts := strings.Split(*lease.Spec.HolderIdentity, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return ""
	}
	return druidv1alpha1.EtcdRole(parts[len(parts)-1])
}

// addMembersWithoutPod adds the members that have a lease and no pod. A lease beyond the replicas may
// be of a voter or of a removed member: only etcd's member list knows. So it counts as a member, and
// a note reports it, except in a hibernated cluster, whose members all come back.
func (f *Facts) addMembersWithoutPod(leases map[string]*coordinationv1.Lease, w *Workload) {
	for _, pod := range slices.Sorted(func(yield func(string) bool) {
		for name := range leases {
			if !yield(name) {
				return
			}
		}
	}) {
		f.Cluster.Members = append(f.Cluster.Members, policy.Member{Pod: pod})
		if w.owner.Replicas > 0 && w.owner.Ordinal(pod) >= max(int(w.owner.Replicas), w.replicas()) {
			f.note(reasons.LeaseWithoutMember, "lease %s is of a member beyond the %d replicas of %s and counts as a dead one; if that member was removed from etcd, delete the lease",
				leases[pod].Name, w.owner.Replicas, w.owner)
		}
	}
	slices.SortStableFunc(f.Cluster.Members, func(a, b policy.Member) int {
		return w.owner.Ordinal(a.Pod) - w.owner.Ordinal(b.Pod)
	})
}

// druidCondition returns a condition of an Etcd, and notes when it is too old to count.
func (f *Facts) druidCondition(etcd *druidv1alpha1.Etcd, kind druidv1alpha1.ConditionType) policy.Condition {
	c := EtcdCondition(etcd, kind, f.At)
	if c != (policy.Condition{}) && c.Age <= policy.EvidenceLimit {
		f.changeIn(policy.EvidenceLimit - c.Age + time.Millisecond)
	}
	return c
}

// EtcdCondition returns a condition of an Etcd at a time. Its age is the time since druid last checked it.
// It is zero if there is none.
func EtcdCondition(etcd *druidv1alpha1.Etcd, kind druidv1alpha1.ConditionType, at time.Time) policy.Condition {
	for _, c := range etcd.Status.Conditions {
		if c.Type != kind {
			continue
		}
		out := policy.Condition{Status: policy.Unknown, Reason: c.Reason, Age: max(0, at.Sub(c.LastUpdateTime.Time))}
		// At 0 replicas druid keeps the old status of a condition that it doesn't check.
		if c.Reason != reasons.NotChecked.Name() && (c.Status == druidv1alpha1.ConditionTrue || c.Status == druidv1alpha1.ConditionFalse) {
			out.Status = policy.Status(c.Status)
		}
		return out
	}
	return policy.Condition{}
}
