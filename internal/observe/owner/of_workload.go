// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// OfStatefulSet returns the cluster of a StatefulSet, as if it ran all of it and belonged to no Etcd.
func OfStatefulSet(sts *appsv1.StatefulSet) Owner {
	o := Owner{
		WorkloadKind: StatefulSet, APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet",
		Namespace: sts.Namespace, Name: sts.Name, UID: sts.UID,
		Labels: sts.Labels, Annotations: sts.Annotations,
		Controller: metav1.GetControllerOf(sts), Created: sts.CreationTimestamp,
	}
	o.Distribution = source.ProductOf(sts)
	o.setWorkload(sts)
	o.MemberSelector = o.Selector
	o.MemberChanges = source.MemberChangesOf(sts)
	return o
}

func (o *Owner) setWorkload(sts *appsv1.StatefulSet) {
	o.StatefulSet, o.Selector, o.Claims = sts.Name, sts.Spec.Selector, nil
	if o.Selector == nil {
		o.Selector = &metav1.LabelSelector{}
	}
	o.Ordered = sts.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	o.Replicas = 1 // the API's default, not yet filled in at admission
	if sts.Spec.Replicas != nil {
		o.Replicas = *sts.Spec.Replicas
	}
	if sts.Spec.Ordinals != nil {
		o.FirstOrdinal = sts.Spec.Ordinals.Start
	}
	for i := range sts.Spec.VolumeClaimTemplates {
		t := &sts.Spec.VolumeClaimTemplates[i]
		o.Claims = append(o.Claims, Claim{Template: t.Name, Class: t.Spec.StorageClassName})
	}
}

// Standalone returns the cluster of a StatefulSet that runs etcd and belongs to no Etcd, as if
// the StatefulSet ran all of it. It returns false for any other StatefulSet.
func Standalone(sts *appsv1.StatefulSet) (Owner, bool) {
	if !isStandalone(sts) {
		return Owner{}, false
	}
	o := OfStatefulSet(sts)
	peers := source.PeersOf(sts)
	o.PeersUnknown, o.ListSelf = peersUnknown(listedSet{sts: sts, peers: peers}), peers.Separate
	return o, true
}

// isStandalone reports whether a StatefulSet runs etcd and belongs to no Etcd. A declaration takes
// precedence over what is shown and over the product that made it.
func isStandalone(sts *appsv1.StatefulSet) bool {
	if _, ofDruid := EtcdOf(sts); ofDruid {
		return false
	}
	ref, pod := metav1.GetControllerOf(sts), etcdconf.PodOfTemplate(sts)
	return !etcdconf.DeniesEtcd(pod) && (ref != nil && flavour.OnlyEtcd(ref) || etcdconf.RunsEtcd(pod))
}
