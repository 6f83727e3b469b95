// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
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

// OfEtcd returns the cluster of an Etcd. sts is nil until druid creates it.
func OfEtcd(etcd *druidv1alpha1.Etcd, sts *appsv1.StatefulSet) Owner {
	o := Owner{
		WorkloadKind: DruidStatefulSet, Distribution: flavour.Druid, APIVersion: EtcdKind.GroupVersion().String(), Kind: EtcdKind.Kind,
		Namespace: etcd.Namespace, Name: etcd.Name, UID: etcd.UID,
		Labels: etcd.Labels, Annotations: etcd.Annotations,
		Controller: metav1.GetControllerOf(etcd), Created: etcd.CreationTimestamp,
		StatefulSet: druidv1alpha1.GetStatefulSetName(etcd.ObjectMeta),
		Selector:    &metav1.LabelSelector{MatchLabels: druidv1alpha1.GetDefaultLabels(etcd.ObjectMeta)},
		Claims:      []Claim{{Template: etcd.Name, Class: etcd.Spec.StorageClass}},
	}
	if name := etcd.Spec.VolumeClaimTemplate; name != nil && *name != "" {
		o.Claims[0].Template = *name
	}
	if sts != nil {
		o.setWorkload(sts)
	}
	o.Replicas = max(o.Replicas, ReconciledReplicas(etcd, sts))
	o.MemberSelector = o.Selector.DeepCopy()
	metav1.AddLabelToSelector(o.MemberSelector, druidv1alpha1.LabelComponentKey, druidMemberComponent)
	return o
}

// druidMemberComponent is the value of the component label on members' pods, and on no other pods
// of druid's (druid: internal/common, ComponentNameStatefulSet).
const druidMemberComponent = "etcd-statefulset"

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
	o.PeersUnknown = peersUnknown(listedSet{sts: sts, peers: source.PeersOf(sts)})
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

// EtcdKind is the kind of etcd-druid's clusters.
var EtcdKind = druidv1alpha1.SchemeGroupVersion.WithKind("Etcd")
