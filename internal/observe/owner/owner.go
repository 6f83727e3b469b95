// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package owner identifies etcd clusters: by the object that owns the members, or by the members' own
// lists. It joins StatefulSets and pods to clusters, and knows who changes their members. It takes
// objects and reads none.
package owner

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// WorkloadKind is how the pods of an etcd cluster are made.
type WorkloadKind string

// The kinds of workloads.
const (
	// DruidStatefulSet is a StatefulSet that etcd-druid reconciles from an Etcd.
	DruidStatefulSet WorkloadKind = "DruidStatefulSet"
	// StatefulSet is any other StatefulSet, with or without an operator.
	StatefulSet WorkloadKind = "StatefulSet"
	// Pods are pods without a StatefulSet: mirror pods of kubeadm, or pods that an operator creates
	// itself. Such clusters are read only, except that the pods of an operator are spread.
	Pods WorkloadKind = "Pods"
)

// Owner is the object that identifies an etcd cluster: the Etcd, or the StatefulSet where there is
// no Etcd. A cluster of pods without a StatefulSet has an owner too, which need not be an object.
type Owner struct {
	WorkloadKind WorkloadKind
	// Distribution is the product that created the cluster.
	Distribution flavour.Name
	// Controller is the controller of the owner, such as an EtcdCluster or a
	// HostedControlPlane, nil for none.
	Controller *metav1.OwnerReference
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	UID        types.UID
	// Created is when the owner was created, zero where it is not an object.
	Created     metav1.Time
	Labels      map[string]string
	Annotations map[string]string

	// StatefulSet is the name of the workload, which may not exist yet. Empty
	// for a cluster of pods.
	StatefulSet string
	// Replicas is the larger one of the owner's and the workload's replicas.
	Replicas int32
	// FirstOrdinal is the number of the first pod.
	FirstOrdinal int32
	// Ordered is true where a pod is started only after the pods before it are ready.
	Ordered bool
	// Selector is the workload's own, which can't change.
	Selector *metav1.LabelSelector
	// MemberSelector selects members and nothing else: druid's compaction
	// pods share Selector's labels.
	MemberSelector *metav1.LabelSelector
	// Claims are the volume claims that each member gets. See ClaimsOf.
	Claims []Claim
	// Mounted is the container that only the objects which the pods mount show to run etcd. It is
	// empty where the pod template shows or declares it. etcd-webhook does not read these objects,
	// and does nothing for such a cluster.
	Mounted string
	// MemberChanges are the commands that change the member list: of the pod template of each of its
	// StatefulSets, or of each of its pods.
	MemberChanges []etcdconf.MemberChange
	// Workloads are all StatefulSets of a cluster that spans several, by name. StatefulSet is the first one, and Replicas are those of all. It is nil for a cluster of
	// one workload.
	Workloads []Workload
	// PodsBeside are the pods of the cluster that no StatefulSet made, by name, if StatefulSets made others.
	// Only the plugin knows them: etcd-webhook counts such members as Elsewhere, which is stricter.
	PodsBeside []string
	// Listed counts the members that the StatefulSets of a cluster that spans several list, also
	// those of one that has no replicas now.
	Listed int
	// Elsewhere counts the members that the members list and that no StatefulSet of the namespace
	// is known to have.
	Elsewhere int
	// Unmatched counts the members that the pods of a cluster without a StatefulSet list, and that none of them
	// advertises. A list may be from before members were replaced, so they count neither as members nor as dead.
	Unmatched int
	// Listers are the StatefulSets that list its members and that its members do not list, by name.
	// Unready counts their members that are not ready.
	Listers []string
	Unready int
	// PeersUnknown is why it is not known which members the cluster has beside these, empty if it is
	// known. See UnknownPeers.
	PeersUnknown string
	// ListSelf is true if the pods of a StatefulSet each list only themselves. See Separate.
	ListSelf bool `json:",omitempty"`
}

// Claim is a volume claim template: the claim of pod P has the name Template-P.
type Claim struct {
	Template string
	// Class is the storage class, nil for the default one.
	Class *string
}

// String returns the owner's name as in messages.
func (o Owner) String() string { return o.Kind + " " + o.Namespace + "/" + o.Name }

