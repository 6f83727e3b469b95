// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// Leaving has the members with an eviction that admission has allowed a moment ago, as the budgets and the
// StatefulSets of their cluster record them.
type Leaving struct {
	// Holder is the object that the next record is written on, as it was read: the first budget by name
	// that selects a member, or without one the first StatefulSet by name. So all replicas choose the
	// same one. It is nil for a cluster that has neither.
	Holder   client.Object
	UnderWay []eviction.UnderWay
	// kept are the records of Holder that are still of use to any replica, those of other clusters
	// among them.
	kept []annotation.Eviction
	at   time.Time
}

// Budget returns the Holder if it is a budget, and otherwise nil.
func (l Leaving) Budget() *policyv1.PodDisruptionBudget {
	pdb, _ := l.Holder.(*policyv1.PodDisruptionBudget)
	return pdb
}

// othersLimit is how long the records of pods that are none of this cluster's are kept. Whether they
// are of use only their cluster knows, by clocks that may differ.
const othersLimit = 10 * time.Minute

// Leaving reads the records of a cluster. budgets are those of its namespace.
func (r *Reader) Leaving(w *Workload, budgets []policyv1.PodDisruptionBudget) Leaving {
	l := Leaving{at: r.Leases.Clock.Now()}
	for _, holder := range w.holders(budgets) {
		kept := r.records(w, holder, &l)
		if l.Holder == nil {
			l.Holder, l.kept = holder, kept
		}
	}
	return l
}

// holders returns the objects that may have records of a cluster's evictions: the budgets that select
// members, by name, and then its StatefulSets, by name. A StatefulSet has those of the time without a
// budget.
func (w *Workload) holders(budgets []policyv1.PodDisruptionBudget) []client.Object {
	var selecting, sets []client.Object
	for i := range budgets {
		if w.selects(&budgets[i]) > 0 {
			selecting = append(selecting, &budgets[i])
		}
	}
	for _, sts := range w.Sets() {
		sets = append(sets, sts)
	}
	byName := func(a, b client.Object) int { return cmp.Compare(a.GetName(), b.GetName()) }
	slices.SortFunc(selecting, byName)
	slices.SortFunc(sets, byName)
	return append(selecting, sets...)
}

// records adds the evictions under way that an object records. It returns the records that are still of
// use.
func (r *Reader) records(w *Workload, holder client.Object, l *Leaving) []annotation.Eviction {
	var kept []annotation.Eviction
	for _, e := range annotation.ParseEvictions(holder.GetAnnotations()[v1alpha1.EvictionsAnnotation]) {
		pod := w.pod(e.Pod)
		if pod == nil {
			// A budget may select the members of several clusters.
			if l.at.Sub(e.At).Abs() < othersLimit {
				kept = append(kept, e)
			}
			continue
		}
		key := w.owner.Namespace + " " + annotation.FormatEvictions([]annotation.Eviction{e})
		age := r.Leases.Since(key, e.At, eviction.Bound)
		if age >= eviction.Bound {
			continue
		}
		// A replica that read the pods a moment ago has this one as healthy.
		kept = append(kept, e)
		// The pod has gone, or is about to: it isn't Ready then, or was created again.
		if pod.UID == e.UID && pod.DeletionTimestamp == nil {
			l.UnderWay = append(l.UnderWay, eviction.UnderWay{Pod: e.Pod, Age: age})
		}
	}
	return kept
}

// RecordedFor reports whether a pod has a record that is younger than age.
func (l Leaving) RecordedFor(pod string, age time.Duration) bool {
	return slices.ContainsFunc(l.UnderWay, func(u eviction.UnderWay) bool { return u.Pod == pod && u.Age < age })
}

// Record returns the annotation of Holder with pods that leave now, and without what is of no use
// any more. The new ones come first, since only so many are read.
func (l Leaving) Record(pods ...*corev1.Pod) string {
	var all []annotation.Eviction
	for _, pod := range pods {
		all = append(all, annotation.Eviction{Pod: pod.Name, UID: pod.UID, At: l.at})
	}
	for _, e := range l.kept {
		if !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == e.Pod && pod.UID == e.UID }) {
			all = append(all, e)
		}
	}
	return annotation.FormatEvictions(all)
}

// RecordPatch returns the patch that writes a record on its holder, if the holder is still as it was read.
func RecordPatch(holder client.Object, record string) (client.Patch, error) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": holder.GetUID(), "resourceVersion": holder.GetResourceVersion(),
		"annotations": map[string]string{v1alpha1.EvictionsAnnotation: record},
	}})
	return client.RawPatch(types.MergePatchType, body), err
}

// removed returns the pods that their StatefulSet has no replica for any more. Its controller deletes
// them next. It returns none of a cluster that stops as a whole.
func (w *Workload) removed() []string {
	if w.replicas() == 0 {
		return nil
	}
	var out []string
	for _, pod := range w.Pods {
		sts, at := w.ordinalOf(pod.Name)
		if sts != nil && (at < 0 || at >= owner.ReplicasOf(sts)) {
			out = append(out, pod.Name)
		}
	}
	return out
}

// pod returns the member's pod of a name, nil for none.
func (w *Workload) pod(name string) *corev1.Pod {
	for _, p := range w.Pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}
