// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// Flavour is who runs an etcd cluster.
type Flavour string

// The flavours.
const (
	// Druid clusters are an Etcd that etcd-druid reconciles.
	Druid Flavour = "Druid"
	// StatefulSet clusters are a StatefulSet, whoever made it.
	StatefulSet Flavour = "StatefulSet"
	// Pods clusters are pods that run etcd and that no StatefulSet made: mirror
	// pods of kubeadm, those of an operator that makes its pods itself. They can
	// be looked at, and pods of that operator spread, and no more.
	Pods Flavour = "Pods"
)

// Owner is the object that an etcd cluster is known by: the Etcd, or the
// StatefulSet where there is none. Clusters whose pods no StatefulSet made have
// an owner, too, for those who only look: see Pods.
type Owner struct {
	Flavour Flavour
	// Distribution is the product that the cluster comes from.
	Distribution flavour.Name
	// Controller is what controls the owner, nil for nothing: an EtcdCluster,
	// a HostedControlPlane.
	Controller *metav1.OwnerReference
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	UID        types.UID
	// Created is when the owner was, zero where it is no object.
	Created     metav1.Time
	Labels      map[string]string
	Annotations map[string]string

	// StatefulSet is the name of the workload, which may not exist yet. Empty
	// for a cluster of pods.
	StatefulSet string
	// Replicas is the larger of what the owner and the workload ask for.
	Replicas int32
	// FirstOrdinal is the number of the first pod.
	FirstOrdinal int32
	// Ordered says that a member is only started when those before it are ready.
	Ordered bool
	// Selector is the workload's own, which can't change.
	Selector *metav1.LabelSelector
	// MemberSelector selects members and nothing else: druid's compaction
	// pods share Selector's labels.
	MemberSelector *metav1.LabelSelector
	// Claims are the volume claims that each member gets.
	Claims []Claim
}

// Claim is a volume claim template: the claim of pod P is called Template-P.
type Claim struct {
	Template string
	// Class is the storage class, nil for the default one.
	Class *string
}

// String names the owner as messages do.
func (o Owner) String() string { return o.Kind + " " + o.Namespace + "/" + o.Name }

// Ordinal is the place of a pod among the members, from 0, -1 when it is none.
func (o Owner) Ordinal(pod string) int {
	if o.StatefulSet == "" {
		return -1
	}
	digits, ok := strings.CutPrefix(pod, o.StatefulSet+"-")
	n, err := strconv.ParseInt(digits, 10, 32)
	if !ok || err != nil || digits != strconv.FormatInt(n, 10) || n < int64(o.FirstOrdinal) {
		return -1
	}
	return int(n) - int(o.FirstOrdinal)
}

// PodName is the name of the member's pod at a place from 0.
func (o Owner) PodName(ordinal int) string {
	return o.StatefulSet + "-" + strconv.Itoa(ordinal+int(o.FirstOrdinal))
}

var etcdKind = druidv1alpha1.SchemeGroupVersion.WithKind("Etcd")

// OwnerOfPod finds the cluster that a pod is a member of, as its controller
// says. False for a pod that is no member of any: no StatefulSet made it, or
// its StatefulSet doesn't run etcd, or is gone.
func (r *Reader) OwnerOfPod(ctx context.Context, pod *corev1.Pod) (Owner, bool, error) {
	ref := metav1.GetControllerOf(pod)
	if ref == nil || ref.Kind != "StatefulSet" || groupOf(ref) != appsv1.GroupName {
		return Owner{}, false, nil
	}
	var sts appsv1.StatefulSet
	found, err := r.fetch(ctx, pod.Namespace, ref.Name, &sts)
	if err == nil && found && sts.UID != ref.UID && r.Live != nil {
		// Made anew under its old name, and the cache hasn't heard.
		found, err = (&Reader{Reader: r.Live}).fetch(ctx, pod.Namespace, ref.Name, &sts)
	}
	if err != nil {
		return Owner{}, false, fmt.Errorf("observe StatefulSet %s/%s: %w", pod.Namespace, ref.Name, err)
	}
	if !found || sts.UID != ref.UID {
		return Owner{}, false, nil
	}
	return r.OwnerOfStatefulSet(ctx, &sts)
}