// Ordinal returns the number of a pod among the members, from 0. It is -1 for a pod that is none
// of the StatefulSet's. The numbers of a cluster that spans several go on from one to the next.
func (o Owner) Ordinal(pod string) int {
	if o.IsBeside(pod) {
		return -1
	}
	before := 0
	for _, w := range o.Workloads {
		if at := OrdinalOf(pod, w.Name, w.FirstOrdinal); at >= 0 && at < int(w.Replicas) {
			return before + at
		}
		before += int(w.Replicas)
	}
	if o.StatefulSet == "" || o.Spans() {
		return -1
	}
	return OrdinalOf(pod, o.StatefulSet, o.FirstOrdinal)
}

// OrdinalOf returns the number of a pod of a StatefulSet from 0, where the first one has the number
// start. It is -1 for the name of any other pod.
func OrdinalOf(pod, statefulSet string, start int32) int {
	digits, ok := strings.CutPrefix(pod, statefulSet+"-")
	n, err := strconv.ParseInt(digits, 10, 32)
	if !ok || err != nil || digits != strconv.FormatInt(n, 10) || n < int64(start) {
		return -1
	}
	return int(n) - int(start)
}

// PodName returns the name of the pod with a number from 0: see Ordinal. It is empty beyond the
// members of a cluster in parts: which of them gets another is not known.
func (o Owner) PodName(ordinal int) string {
	name, at := o.StatefulSet, ordinal+int(o.FirstOrdinal)
	if len(o.PodsBeside) > 0 && ordinal >= int(o.Replicas) {
		return ""
	}
	if o.Spans() {
		w, rest := o.workloadOf(ordinal)
		if w == nil {
			return ""
		}
		name, at = w.Name, rest+int(w.FirstOrdinal)
	}
	return name + "-" + strconv.Itoa(at)
}

// ClaimsOf returns the volume claims of the member with a number from 0.
func (o Owner) ClaimsOf(ordinal int) []Claim {
	if w, _ := o.workloadOf(ordinal); w != nil {
		return w.Claims
	}
	return o.Claims
}

// DataClaims returns the claim templates with the data of the member of a number. If it isn't known which of several
// templates it is, or whether it is any of them, it returns all of them, and false.
func (o Owner) DataClaims(ordinal int, c etcdconf.Config, spec *corev1.PodSpec) (claims []Claim, known bool) {
	claims = slices.Clone(o.ClaimsOf(ordinal))
	if volumes, shown := c.DataMounts(spec); shown {
		return slices.DeleteFunc(claims, func(c Claim) bool { return !slices.Contains(volumes, c.Template) }), true
	}
	return claims, len(claims) == 1 && !c.DataElsewhere(spec)
}

// workloadOf returns the StatefulSet of a member of a cluster that spans several, and the number
// of the member in it. It returns nil for a number beyond the members.
func (o Owner) workloadOf(ordinal int) (*Workload, int) {
	for i := range o.Workloads {
		w := &o.Workloads[i]
		if ordinal < int(w.Replicas) {
			return w, ordinal
		}
		ordinal -= int(w.Replicas)
	}
	return nil, 0
}

// Key identifies an owner of any kind.
type Key struct {
	Kind      string
	Namespace string
	Name      string
}

// String returns the key as in logs and messages.
func (k Key) String() string { return k.Kind + " " + k.Namespace + "/" + k.Name }

// Key returns the owner's key.
func (o Owner) Key() Key {
	return Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Ref returns the owner's name within its namespace, as Kind/name.
func (o Owner) Ref() string { return o.Key().Ref() }

// Ref returns the owner's name within its namespace, as Kind/name.
func (k Key) Ref() string { return k.Kind + "/" + k.Name }

// WithoutStatefulSet reports whether the members are pods without a StatefulSet. The plugin doesn't
// change how many there are.
func (o Owner) WithoutStatefulSet() bool { return o.WorkloadKind == Pods }

// Product returns the product that created the cluster.
func (o Owner) Product() flavour.Product { return flavour.Of(o.Distribution) }

// WithLabels returns the owners whose labels the selector matches.
func WithLabels(owners []Owner, selector labels.Selector) []Owner {
	return slices.DeleteFunc(owners, func(o Owner) bool { return !selector.Matches(labels.Set(o.Labels)) })
}

// MaxMembersRead bounds how many members of a cluster are read, whatever number is in the name of a pod or in
// replicas. It is no limit of a scale. etcd's documentation advises at most 7 members.
const MaxMembersRead = 32
