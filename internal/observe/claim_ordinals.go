// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// claimOrdinal is a member of which a volume claim exists, whatever the replicas are now.
type claimOrdinal struct {
	ordinal int
	// created is when the latest of its claims was created.
	created time.Time
}

// claimOrdinals returns the members of which a volume claim exists. One that is being deleted doesn't count: its
// data is on the way out. In a cluster that spans several StatefulSets, those of each count from 0.
func (r *Reader) claimOrdinals(ctx context.Context, w *Workload) ([]claimOrdinal, error) {
	var claims corev1.PersistentVolumeClaimList
	if err := r.List(ctx, &claims, client.InNamespace(w.owner.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list claims of %s: %w", w.owner, err)
	}
	created := map[string]time.Time{}
	for i := range claims.Items {
		if claim := &claims.Items[i]; claim.DeletionTimestamp == nil {
			created[claim.Name] = claim.CreationTimestamp.Time
		}
	}
	parts := []owner.Owner{w.owner}
	if w.owner.Spans() {
		parts = nil
		for _, sts := range w.Sets() {
			parts = append(parts, owner.OfStatefulSet(sts))
		}
	}
	var out []claimOrdinal
	for _, o := range parts {
		for ordinal := range owner.MaxMembersRead {
			if at, exists := latestClaim(o, ordinal, created); exists {
				out = append(out, claimOrdinal{ordinal, at})
			}
		}
	}
	return out, nil
}

// latestClaim returns when the latest volume claim of an ordinal was created, and whether one exists.
func latestClaim(o owner.Owner, ordinal int, created map[string]time.Time) (latest time.Time, exists bool) {
	for _, c := range o.Claims {
		at, found := created[c.Template+"-"+o.PodName(ordinal)]
		if exists = exists || found; at.After(latest) {
			latest = at
		}
	}
	return latest, exists
}

// votersWithClaims returns how many voters etcd may have by the claims that it left: a scale-in, or the
// deletion of a StatefulSet, keeps them. A number in the owner's annotation counts instead if it is newer
// than the claims, or has no time and recorded is true: a budget then records that it was read.
func (w *Workload) votersWithClaims(claims []claimOrdinal, recorded bool) int {
	if w.owner.Spans() || w.owner.Membership().RemovesMembers {
		return 0
	}
	return w.countClaims(claims, recorded)
}

func (w *Workload) countClaims(claims []claimOrdinal, recorded bool) int {
	n, declared := annotation.ParseSize(w.owner.SizeText())
	at, dated := annotation.SizeTime(w.owner.SizeText())
	if !declared || !dated && !recorded {
		return max(n, len(claims))
	}
	voters := n
	for _, c := range claims {
		if c.ordinal >= n && dated && c.created.After(at) {
			voters++
		}
	}
	return voters
}
