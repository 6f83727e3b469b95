// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// findings runs the check. Of a cluster that spans several StatefulSets, a check of a template judges each of them:
// one that is as it should be shows nothing of the others.
func (c Check) findings(f *Facts) []Finding {
	if !c.eachPart || !f.Owner.Spans() {
		return c.run(f)
	}
	if f.Parts.Err != nil {
		return []Finding{unknown("the StatefulSets "+f.Owner.WorkloadNames(), f.Parts.Err)}
	}
	var found, none []Finding
	for _, part := range f.eachPart() {
		for _, finding := range c.run(part) {
			if !finding.Level.Worse(OK) {
				none = append(none, finding)
				continue
			}
			if finding.Member == "" { // a member's name shows its StatefulSet
				finding.Message = "StatefulSet " + part.part + ": " + finding.Message
			}
			found = append(found, finding)
		}
	}
	if len(found) == 0 && len(none) == len(f.Parts.Value) {
		return none[:1]
	}
	return found
}

// ofPart returns the facts for a check that judges one StatefulSet of the cluster.
func (f *Facts) ofPart(sts *appsv1.StatefulSet) *Facts {
	part := *f
	part.part, part.StatefulSet = sts.Name, Got[*appsv1.StatefulSet]{Value: sts}
	part.Owner.StatefulSet = sts.Name
	return &part
}

// eachPart returns the facts for each StatefulSet of a cluster, f itself where it has one.
func (f *Facts) eachPart() []*Facts {
	if !f.Owner.Spans() {
		return []*Facts{f}
	}
	all := make([]*Facts, 0, len(f.Parts.Value))
	for _, sts := range f.Parts.Value {
		all = append(all, f.ofPart(sts))
	}
	return all
}

// inPart reports whether the StatefulSet that is judged makes a pod, or the whole cluster is judged.
func (f *Facts) inPart(pod string) bool {
	return f.part == "" || f.Owner.StatefulSetOf(pod) == f.part
}

// partPods returns the members' pods of the StatefulSet that is judged, all where the whole cluster is.
func (f *Facts) partPods() []*corev1.Pod {
	if f.part == "" {
		return f.Pods.Value
	}
	return slices.DeleteFunc(slices.Clone(f.Pods.Value), func(p *corev1.Pod) bool { return !f.inPart(p.Name) })
}
