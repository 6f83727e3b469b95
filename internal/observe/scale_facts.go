// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
)

// ScaleWrite is a write of the replicas of an Etcd or a StatefulSet.
type ScaleWrite struct {
	// Etcd is true for an Etcd, false for a StatefulSet.
	Etcd            bool
	Namespace, Name string
	// Now and Asked are the replicas before and after it.
	Now, Asked int
	// Size is the size annotation that the write sets, empty if it sets none.
	Size string
	// WhenScaled is what the StatefulSet does with the claims of removed replicas after the
	// write, nil if the write doesn't contain it.
	WhenScaled *appsv1.PersistentVolumeClaimRetentionPolicyType
}

// OwnerOfScale returns the cluster that a write of replicas scales. It returns false for one that
// is no etcd cluster.
func (r *Reader) OwnerOfScale(ctx context.Context, s ScaleWrite) (owner.Owner, bool, error) {
	if s.Etcd {
		return r.OwnerOfEtcd(ctx, types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
	}
	var sts appsv1.StatefulSet
	found, err := r.fetch(ctx, s.Namespace, s.Name, &sts)
	if err != nil {
		return owner.Owner{}, false, fmt.Errorf("observe StatefulSet %s/%s: %w", s.Namespace, s.Name, err)
	}
	if !found {
		return owner.Owner{}, false, nil
	}
	return r.OwnerOfStatefulSet(ctx, &sts)
}

// ScaleFacts reads the facts of the scale rule for a write of a cluster's replicas, and the cluster.
// It reads them from the API server: kubectl scale writes several StatefulSets within milliseconds.
func (r *Reader) ScaleFacts(ctx context.Context, s ScaleWrite) (scale.Facts, owner.Owner, error) {
	live := (&Reader{Reader: r.live(), Leases: r.Leases}).WithoutNodes()
	var budgets policyv1.PodDisruptionBudgetList
	if err := live.List(ctx, &budgets, client.InNamespace(s.Namespace)); err != nil {
		return scale.Facts{}, owner.Owner{}, fmt.Errorf("list budgets of namespace %s: %w", s.Namespace, err)
	}
	o, found, err := live.OwnerOfScale(ctx, s)
	if err != nil || !found {
		return scale.Facts{}, o, cmp.Or(err, fmt.Errorf("the owner of %s/%s is gone", s.Namespace, s.Name))
	}
	w, err := live.workload(ctx, o)
	if err != nil {
		return scale.Facts{}, o, err
	}
	facts, err := live.Facts(ctx, o)
	if err != nil {
		return scale.Facts{}, o, err
	}
	f := scale.Facts{
		Target: o.Target().String(), Namespace: o.Namespace, Now: s.Now, Asked: s.Asked, Druid: o.Flavour == owner.Druid,
		Follows: !s.Etcd && w.etcd != nil && int(w.etcd.Spec.Replicas) == s.Asked, Volumes: w.volumesOf(s),
	}
	w.membership(&f, s)
	claims, err := live.claimOrdinals(ctx, &w)
	if err != nil {
		return f, o, err
	}
	f.Held, facts.listed = len(claims), max(facts.listed, w.votersWithClaims(claims))
	if f.Voters, f.Declared = annotation.ParseSizeNow(s.Size, facts.At); !f.Declared {
		f.Voters = w.voters(&facts, f.Now, f.Held)
	}
	f.Unrecorded = facts.Budgets.Largest.Next(o.SizeText(), 0).N < f.Voters
	f.Ready, f.Staying = w.readyVoters(&facts, f.Voters, s, live.leaving(&w, budgets.Items))
	return f, o, nil
}

// membership sets who changes the members. In a cluster that spans several StatefulSets, the replicas
// of all count.
func (w *workload) membership(f *scale.Facts, s ScaleWrite) {
	m := w.owner.Membership()
	switch {
	case m.Manager == flavour.BySets:
		f.Sets, f.How = w.owner.WorkloadNames(), m.ScaleHow
		if s.Asked < s.Now {
			f.How = m.ScaleInHow
		}
	case !f.Druid && m.Manager != flavour.Unmanaged:
		if f.How = m.ScaleHow; s.Asked < s.Now && m.ScaleInHow != "" {
			f.How = m.ScaleInHow
		}
		if m.RemovesMembers {
			f.Manager = m.ManagerName
		}
	}
	if !w.owner.Spans() {
		return
	}
	for _, sts := range w.sets() {
		if sts.Name == s.Name {
			continue
		}
		f.Now, f.Asked = f.Now+replicasOf(sts), f.Asked+replicasOf(sts)
		if replicasOf(sts) == 0 {
			f.Stopped = append(f.Stopped, sts.Name)
		}
	}
}

// voters returns how many voters etcd has: the largest size that the cluster has had. What an Etcd
// asks for counts once its StatefulSet has that many replicas.
func (w *workload) voters(f *Facts, now, held int) int {
	n := max(f.Budgets.Largest.Next(w.owner.SizeText(), len(w.pods)).N, f.listed)
	switch {
	case len(w.pods) == 0 && n == 0:
		return held
	case len(w.pods) == 0:
		return n
	case w.owner.Spans():
		return max(n, now+f.elsewhere)
	case w.etcd == nil:
		return max(n, now)
	}
	return max(n, w.replicas())
}

// readyVoters counts the voters that are ready, and those of them that have a replica after the
// write and that aren't being evicted. It returns none while the age of their leases is unknown.
func (w *workload) readyVoters(f *Facts, voters int, s ScaleWrite, l Leaving) (ready, staying int) {
	if !f.Confirmed {
		return 0, 0
	}
	for _, m := range f.Cluster.Members {
		sts, ordinal := w.placeOf(m.Pod)
		if !m.Exists || !m.Ready || m.Learner || sts == nil || ordinal < 0 || !w.owner.Spans() && ordinal >= voters {
			continue
		}
		ready++
		replicas := replicasOf(sts)
		if s.Etcd || sts.Name == s.Name {
			replicas = s.Asked
		}
		evicted := slices.ContainsFunc(l.underWay, func(u eviction.UnderWay) bool { return u.Pod == m.Pod })
		if ordinal < replicas && !evicted {
			staying++
		}
	}
	return ready, staying
}

// volumesOf returns what becomes of the data of a workload that is scaled to 0.
func (w *workload) volumesOf(s ScaleWrite) scale.Volumes {
	sts, claims, whenScaled := w.sts, len(w.owner.Claims), s.WhenScaled
	for _, other := range w.rest {
		if other.Name == s.Name && !s.Etcd {
			sts, claims = other, len(other.Spec.VolumeClaimTemplates)
		}
	}
	if whenScaled == nil && sts != nil && sts.Spec.PersistentVolumeClaimRetentionPolicy != nil {
		whenScaled = &sts.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled
	}
	switch {
	case claims == 0:
		return scale.NoClaims
	case whenScaled != nil && *whenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType:
		return scale.Deleted
	}
	return scale.Kept
}