// OwnerOfStatefulSet finds the cluster that a StatefulSet runs. False when it
// runs no etcd, or its Etcd is gone.
func (r *Reader) OwnerOfStatefulSet(ctx context.Context, sts *appsv1.StatefulSet) (Owner, bool, error) {
	ref := metav1.GetControllerOf(sts)
	if ref == nil || groupKindOf(ref) != etcdKind.GroupKind() {
		owner, ok := StandaloneOwner(sts)
		return owner, ok, nil
	}
	var etcd druidv1alpha1.Etcd
	found, err := r.fetch(ctx, sts.Namespace, ref.Name, &etcd)
	if err != nil {
		return Owner{}, false, fmt.Errorf("observe Etcd %s/%s: %w", sts.Namespace, ref.Name, err)
	}
	if !found {
		return Owner{}, false, nil
	}
	return DruidOwner(&etcd, sts), true, nil
}

// StandaloneOwner is the cluster of a StatefulSet that runs etcd and that is no
// Etcd's. False for all others.
func StandaloneOwner(sts *appsv1.StatefulSet) (Owner, bool) {
	ref := metav1.GetControllerOf(sts)
	switch {
	case ref != nil && groupKindOf(ref) == etcdKind.GroupKind():
		return Owner{}, false
	case ref != nil && flavour.OnlyEtcd(ref), etcdconf.RunsEtcd(&sts.Spec.Template.Spec):
		return statefulSetOwner(sts), true
	}
	return Owner{}, false
}

// OwnerOfEtcd reads the cluster of one Etcd. False when it isn't there.
func (r *Reader) OwnerOfEtcd(ctx context.Context, key types.NamespacedName) (Owner, bool, error) {
	var etcd druidv1alpha1.Etcd
	if found, err := r.fetch(ctx, key.Namespace, key.Name, &etcd); err != nil || !found {
		return Owner{}, false, err
	}
	var sts appsv1.StatefulSet
	found, err := r.fetch(ctx, key.Namespace, druidv1alpha1.GetStatefulSetName(etcd.ObjectMeta), &sts)
	if err != nil {
		return Owner{}, false, err
	}
	if ref := metav1.GetControllerOf(&sts); !found || ref == nil || ref.UID != etcd.UID {
		return DruidOwner(&etcd, nil), true, nil
	}
	return DruidOwner(&etcd, &sts), true, nil
}

func statefulSetOwner(sts *appsv1.StatefulSet) Owner {
	o := Owner{
		Flavour: StatefulSet, APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet",
		Namespace: sts.Namespace, Name: sts.Name, UID: sts.UID,
		Labels: sts.Labels, Annotations: sts.Annotations,
		Controller: metav1.GetControllerOf(sts), Created: sts.CreationTimestamp,
	}
	o.Distribution = flavour.OfStatefulSet(o.Controller, &sts.Spec.Template.Spec, sts.Labels, sts.Spec.Template.Labels)
	o.setWorkload(sts)
	o.MemberSelector = o.Selector
	return o
}

// DruidOwner is the cluster of an Etcd. sts is nil as long as druid hasn't made it.
func DruidOwner(etcd *druidv1alpha1.Etcd, sts *appsv1.StatefulSet) Owner {
	o := Owner{
		Flavour: Druid, Distribution: flavour.Druid, APIVersion: etcdKind.GroupVersion().String(), Kind: etcdKind.Kind,
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
	o.Replicas = max(o.Replicas, etcd.Spec.Replicas)
	o.MemberSelector = o.Selector.DeepCopy()
	metav1.AddLabelToSelector(o.MemberSelector, druidv1alpha1.LabelComponentKey, druidMemberComponent)
	return o
}

// druidMemberComponent is the component label that druid puts on members' pods
// and on no others (druid: internal/common, ComponentNameStatefulSet).
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

func groupOf(ref *metav1.OwnerReference) string { return groupKindOf(ref).Group }

func groupKindOf(ref *metav1.OwnerReference) schema.GroupKind {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
}
