// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// A tenant may write objects of 1.5 MiB, in any number. So that they do not fill the memory of
// etcd-webhook, the cache holds no field above these limits. They are many times what any member,
// budget or Service has. An object above them is of a tenant who hides it from the guards of its own
// namespace.
const (
	// mostAnnotations is the limit of the annotations of this project on an object, in bytes.
	mostAnnotations = 16 << 10
	// mostRecord is the limit of the annotations of a budget, in bytes. The longest record, for 32 members, has 6 KiB.
	mostRecord = 8 << 10
	// mostLabels is the limit of the labels of an object, in bytes of memory. Without its labels, an object is selected by nothing.
	mostLabels = 16 << 10
	// mostSelector is the limit of a selector, in bytes of memory. Without its selector, a budget selects nothing.
	mostSelector = 4 << 10
	// perEntry is about how many bytes an entry of a map or a list takes beside its text.
	perEntry = 48
	// longestName is the limit of a name in the metadata of an object. Kubernetes has no longer one.
	longestName = 253
	// mostPlacement is the limit of what decides where a pod may run, in bytes.
	mostPlacement = 64 << 10
	// mostContainers is the limit of the containers of a pod.
	mostContainers = 32
	// mostOwners is the limit of the owner references of an object, in bytes of memory.
	mostOwners = 4 << 10
	// mostClaims is the limit of the claim templates of a StatefulSet.
	mostClaims = 32
	// mostKept is the limit of what keep records, in bytes.
	mostKept = 8 << 10
)

// trimMeta drops metadata that nothing reads, and what is above the limits.
func trimMeta(o metav1.Object) {
	o.SetManagedFields(nil)
	o.SetFinalizers(nil)
	o.SetSelfLink("")
	o.SetGenerateName("")
	delete(o.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
	if o.GetNamespace() != "" { // no tenant writes those of nodes and namespaces
		o.SetLabels(limited(o.GetLabels()))
	}
	o.SetOwnerReferences(limitedOwners(o.GetOwnerReferences()))
}

// limitedOwners returns the owner references without those that are above the limit together: the API server checks none
// of their texts. The object then counts as one without these owners.
func limitedOwners(owners []metav1.OwnerReference) (out []metav1.OwnerReference) {
	size := 0
	for _, r := range owners {
		length := 2*perEntry + len(r.APIVersion) + len(r.Kind) + len(r.Name) + len(r.UID)
		if size+length <= mostOwners {
			out, size = append(out, r), size+length
		}
	}
	return out
}

// short returns the beginning of a text that is no name if it is longer. It does not share the memory of a longer one.
func short[T ~string](text T) T {
	if len(text) <= longestName {
		return text
	}
	return T(strings.Clone(string(text[:longestName])))
}

// limited returns labels, or nil if they are above the limit.
func limited(labels map[string]string) map[string]string {
	size := 0
	for k, v := range labels {
		size += perEntry + len(k) + len(v)
	}
	if size > mostLabels {
		return nil
	}
	return labels
}

// limitedSelector returns a selector, or nil, which selects nothing, if it is above the limit.
func limitedSelector(s *metav1.LabelSelector) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	size := s.Size() + perEntry*len(s.MatchLabels)
	for _, e := range s.MatchExpressions {
		size += perEntry * (2 + len(e.Values))
	}
	if size > mostSelector {
		return nil
	}
	return s
}

// readAnnotations are the prefixes of the annotations that this project reads.
var readAnnotations = append([]string{"kubectl-etcd.dev/", "meta.helm.sh/"}, flavour.AnnotationPrefixes()...)

// trimAnnotations keeps the annotations that this project reads, and those that keep has added.
func trimAnnotations(o metav1.Object) {
	all, size := o.GetAnnotations(), 0
	maps.DeleteFunc(all, func(key, value string) bool {
		if !slices.ContainsFunc(readAnnotations, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			return !strings.HasPrefix(key, keptPrefix)
		}
		size += perEntry + len(key) + len(value)
		return false
	})
	if size > mostAnnotations {
		maps.DeleteFunc(all, func(key, _ string) bool { return !strings.HasPrefix(key, keptPrefix) })
	}
}

