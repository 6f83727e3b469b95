// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// EtcdKind is the kind of etcd-druid's clusters.
var EtcdKind = druidv1alpha1.SchemeGroupVersion.WithKind("Etcd")

// IsEtcd reports whether the owner is an Etcd, an object of etcd-druid's API. Only what reads or writes
// that object asks this. What differs between products otherwise is a field of Product.
func (o Owner) IsEtcd() bool { return o.WorkloadKind == DruidStatefulSet }

// Resource returns the API resource of the object that identifies the cluster and has its annotations: its Etcd, or
// its StatefulSet.
func (o Owner) Resource() schema.GroupResource {
	if o.IsEtcd() {
		return schema.GroupResource{Group: EtcdKind.Group, Resource: "etcds"}
	}
	return schema.GroupResource{Group: appsv1.GroupName, Resource: "statefulsets"}
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

// EtcdOf returns the reference of an object to the Etcd of etcd-druid that controls it. It returns false for
// any other object, also one of a kind Etcd of another API group.
func EtcdOf(o metav1.Object) (*metav1.OwnerReference, bool) {
	ref := metav1.GetControllerOf(o)
	if ref == nil || GroupKindOf(ref) != EtcdKind.GroupKind() {
		return nil, false
	}
	return ref, true
}
