// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
)

// ScaleWrite is a write of the replicas of an Etcd or a StatefulSet.
type ScaleWrite struct {
	// Etcd is true for an Etcd, false for a StatefulSet.
	Etcd            bool
	Namespace, Name string
	// Now and Asked are the replicas before and after it.
	Now, Asked int
	// FirstNow and First are the first ordinals before and after it, alike for a Scale.
	FirstNow, First int
	// OfScale is true for the subresource, which has no annotations.
	OfScale bool
	// Creates is the StatefulSet that the write creates, nil for an update.
	Creates *appsv1.StatefulSet
	// Size is the size annotation that the write sets, empty if it sets none.
	Size string
	// RestartNow and Restart are the marks of a coordinated restart before and after the write, empty for
	// none, and RestoreNow and Restore those of a restore. A Scale doesn't have them.
	RestartNow, Restart string
	RestoreNow, Restore string
	// WhenScaled is what the StatefulSet does with the claims of removed replicas after the
	// write, nil if the write doesn't contain it.
	WhenScaled *appsv1.PersistentVolumeClaimRetentionPolicyType
	// WhenScaledNow is the same before the write.
	WhenScaledNow *appsv1.PersistentVolumeClaimRetentionPolicyType
	// TemplateNow and Template are the pod templates of the StatefulSet before and after the write, nil if the write
	// doesn't contain them.
	TemplateNow, Template *corev1.PodTemplateSpec
}

// BeginsToDelete reports whether the StatefulSet deletes the claims of removed replicas from this write on.
func (s ScaleWrite) BeginsToDelete() bool {
	return deletesClaims(s.WhenScaled) && !deletesClaims(s.WhenScaledNow)
}