// trimContainers keeps whether each container of a pod, and each native sidecar, runs etcd and has a readiness
// probe. See [etcdconf.Reduced].
func trimContainers(pod *corev1.Pod) (out, sidecars []corev1.Container) {
	for i, c := range containers.Of(&pod.Spec) {
		switch {
		case i >= len(pod.Spec.Containers) && len(sidecars) < mostContainers:
			sidecars = append(sidecars, etcdconf.Reduced(pod, c))
		case i < len(pod.Spec.Containers) && len(out) < mostContainers:
			out = append(out, etcdconf.Reduced(pod, c))
		}
	}
	return out, sidecars
}

// placementOf returns what decides where a pod may run, nothing if it is above the limit.
func placementOf(from *corev1.PodSpec) corev1.PodSpec {
	to := corev1.PodSpec{
		NodeSelector: from.NodeSelector, Affinity: from.Affinity,
		Tolerations: from.Tolerations, TopologySpreadConstraints: from.TopologySpreadConstraints,
	}
	for _, v := range from.Volumes {
		if v.PersistentVolumeClaim != nil {
			to.Volumes = append(to.Volumes, v)
		}
	}
	if to.Size() > mostPlacement {
		return corev1.PodSpec{}
	}
	return to
}

// HasSpreadRecord reports whether the template of a StatefulSet, which may be of the cache, has this record of spread
// terms. Of a longer record the cache has only the beginning, and only that is compared.
func HasSpreadRecord(sts *appsv1.StatefulSet, record string) bool {
	held, has := sts.Spec.Template.Annotations[v1alpha1.SpreadAnnotation]
	return has && beginning(held) == beginning(record)
}

// beginning returns as much of a text as the limit of annotations allows. It does not share the memory of a longer one.
func beginning(text string) string {
	if len(text) <= mostAnnotations {
		return text
	}
	return strings.Clone(text[:mostAnnotations])
}

// first returns the first elements of a list. It does not share the memory of a longer one.
func first[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	return slices.Clone(all[:n])
}

// budgetRecord are the annotations of budgets that this project reads. Those that admission guards come first.
var budgetRecord = append(annotation.BudgetAnnotations(), v1alpha1.RestartedPodsAnnotation, v1alpha1.EvictionsAnnotation)

// trimBudget keeps of a budget whose it is, what it selects, and its numbers.
func trimBudget(b *policyv1.PodDisruptionBudget) {
	var record map[string]string
	size := 0
	for _, key := range budgetRecord {
		value, has := b.Annotations[key]
		if has && size+len(key)+len(value) <= mostRecord {
			record, size = with(record, key, value), size+len(key)+len(value)
		}
	}
	b.Annotations = record
	by, made := b.Labels[v1alpha1.CreatedByLabel]
	b.Labels = nil
	if made {
		b.Labels = map[string]string{v1alpha1.CreatedByLabel: by}
	}
	b.Spec.Selector = limitedSelector(b.Spec.Selector)
	for _, n := range []*intstr.IntOrString{b.Spec.MinAvailable, b.Spec.MaxUnavailable} {
		trimNumber(n)
	}
	b.Status.DisruptedPods, b.Status.Conditions = nil, nil
}

// trimNumber keeps the beginning of a percentage that has very many digits: the API server accepts it. What is kept is no
// number, so such a budget is left alone.
func trimNumber(n *intstr.IntOrString) {
	if n != nil {
		n.StrVal = short(n.StrVal)
	}
}

// with returns a map that has an entry.
func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func trimLease(l *coordinationv1.Lease) {
	trimAnnotations(l)
	if h := l.Spec.HolderIdentity; h != nil && len(*h) > longestName {
		l.Spec.HolderIdentity = nil
	}
	l.Spec.Strategy, l.Spec.PreferredHolder = nil, nil
}

func trimClaimTemplates(s *appsv1.StatefulSet) {
	s.Spec.VolumeClaimTemplates = first(s.Spec.VolumeClaimTemplates, mostClaims)
	for i := range s.Spec.VolumeClaimTemplates {
		c := &s.Spec.VolumeClaimTemplates[i]
		*c = corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: short(c.Name)},
			Spec:       corev1.PersistentVolumeClaimSpec{StorageClassName: c.Spec.StorageClassName},
		}
		if class := c.Spec.StorageClassName; class != nil {
			c.Spec.StorageClassName = new(short(*class))
		}
	}
}
