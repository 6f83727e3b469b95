// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
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
func (r *Reader) OwnerOfScale(ctx context.Context, s ScaleWrite) (Owner, bool, error) {
	if s.Etcd {
		return r.OwnerOfEtcd(ctx, types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
	}
	var sts appsv1.StatefulSet
	found, err := r.fetch(ctx, s.Namespace, s.Name, &sts)
	if err != nil {
		return Owner{}, false, fmt.Errorf("observe StatefulSet %s/%s: %w", s.Namespace, s.Name, err)
	}
	if !found {
		return Owner{}, false, nil
	}
	return r.OwnerOfStatefulSet(ctx, &sts)
}

// ScaleFacts reads the facts of the scale rule for a write of a cluster's replicas.
func (r *Reader) ScaleFacts(ctx context.Context, owner Owner, s ScaleWrite) (scale.Facts, error) {
	w, err := r.workload(ctx, owner)
	if err != nil {
		return scale.Facts{}, err
	}
	facts, err := r.Facts(ctx, owner)
	if err != nil {
		return scale.Facts{}, err
	}
	f := scale.Facts{
		Target: owner.Target().String(), Namespace: owner.Namespace, Now: s.Now, Asked: s.Asked, Druid: owner.Flavour == Druid,
		Follows: !s.Etcd && w.etcd != nil && int(w.etcd.Spec.Replicas) == s.Asked, Volumes: w.volumesOf(s.WhenScaled),
	}
	if m := owner.Membership(); !f.Druid && m.Manager != flavour.Unmanaged {
		f.Manager, f.How = m.ManagerName, m.ScaleHow
	}
	if s.Now == 0 {
		if f.Held, err = r.heldOrdinals(ctx, owner); err != nil {
			return f, err
		}
	}
	if f.Voters, f.Declared = annotation.ParseSizeNow(s.Size, facts.At); !f.Declared {
		f.Voters = w.voters(&facts, s, f.Held)
	}
	f.Ready, f.Staying = w.readyVoters(&facts, f.Voters, s.Asked)
	return f, nil
}

// voters returns how many voters etcd has: the largest size that the cluster has had. What an Etcd
// asks for counts once its StatefulSet has that many replicas.
func (w *workload) voters(f *Facts, s ScaleWrite, held int) int {
	n := f.Budgets.Largest.Next(w.owner.sizeText(), len(w.pods)).N
	switch {
	case len(w.pods) == 0 && n == 0:
		return held
	case len(w.pods) == 0:
		return n
	case w.etcd == nil:
		return max(n, s.Now)
	}
	return max(n, w.replicas())
}

// readyVoters counts the voters that are ready, and those of them with an ordinal below asked. It
// returns none while the age of their leases is unknown.
func (w *workload) readyVoters(f *Facts, voters, asked int) (ready, staying int) {
	if !f.Confirmed {
		return 0, 0
	}
	for _, m := range f.Cluster.Members {
		ordinal := w.owner.Ordinal(m.Pod)
		if !m.Exists || !m.Ready || m.Learner || ordinal < 0 || ordinal >= voters {
			continue
		}
		ready++
		if ordinal < asked {
			staying++
		}
	}
	return ready, staying
}

// volumesOf returns what becomes of the data of a workload that is scaled to 0.
func (w *workload) volumesOf(whenScaled *appsv1.PersistentVolumeClaimRetentionPolicyType) scale.Volumes {
	if whenScaled == nil && w.sts != nil && w.sts.Spec.PersistentVolumeClaimRetentionPolicy != nil {
		whenScaled = &w.sts.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled
	}
	switch {
	case len(w.owner.Claims) == 0:
		return scale.NoClaims
	case whenScaled != nil && *whenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType:
		return scale.Deleted
	}
	return scale.Kept
}

// heldOrdinals counts the ordinals of which a volume claim exists.
func (r *Reader) heldOrdinals(ctx context.Context, o Owner) (int, error) {
	var claims corev1.PersistentVolumeClaimList
	if err := r.List(ctx, &claims, client.InNamespace(o.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return 0, fmt.Errorf("list claims of %s: %w", o, err)
	}
	exists := map[string]bool{}
	for i := range claims.Items {
		exists[claims.Items[i].Name] = true
	}
	held := 0
	for ordinal := range maxMembers {
		for _, c := range o.Claims {
			if exists[c.Template+"-"+o.PodName(ordinal)] {
				held++
				break
			}
		}
	}
	return held, nil
}
