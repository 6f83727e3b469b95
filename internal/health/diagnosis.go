// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// DiagnosisChecks returns checks that need every fact of a diagnosis: those of status, and the one
// that judges the volume claims.
func DiagnosisChecks() []Check {
	return append(StatusChecks(), slices.DeleteFunc(All(), func(c Check) bool { return c.needs&NeedClaims == 0 })...)
}

// Recovery returns the facts of the recovery rule.
func (f *Facts) Recovery() recovery.Facts {
	c, p := f.Cluster.Value.Cluster, f.Owner.Product()
	r := recovery.Facts{
		At: f.At, HealsNothing: p.HealsNothing, Sidecar: p.BackupRestore, Managed: f.Owner.Membership().Manager != flavour.Unmanaged, Bare: f.Owner.WithoutStatefulSet(),
		NotRestorable: f.Owner.NotRestorable(f.Etcd.Value != nil && f.Etcd.Value.Spec.Backup.Store != nil),
		Desired:       f.Size(), Voters: f.voters().total, ListKnown: f.listKnown(), Replicas: f.Size(),
		BackupReady: c.BackupReady, Store: c.BackupReady.Status != policy.Absent, Backups: f.hasBackups(),
		Revision: f.newestRevision(), Backup: f.backupRevision(),
		Alarms: f.alarmsRaised(), Clusters: f.Clusters(), Created: f.Owner.Created.Time, Operation: c.Operation, TrafficCut: c.TrafficCut,
		ScaledIn: f.scaledIn(), AwayGone: f.awayGone(),
		Misaddressed: f.misaddressedNames(), Unread: f.unread(),
	}
	if p.ReportsStatus {
		r.Reporter = p.Membership.ManagerName
	}
	r.Members = f.recoveryMembers()
	elsewhere := 0 // members that other workloads run
	for _, l := range f.Survey.Value.List {
		elsewhere += toInt(f.listKnown() && f.runsElsewhere(l))
	}
	for _, m := range r.Members {
		// One that follows the leader runs, also where its pod is not known.
		r.ReadyPods += toInt(m.Pod == recovery.PodReady || m.Asked && m.Answer == recovery.Follows && m.Pod == recovery.PodMissing)
	}
	if f.Owner.StatefulSet == "" {
		r.Replicas = len(f.Pods.Value)
	}
	f.addOperation(&r)
	if e := f.Etcd.Value; e != nil {
		f.fromEtcd(&r, e)
	}
	r.Desired, r.Replicas = r.Desired+elsewhere, r.Replicas+elsewhere
	r.Formed = f.formed(r)
	return r
}

// addOperation adds the operation that is under way, or was interrupted.
func (f *Facts) addOperation(r *recovery.Facts) {
	u := f.UnderWay.Value
	if f.ended() {
		u = nil
	}
	r.HeldRollout = u == nil && f.held() && strings.HasPrefix(r.Operation, observe.RolloutUnderWay)
	if u == nil {
		return
	}
	r.Continuing, r.Unstopped = f.Continuing, f.Unstopped
	r.Operation, r.Interrupted, r.CutsTraffic, r.Replaced, r.SetsAside = u.Operation, u.Interrupted, f.KeepsClientsAway, f.Replaced, f.SetsAside
	if u.Change != "" {
		r.Operation = u.Change
	}
}

// fromEtcd adds what an Etcd shows: etcd-druid's conditions are evidence of what it knows, and the
// plugin's own would only repeat the members' state.
func (f *Facts) fromEtcd(r *recovery.Facts, e *druidv1alpha1.Etcd) {
	r.Desired = int(e.Spec.Replicas)
	r.AllMembersReady = f.Cluster.Value.Cluster.AllMembersReady
	r.Ready = observe.EtcdCondition(e, druidv1alpha1.ConditionTypeReady, f.At)
	r.Store = e.Spec.Backup.Store != nil
	if seen := e.Status.ObservedGeneration; seen == nil || *seen < e.Generation {
		r.Unreconciled = true
	}
	_, r.Requested = e.Annotations[druidv1alpha1.DruidOperationAnnotation]
	by, suspended := e.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation]
	r.Suspended, r.SuspendedByCut = suspended, by == v1alpha1.ClientTrafficKey && r.TrafficCut
}