// deletesClaims reports whether a policy deletes the claims of removed replicas. Nil is the default.
func deletesClaims(whenScaled *appsv1.PersistentVolumeClaimRetentionPolicyType) bool {
	return whenScaled != nil && *whenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// OwnerOfScale returns the cluster that a write of replicas scales. It returns false for one that
// is no etcd cluster.
func (r *Reader) OwnerOfScale(ctx context.Context, s ScaleWrite) (owner.Owner, bool, error) {
	if s.Creates != nil {
		alone, ok := owner.Standalone(s.Creates)
		if !ok {
			return owner.Owner{}, false, nil
		}
		o, err := r.WithPeers(ctx, s.Creates, alone)
		return o, err == nil, err
	}
	if s.Etcd {
		return r.OwnerOfEtcd(ctx, types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
	}
	var sts appsv1.StatefulSet
	found, err := r.Fetch(ctx, s.Namespace, s.Name, &sts)
	if err != nil {
		return owner.Owner{}, false, fmt.Errorf("observe StatefulSet %s/%s: %w", s.Namespace, s.Name, err)
	}
	if !found {
		return owner.Owner{}, false, nil
	}
	return r.OwnerOfStatefulSet(ctx, &sts)
}

// Scale is what is known of a write of a cluster's replicas.
type Scale struct {
	Facts scale.Facts
	Owner owner.Owner
	// Leaving has the budget for the record of the members that leave.
	Leaving
	// Text is what the annotation of Budget becomes with this write, empty if no ready voter leaves.
	Text string

	write  ScaleWrite
	live   liveCluster
	claims []claimOrdinal
}

// Scale reads what the scale rule must know of a write of a cluster's replicas. It reads the objects
// from the API server: kubectl scale writes several StatefulSets within milliseconds.
func (r *Reader) Scale(ctx context.Context, s ScaleWrite) (*Scale, error) {
	find := func(live *Reader) (owner.Owner, bool, error) { return live.OwnerOfScale(ctx, s) }
	live, err := r.liveCluster(ctx, s.Namespace, s.Namespace+"/"+s.Name, find, s.Creates)
	if err != nil {
		return nil, err
	}
	of := live.w
	if s.Creates == nil && s.First == s.FirstNow {
		// A Scale doesn't have it.
		s.First = of.firstOrdinal(s)
		s.FirstNow = s.First
	}
	out := &Scale{Owner: live.owner, write: s, live: live}
	if s.Creates != nil {
		of.owner.FirstOrdinal = 0 // the earlier members may have had another one
	}
	if out.claims, err = r.claimOrdinals(ctx, &of); err != nil {
		return nil, err
	}
	out.judge()
	return out, nil
}

// Reread reads the holder of the record again, which another client wrote, and nothing else.
func (s *Scale) Reread(ctx context.Context, r *Reader) error {
	return s.live.reread(ctx, r, s.Holder, s.judge)
}

// judge sets what follows from what was read.
func (s *Scale) judge() {
	w, write, facts := &s.live.w, s.write, s.live.sized()
	f := scale.Facts{
		Target: w.owner.Target().String(), Namespace: w.owner.Namespace, Now: write.Now, Asked: write.Asked,
		Follows: !write.Etcd && w.etcd != nil && int(w.etcd.Spec.Replicas) == write.Asked, Volumes: w.volumesOf(write),
		Creates: write.Creates != nil, Held: len(s.claims), Others: w.owner.Elsewhere,
	}
	if f.Creates {
		f.Now = len(w.Pods)
	}
	w.membership(&f, write)
	facts.listed = max(facts.listed, w.votersWithClaims(s.claims, facts.Budgets.Largest.N > 0))
	if f.Voters, f.Declared = annotation.ParseSizeNow(write.Size, facts.At); !f.Declared {
		f.Voters = w.voters(&facts, f.Now, f.Held)
		if len(w.Pods) > 0 {
			f.Elsewhere = facts.elsewhere
		}
	}
	f.Restarting, f.RestartStep, f.Restoring, f.Marked = s.marks()
	recorded := facts.Budgets.Largest
	f.Unrecorded = max(recorded.N, recorded.Next(w.owner.SizeText(), 0, facts.At).N) < f.Voters
	s.keeping(&f)
	f.Stopping = s.stopping()
	s.Leaving = s.live.reader.Leaving(w, s.live.budgets)
	leave := s.addReady(&facts, &f)
	if s.Text = ""; len(leave) > 0 {
		s.Text = s.Record(leave...)
	}
	s.Facts = f
}

// marks reports whether a coordinated restart is in progress and the write is none of its steps, whether it is
// one, and whether a restore is in progress and the write is none of its steps. marked is the StatefulSet with
// the mark. A mark on an Etcd counts for nothing.
func (s *Scale) marks() (restarting, restartStep, restoring bool, marked string) {
	write, marked := s.write, s.write.Name
	if write.Etcd {
		write.RestartNow, write.Restart, write.RestoreNow, write.Restore = "", "", "", ""
	}
	for _, sts := range s.live.w.Sets() {
		if (write.OfScale || write.Etcd) && s.writes(sts) { // which has no annotations of the StatefulSet
			write.RestartNow, write.RestoreNow = sts.Annotations[v1alpha1.RestartAnnotation], sts.Annotations[v1alpha1.RestoreAnnotation]
			write.Restart, write.Restore, marked = write.RestartNow, write.RestoreNow, sts.Name
		}
	}
	return write.RestartNow != "" && write.Restart == write.RestartNow, write.Restart != "" && write.Restart != write.RestartNow,
		write.RestoreNow != "" && write.Restore == write.RestoreNow, marked
}

// membership sets who changes the members. In a cluster that spans several StatefulSets, the replicas
// of all count.
func (w *Workload) membership(f *scale.Facts, s ScaleWrite) {
	m := w.owner.Membership()
	switch {
	case m.Manager == flavour.BySets:
		f.Sets, f.How = w.owner.WorkloadNames(), m.ScaleHow
		if s.Asked < s.Now {
			f.How = m.ScaleInHow
		}
	case m.AddsOnly:
		f.Adder, f.How, f.Reconcile = m.ManagerName, m.ScaleInHow, w.owner.Product().ReconcileBy
	case m.Manager != flavour.Unmanaged:
		if f.How = m.ScaleHow; s.Asked < s.Now && m.ScaleInHow != "" {
			f.How = m.ScaleInHow
		}
		switch {
		case w.removes(m, s):
			f.Manager, f.Script = m.ManagerName, m.Manager == flavour.ByStartScript
		case m.Manager == flavour.ByOperator:
			f.Operator = m.ManagerName
		}
	}
	if !w.owner.Spans() {
		return
	}
	for _, sts := range w.Sets() {
		if sts.Name == s.Name {
			continue
		}
		f.Now, f.Asked = f.Now+owner.ReplicasOf(sts), f.Asked+owner.ReplicasOf(sts)
		if owner.ReplicasOf(sts) == 0 {
			f.Stopped = append(f.Stopped, sts.Name)
		}
	}
}
