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

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	// heartbeats is how many of them a member may miss.
	heartbeats = 3
	// defaultHeartbeat is druid's where spec.etcd.heartbeatDuration is not set.
	defaultHeartbeat = 10 * time.Second
	// notChecked is druid's reason for a condition that it no longer looks
	// after, at 0 replicas, while it keeps the condition's old status.
	notChecked = "NotChecked"
	// leaseComponent is the label of members' leases, and of no others.
	leaseComponent = "etcd-member-lease"
	// etcdContainer is the container of a druid pod whose process is the member.
	etcdContainer = "etcd"
)

// druid reads the members and conditions of an Etcd.
//
// Whether a member is a learner can't be known from here: backup-restore
// writes Member for voters and learners alike, and the Etcd's status copies it.
// It does no harm: etcd-wrapper's readiness is a linearizable read, which a
// learner can't answer, so a learner has a fresh lease and an unready pod.
func (r *Reader) druid(ctx context.Context, w *workload, f *Facts) error {
	leases, err := r.memberLeases(ctx, w.etcd)
	if err != nil {
		return err
	}
	limit := heartbeats * heartbeat(w.etcd)
	leader, heard := youngestLeader{}, false
	for _, pod := range w.pods {
		m := r.member(ctx, pod)
		if lease := leases[pod.Name]; lease != nil {
			age := r.Leases.Age(lease, limit)
			heard = heard || age.Age <= limit
			m.Ready = age.Age <= limit && speaksFor(lease, pod)
			f.aging(m.Ready, age, limit)
			leader.consider(lease, age, len(f.Cluster.Members))
			delete(leases, pod.Name)
		}
		f.Cluster.Members = append(f.Cluster.Members, m)
	}
	leader.mark(f.Cluster.Members)
	f.withoutPod(leases, w)
	f.Cluster.AllMembersReady = f.druidCondition(w.etcd, druidv1alpha1.ConditionTypeAllMembersReady)
	f.Cluster.BackupReady = f.druidCondition(w.etcd, druidv1alpha1.ConditionTypeBackupReady)
	given := f.Cluster.AllMembersReady
	f.Cluster.Stale = len(f.Cluster.Members) > 0 && !heard && (given.Status == policy.Absent || given.Age > policy.EvidenceLimit)
	return nil
}

// memberLeases are the leases that were ever held, by the name of the pod:
// lease and member may carry a prefix that the pod doesn't.
func (r *Reader) memberLeases(ctx context.Context, etcd *druidv1alpha1.Etcd) (map[string]*coordinationv1.Lease, error) {
	var list coordinationv1.LeaseList
	err := r.List(ctx, &list, client.InNamespace(etcd.Namespace), client.UnsafeDisableDeepCopy, client.MatchingLabels{
		druidv1alpha1.LabelPartOfKey:    etcd.Name,
		druidv1alpha1.LabelComponentKey: leaseComponent,
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

// speaksFor says whether a lease can be a sign of life of the etcd that runs
// in the pod now. A restarted member's lease is still that of the process
// before it: renewed before the container started, as told by the clock of the
// one node that both ran on.
func speaksFor(lease *coordinationv1.Lease, pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == etcdContainer })
	if i < 0 {
		return false
	}
	running := pod.Status.ContainerStatuses[i].State.Running
	return running != nil && lease.Spec.RenewTime.After(running.StartedAt.Time)
}

// aging notes when a member's lease will be too old, or too long unchanged to
// be taken on trust.
func (f *Facts) aging(ready bool, age LeaseAge, limit time.Duration) {
	if !ready {
		return
	}
	f.changeIn(limit - age.Age + time.Millisecond)
	f.Confirmed = f.Confirmed && age.Confirmed
}

// youngestLeader finds the member that last said it leads: a member that was
// cut off says so in its lease for as long as it is.
type youngestLeader struct {
	found bool
	at    int
	age   time.Duration
}

func (y *youngestLeader) consider(lease *coordinationv1.Lease, age LeaseAge, at int) {
	if holderRole(lease) == druidv1alpha1.EtcdRoleLeader && (!y.found || age.Age < y.age) {
		*y = youngestLeader{found: true, at: at, age: age.Age}
	}
}

func (y *youngestLeader) mark(members []policy.Member) {
	if y.found {
		members[y.at].Leader = true
	}
}

// holderRole is the last part of a member lease's holder, which is
// id:cluster:role, or id:role from older versions of backup-restore.
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

// withoutPod adds the members that have a lease and no pod. One beyond the
// replicas may be a voter that was left behind or a lease that was: only
// etcd's member list knows, so it counts, and a person is told: not of a cluster
// that sleeps, whose members all come back.
func (f *Facts) withoutPod(leases map[string]*coordinationv1.Lease, w *workload) {
	for _, pod := range slices.Sorted(func(yield func(string) bool) {
		for name := range leases {
			if !yield(name) {
				return
			}
		}
	}) {
		f.Cluster.Members = append(f.Cluster.Members, policy.Member{Pod: pod})
		if w.owner.Replicas > 0 && w.owner.Ordinal(pod) >= max(int(w.owner.Replicas), w.replicas()) {
			f.note("LeaseWithoutMember", "lease %s is of a member beyond the %d replicas of %s and counts as a dead one; if that member was removed from etcd, delete the lease",
				leases[pod].Name, w.owner.Replicas, w.owner)
		}
	}
	slices.SortStableFunc(f.Cluster.Members, func(a, b policy.Member) int {
		return w.owner.Ordinal(a.Pod) - w.owner.Ordinal(b.Pod)
	})
}

// druidCondition reads a condition of druid's own type. Its age counts from
// when druid last confirmed it.
func (f *Facts) druidCondition(etcd *druidv1alpha1.Etcd, kind druidv1alpha1.ConditionType) policy.Condition {
	for _, c := range etcd.Status.Conditions {
		if c.Type != kind {
			continue
		}
		out := policy.Condition{
			Status: policy.Unknown, Reason: c.Reason,
			Age: max(0, f.At.Sub(c.LastUpdateTime.Time)),
		}
		if c.Reason != notChecked && (c.Status == druidv1alpha1.ConditionTrue || c.Status == druidv1alpha1.ConditionFalse) {
			out.Status = policy.Status(c.Status)
		}
		if out.Age <= policy.EvidenceLimit {
			f.changeIn(policy.EvidenceLimit - out.Age + time.Millisecond)
		}
		return out
	}
	return policy.Condition{}
}
