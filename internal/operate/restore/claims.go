// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// findClaims finds out which of the claims are gone or being deleted, and which have no volume or one that is gone.
func (r *Plan) findClaims(ctx context.Context, kube client.Client, names []string) error {
	for _, name := range names {
		var claim corev1.PersistentVolumeClaim
		err := kube.Get(ctx, client.ObjectKey{Namespace: r.Owner.Namespace, Name: name}, &claim)
		switch {
		case apierrors.IsNotFound(err):
			r.Gone = append(r.Gone, name)
			continue
		case err != nil:
			return fmt.Errorf("read PersistentVolumeClaim %s: %w", name, err)
		}
		if r.Capacity == nil {
			r.Capacity = map[string]int64{}
		}
		r.Capacity[name] = claim.Status.Capacity.Storage().Value()
		switch {
		case claim.Spec.VolumeName == "":
			r.Unbound = append(r.Unbound, name)
		case claim.Status.Phase == corev1.ClaimLost:
			r.Unbound = append(r.Unbound, name)
			r.loseMember(name)
		case claim.DeletionTimestamp != nil:
			if err := r.findLeaving(ctx, kube, LeavingClaim{Name: name, Volume: claim.Spec.VolumeName}); err != nil {
				return err
			}
		}
	}
	return nil
}

// loseMember adds the member of a claim whose PersistentVolume is gone: no pod can mount it, so it gets a new claim.
func (r *Plan) loseMember(claim string) {
	for _, m := range r.Members {
		if slices.Contains(r.ClaimsOf([]Member{m}), claim) && !slices.Contains(r.Lost, m.Pod) {
			r.Lost = append(slices.Clone(r.Lost), m.Pod)
		}
	}
}

// claims returns the names of all members' claims.
func (r *Plan) claims() []string { return r.ClaimsOf(r.Members) }

// ClaimsOf returns the names of the claims of some members.
func (r *Plan) ClaimsOf(members []Member) []string {
	var names []string
	for _, m := range members {
		for _, name := range r.Files.Claims {
			names = append(names, strings.ReplaceAll(name, podMark, m.Pod))
		}
	}
	return names
}

// claimOf returns the claim of a volume, with podMark for the pod's name, empty for none.
func claimOf(sts *appsv1.StatefulSet, volume string) string {
	for i := range sts.Spec.VolumeClaimTemplates {
		if sts.Spec.VolumeClaimTemplates[i].Name == volume {
			return volume + "-" + podMark
		}
	}
	for _, v := range sts.Spec.Template.Spec.Volumes {
		if v.Name == volume && v.PersistentVolumeClaim != nil {
			return v.PersistentVolumeClaim.ClaimName
		}
	}
	return ""
}
