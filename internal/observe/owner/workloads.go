// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Workload is one of the StatefulSets of a cluster that spans several.
type Workload struct {
	Name         string
	UID          types.UID
	Replicas     int32
	FirstOrdinal int32
	Claims       []Claim
}

// Spans reports whether the members are those of several StatefulSets.
func (o Owner) Spans() bool { return len(o.Workloads) > 0 }

// Runs reports whether a StatefulSet with a name is a workload of the cluster.
func (o Owner) Runs(statefulSet string) bool {
	return o.StatefulSet == statefulSet || slices.ContainsFunc(o.Workloads, func(w Workload) bool { return w.Name == statefulSet })
}

// RefersTo reports whether the text that Ref returned once is that of this owner, or of a workload
// that has joined it since.
func (o Owner) RefersTo(ref string) bool {
	return ref == o.Ref() || slices.ContainsFunc(o.Workloads, func(w Workload) bool {
		return ref == Key{Kind: "StatefulSet", Name: w.Name}.Ref()
	})
}

// Continues reports whether the cluster may be one that a record of another owner is about: it has members
// of several workloads, of which one may be gone, or its StatefulSet had another owner.
func (o Owner) Continues(ref string) bool {
	_, name, _ := strings.Cut(ref, "/")
	return o.RefersTo(ref) || o.Spans() || o.Elsewhere > 0 || name == o.Name || name == o.StatefulSet
}

// Members returns how many members its workloads have when they are complete: the replicas, and the pods that no
// StatefulSet made.
func (o Owner) Members() int { return max(int(o.Replicas), 0) + len(o.PodsBeside) }

// Size returns how many members the owner and the members' own lists name.
func (o Owner) Size() int {
	return max(o.Members()+o.MembersElsewhere(), o.MembersListed())
}

// StatefulSetOf returns the name of the StatefulSet that makes the pod of a member. It is empty for a pod that no
// StatefulSet of the cluster makes.
func (o Owner) StatefulSetOf(pod string) string {
	if o.IsBeside(pod) || o.StatefulSet == "" {
		return ""
	}
	for _, w := range o.Workloads {
		if OrdinalOf(pod, w.Name, w.FirstOrdinal) >= 0 {
			return w.Name
		}
	}
	if o.Spans() || OrdinalOf(pod, o.StatefulSet, o.FirstOrdinal) < 0 {
		return ""
	}
	return o.StatefulSet
}

// InParts reports whether more than one StatefulSet makes all the members: several do, or there are pods
// that none made.
func (o Owner) InParts() bool { return o.Spans() || len(o.PodsBeside) > 0 }

// IsBeside reports whether a pod is a member that no StatefulSet made, beside those of StatefulSets.
func (o Owner) IsBeside(pod string) bool { return slices.Contains(o.PodsBeside, pod) }

// WorkloadNames returns the names of the StatefulSets of a cluster that spans several, as in
// messages.
func (o Owner) WorkloadNames() string {
	if !o.InParts() {
		return o.StatefulSet
	}
	var names []string
	for _, w := range o.Workloads {
		names = append(names, w.Name)
	}
	if !o.Spans() {
		names = append(names, o.StatefulSet)
	}
	for _, pod := range o.PodsBeside {
		names = append(names, "pod "+pod)
	}
	return policy.List(names)
}

// Executing returns the owner with what the pods of one of its StatefulSets execute, also by mounted
// scripts: alone is the owner of that StatefulSet as if it ran all of the cluster.
func (o Owner) Executing(alone Owner) Owner {
	if alone.Key() == o.Key() {
		o.Mounted = alone.Mounted
	}
	switch {
	case o.Spans():
		others := slices.DeleteFunc(slices.Clone(o.MemberChanges), func(m etcdconf.MemberChange) bool { return m.Workload == alone.StatefulSet })
		o.MemberChanges = append(others, changesOf(alone.StatefulSet, alone.MemberChanges)...)
	case alone.Key() == o.Key():
		o.MemberChanges = alone.MemberChanges
	}
	return o
}

// changesOf returns the member changes of one workload of a cluster of several.
func changesOf(workload string, changes []etcdconf.MemberChange) []etcdconf.MemberChange {
	out := slices.Clone(changes)
	for i := range out {
		out[i].Workload = workload
	}
	return out
}

// podNames returns the selector of StatefulSets' pods by their names. No labels of the StatefulSets
// need distinguish the members from other pods.
func podNames(names []string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: appsv1.StatefulSetPodNameLabel, Operator: metav1.LabelSelectorOpIn, Values: names,
	}}}
}

// IsByPodNames reports whether a selector selects StatefulSets' pods by their names, as that of a
// cluster that spans several does.
func IsByPodNames(s *metav1.LabelSelector) bool {
	return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 1 && s.MatchExpressions[0].Key == appsv1.StatefulSetPodNameLabel
}
