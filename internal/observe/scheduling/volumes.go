// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// readVolumes reads the volumes of all ordinals of a cluster, whether their pods run or not: a member
// that is down will come back to its volume. The name of an ordinal is empty where its pod isn't
// known yet.
func readVolumes(ctx context.Context, r *observe.Reader, o owner.Owner, pod *corev1.Pod, names []string, nodes []*corev1.Node) ([]spread.Volume, error) {
	own := map[string]bool{}
	for _, c := range o.ClaimsOf(o.Ordinal(pod.Name)) {
		own[c.Template+"-"+pod.Name] = true
	}
	out := make([]spread.Volume, len(names))
	for _, v := range pod.Spec.Volumes {
		// One claim for all members ties all of them.
		if v.PersistentVolumeClaim == nil || own[v.PersistentVolumeClaim.ClaimName] {
			continue
		}
		shared, err := readVolume(ctx, r, o.Namespace, v.PersistentVolumeClaim.ClaimName, nil, nodes)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] = combine(out[i], shared)
		}
	}
	for i, name := range names {
		for _, c := range o.ClaimsOf(i) {
			v, err := memberVolume(ctx, r, o, c, name, nodes)
			if err != nil {
				return nil, err
			}
			out[i] = combine(out[i], v)
		}
	}
	return out, nil
}

// memberVolume reads the volume of a member's claim.
func memberVolume(ctx context.Context, r *observe.Reader, o owner.Owner, c owner.Claim, pod string, nodes []*corev1.Node) (spread.Volume, error) {
	if pod == "" {
		return unboundVolume(ctx, r, c.Class)
	}
	return readVolume(ctx, r, o.Namespace, c.Template+"-"+pod, c.Class, nodes)
}

// readVolume reads the volume of a claim. The StatefulSet controller creates claims just before their
// pod, so a claim that isn't in the cache is read from the API server. A claim that doesn't exist
// will be created with the class of its template.
func readVolume(ctx context.Context, r *observe.Reader, namespace, name string, class *string, nodes []*corev1.Node) (spread.Volume, error) {
	claim, found, err := readClaim(ctx, r, namespace, name)
	if err != nil {
		return spread.Volume{}, err
	}
	if found {
		class = classOf(&claim)
	}
	if claim.Spec.VolumeName == "" {
		return unboundVolume(ctx, r, class)
	}
	var pv corev1.PersistentVolume
	found, err = r.Fetch(ctx, "", claim.Spec.VolumeName, &pv)
	if err != nil {
		return spread.Volume{}, fmt.Errorf("observe volume %s of claim %s/%s: %w", claim.Spec.VolumeName, namespace, name, err)
	}
	if !found {
		// It is lost, or not created yet. The scheduler doesn't choose its topology.
		return spread.Volume{State: spread.UnboundImmediate}, nil
	}
	bound := spread.Volume{State: spread.Bound, AnyNode: pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil}
	for _, n := range nodes {
		if storagehelpers.CheckNodeAffinity(&pv, n.Labels) == nil {
			bound.Nodes = append(bound.Nodes, n.Name)
		}
	}
	return bound, nil
}

// readClaim reads a claim. It returns false where it doesn't exist.
func readClaim(ctx context.Context, r *observe.Reader, namespace, name string) (claim corev1.PersistentVolumeClaim, found bool, err error) {
	if found, err = r.Fetch(ctx, namespace, name, &claim); err != nil {
		err = fmt.Errorf("observe claim %s/%s: %w", namespace, name, err)
	}
	return claim, found, err
}

// classOf returns the storage class of a claim, nil for the default one.
func classOf(claim *corev1.PersistentVolumeClaim) *string {
	if !storagehelpers.PersistentVolumeClaimHasClass(claim) {
		return nil
	}
	return new(storagehelpers.GetPersistentVolumeClaimClass(claim))
}

// unboundVolume returns the state of a volume of a class that isn't bound yet: whether the scheduler
// will choose its topology.
func unboundVolume(ctx context.Context, r *observe.Reader, class *string) (spread.Volume, error) {
	var all storagev1.StorageClassList
	if err := r.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return spread.Volume{}, fmt.Errorf("list StorageClasses: %w", err)
	}
	// Without a known class the volume, if any, was provisioned in advance, in any topology.
	immediate := spread.Volume{State: spread.UnboundImmediate}
	if class == nil {
		class = defaultClass(all.Items)
	}
	if class == nil {
		return immediate, nil
	}
	i := slices.IndexFunc(all.Items, func(c storagev1.StorageClass) bool { return c.Name == *class })
	if i < 0 || all.Items[i].VolumeBindingMode == nil || *all.Items[i].VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		return immediate, nil
	}
	return spread.Volume{State: spread.UnboundWaiting}, nil
}

// defaultClass returns the class that the API server gives a claim without one: the newest of those
// marked as default, and the first by name of several.
func defaultClass(all []storagev1.StorageClass) *string {
	var best *storagev1.StorageClass
	for i := range all {
		c := &all[i]
		if c.Annotations[defaultClassAnnotation] != "true" && c.Annotations[betaDefaultClassAnnotation] != "true" {
			continue
		}
		if best == nil || best.CreationTimestamp.Before(&c.CreationTimestamp) ||
			(best.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < best.Name) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	return &best.Name
}

// No importable package of Kubernetes has these (pkg/apis/storage/util/helpers.go).
const (
	defaultClassAnnotation     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClassAnnotation = "storageclass.beta.kubernetes.io/is-default-class"
)

// combine returns two volumes of one member as one. With an immediate one, the member's node is
// unknown. Of two bound ones, the nodes that both reach remain. A waiting one doesn't restrict.
func combine(a, b spread.Volume) spread.Volume {
	switch {
	case a.State == spread.NoVolume:
		return b
	case b.State == spread.NoVolume:
		return a
	case a.State == spread.UnboundImmediate || b.State == spread.UnboundImmediate:
		return spread.Volume{State: spread.UnboundImmediate}
	case a.State == spread.UnboundWaiting:
		return b
	case b.State == spread.UnboundWaiting:
		return a
	}
	both := spread.Volume{State: spread.Bound, AnyNode: a.AnyNode && b.AnyNode}
	for _, n := range a.Nodes {
		if slices.Contains(b.Nodes, n) {
			both.Nodes = append(both.Nodes, n)
		}
	}
	return both
}