// formed reports whether anything shows that the cluster has had a quorum.
func (f *Facts) formed(r recovery.Facts) bool {
	if f.listKnown() || f.LastVoters > 0 || f.Clusters() > 0 {
		return true
	}
	if e := f.Etcd.Value; e != nil && len(e.Status.Members) > 0 {
		return true
	}
	return slices.ContainsFunc(r.Members, func(m recovery.Member) bool {
		return m.Lease == recovery.LeaseFresh || m.Lease == recovery.LeaseExpired || m.Pod == recovery.PodReady && (m.Answer == recovery.NotAsked || m.Answer == recovery.Unreachable)
	})
}

// hasBackups returns whether a backup has been written, Unknown where no lease shows it.
func (f *Facts) hasBackups() policy.Status {
	name := f.Owner.Annotations[v1alpha1.BackupLeaseAnnotation]
	if e := f.Etcd.Value; e != nil {
		name = druidv1alpha1.GetFullSnapshotLeaseName(e.ObjectMeta)
	}
	if name == "" || f.Leases.Err != nil {
		return policy.Unknown
	}
	if _, renewed := f.renewal(name); renewed {
		return policy.True
	}
	return policy.False
}

// newestRevision returns the highest revision that a member reported, 0 if none did.
func (f *Facts) newestRevision() int64 {
	newest := int64(0)
	for _, m := range f.Responding() {
		newest = max(newest, m.Revision)
	}
	return newest
}

// backupRevision returns the highest revision of the backups, by their leases, 0 for unknown.
func (f *Facts) backupRevision() int64 {
	newest := int64(0)
	for i := range f.Leases.Value {
		if l := &f.Leases.Value[i]; slices.Contains(f.backupLeases(), l.Name) {
			revision, _ := strconv.ParseInt(ptr.Deref(l.Spec.HolderIdentity, ""), 10, 64) // 0 for unknown
			newest = max(newest, revision)
		}
	}
	return newest
}

// backupLeases returns the names of the leases that show how far the backups are.
func (f *Facts) backupLeases() []string {
	if e := f.Etcd.Value; e != nil {
		return []string{druidv1alpha1.GetFullSnapshotLeaseName(e.ObjectMeta), druidv1alpha1.GetDeltaSnapshotLeaseName(e.ObjectMeta)}
	}
	if name := f.Owner.Annotations[v1alpha1.BackupLeaseAnnotation]; name != "" {
		return []string{name}
	}
	return nil
}

// alarmsRaised returns the kinds of alarms that are raised, also those of members that are gone.
func (f *Facts) alarmsRaised() []string {
	var all []string
	for _, m := range f.Responding() {
		all = append(all, m.Alarms...)
	}
	for _, a := range f.Survey.Value.Strays {
		all = append(all, a.Type)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unread returns the facts that could not be read.
func (f *Facts) unread() []string {
	var out []string
	for _, fact := range []struct {
		name string
		err  error
	}{
		{"pods", f.Pods.Err}, {"the StatefulSet", f.StatefulSet.Err}, {"the Etcd", f.Etcd.Err}, {"leases", f.Leases.Err}, {"members' answers", f.Survey.Err},
		{"volume claims", cmp.Or(f.Claims.Err, f.Away.Err)}, {"the cluster's objects", f.Cluster.Err}, {"operations under way", f.UnderWay.Err},
	} {
		if fact.err != nil {
			out = append(out, fact.name)
		}
	}
	return out
}

// leaseState returns the state of a lease that a member renews, by the limit of etcd-druid: a row of DEP-01 must hold
// when etcd-druid acts by it. The facts of a cluster count the member as down earlier, after three heartbeats, because
// an eviction must not rely on a member that may be dead.
func (f *Facts) leaseState(name string) (recovery.Lease, time.Time) {
	for i := range f.Leases.Value {
		l := &f.Leases.Value[i]
		switch {
		case l.Name != name:
		case l.Spec.RenewTime == nil:
			return recovery.LeaseNever, time.Time{}
		case f.At.Sub(l.Spec.RenewTime.Time) > recovery.UnknownGrace:
			return recovery.LeaseExpired, l.Spec.RenewTime.Time
		default:
			return recovery.LeaseFresh, l.Spec.RenewTime.Time
		}
	}
	return recovery.NoLease, time.Time{}
}
