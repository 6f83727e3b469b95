// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// Rollout is what is known of the rollout of a cluster.
type Rollout struct {
	Facts rollout.Facts
	// Sets are the StatefulSets of Facts.Sets, in the same order.
	Sets []RolloutSet
	// Leaving has the budget for a record of the pod that restarts next.
	Leaving
	// Pods are those of the members, by name.
	Pods map[string]*corev1.Pod
	// At is when the facts were read.
	At time.Time
}

// RolloutSet is a StatefulSet. Its object is of the cache and must not be changed.
type RolloutSet struct {
	*appsv1.StatefulSet
	// Record is nil for a StatefulSet whose rollout is not held. Bypassed is true if its strategy is not
	// the one that was set last: another client has written it past admission.
	Record   *annotation.RolloutRecord
	Bypassed bool
}

// RolloutHeld reports whether a StatefulSet has a record of a rollout that is held.
func RolloutHeld(annotations map[string]string) bool {
	_, held := annotations[v1alpha1.RolloutValueAnnotation]
	return held
}

// StatefulSet reads a StatefulSet. It returns false if there is none.
func (r *Reader) StatefulSet(ctx context.Context, key types.NamespacedName) (*appsv1.StatefulSet, bool, error) {
	var sts appsv1.StatefulSet
	found, err := r.fetch(ctx, key.Namespace, key.Name, &sts)
	if err != nil || !found {
		return nil, false, err
	}
	return &sts, true, nil
}

// LiveRollout reads the rollout of a cluster from the API server.
func (r *Reader) LiveRollout(ctx context.Context, o owner.Owner) (Rollout, error) {
	return (&Reader{Reader: r.live(), Leases: r.Leases}).WithoutNodes().Rollout(ctx, o)
}

// Rollout reads the rollout of a cluster. The budgets are read first, as for evictions: one that is
// recorded after that is seen as a conflict.
func (r *Reader) Rollout(ctx context.Context, o owner.Owner) (Rollout, error) {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.List(ctx, &budgets, client.InNamespace(o.Namespace)); err != nil {
		return Rollout{}, fmt.Errorf("list budgets of namespace %s: %w", o.Namespace, err)
	}
	w, err := r.workload(ctx, o)
	if err != nil {
		return Rollout{}, err
	}
	facts, err := r.Facts(ctx, o)
	if err != nil {
		return Rollout{}, err
	}
	out := Rollout{At: facts.At, Leaving: r.leaving(&w, budgets.Items), Pods: map[string]*corev1.Pod{}}
	for _, pod := range w.pods {
		out.Pods[pod.Name] = pod
	}
	out.Facts = rollout.Facts{Cluster: facts.Cluster, Confirmed: facts.Confirmed, Reason: ReleaseReason(o.Annotations)}
	for _, e := range out.underWay {
		out.Facts.Leaving = append(out.Facts.Leaving, e.Pod)
	}
	for _, sts := range w.sets() {
		out.add(sts, facts.Cluster.Members)
	}
	return out, nil
}

// ReleaseReason returns the reason of a user who releases the rollouts of a cluster, empty for none.
func ReleaseReason(annotations map[string]string) string {
	reason, released := strings.CutPrefix(annotations[v1alpha1.RolloutAnnotation], v1alpha1.ReleasePrefix)
	if !released {
		return ""
	}
	return strings.TrimSpace(reason)
}

// add reads a StatefulSet.
func (o *Rollout) add(sts *appsv1.StatefulSet, members []policy.Member) {
	s := RolloutSet{StatefulSet: sts}
	set := rollout.Set{
		Name: sts.Name, Value: annotation.RolloutValueOf(&sts.Spec.UpdateStrategy),
		Observed: sts.Status.ObservedGeneration >= sts.Generation,
		Ordered:  sts.Spec.PodManagementPolicy != appsv1.ParallelPodManagement,
	}
	if record, ok := annotation.DecodeRolloutRecord(sts.Annotations, o.At); ok {
		s.Record, s.Bypassed = &record, record.Value != set.Value
		set.Held, set.Author = !s.Bypassed, annotation.RolloutValueOf(&record.Author).Partition
		if since := o.At.Sub(record.Since); o.Facts.Since == 0 || since < o.Facts.Since {
			o.Facts.Since = since
		}
	}
	whole := owner.OfStatefulSet(sts)
	for i := range replicasOf(sts) {
		set.Pods = append(set.Pods, o.podOf(sts, whole.PodName(i), members))
	}
	if o.Facts.Reason == "" {
		o.Facts.Reason = ReleaseReason(sts.Annotations)
	}
	o.Facts.Sets, o.Sets = append(o.Facts.Sets, set), append(o.Sets, s)
}

// podOf returns a replica of a StatefulSet by its name.
func (o *Rollout) podOf(sts *appsv1.StatefulSet, name string, members []policy.Member) rollout.Pod {
	p := rollout.Pod{Member: policy.Member{Pod: name}}
	for _, m := range members {
		if m.Pod == name {
			p.Member = m
		}
	}
	pod := o.Pods[name]
	p.Exists = pod != nil
	if pod == nil {
		return p
	}
	p.Going = pod.DeletionTimestamp != nil
	p.Updated = pod.Labels[appsv1.StatefulSetRevisionLabel] == sts.Status.UpdateRevision
	// The StatefulSet's controller waits as long.
	if c := podstate.Condition(pod, corev1.PodReady); p.PodReady && c != nil {
		p.PodReady = o.At.Sub(c.LastTransitionTime.Time) >= time.Duration(sts.Spec.MinReadySeconds)*time.Second
	}
	return p
}

// RolloutSettings returns the settings of a policy for the rollout rule, with the defaults of the CRD.
func RolloutSettings(p *v1alpha1.EtcdTopologyPolicy) rollout.Settings {
	if d := p.Spec.Rollout.HoldLimit; d != nil {
		return rollout.Settings{HoldLimit: d.Duration}
	}
	return rollout.Settings{HoldLimit: time.Hour}
}

// AnyRecord reports whether a StatefulSet has a record of a rollout.
func (o *Rollout) AnyRecord() bool {
	return slices.ContainsFunc(o.Sets, func(s RolloutSet) bool { return s.Record != nil })
}

// Changes reports whether a step changes the strategy of a StatefulSet.
func (o *Rollout) Changes(step rollout.Step) bool {
	for i, set := range o.Facts.Sets {
		if set.Value != step.Values[i] {
			return true
		}
	}
	return false
}

// Patch returns the patch by which a StatefulSet gets a strategy for a reason, or gives up the record
// with the author's strategy. It returns nil if nothing changes. One that was written past admission
// keeps its strategy.
func (s *RolloutSet) Patch(have, due rollout.Value, release bool, reason policy.Reason, now time.Time) (client.Patch, error) {
	switch {
	case s.Bypassed:
		return rolloutPatch(s.StatefulSet, nil, nil)
	case release:
		author := annotation.WithRolloutValue(s.Record.Author, annotation.RolloutValueOf(&s.Record.Author))
		return rolloutPatch(s.StatefulSet, nil, &author)
	case have == due && (s.Record.Reason == reason.Name() || rollout.Passing(reason)):
		return nil, nil
	}
	record := *s.Record
	record.Reason = reason.Name()
	if have != due {
		record.Value, record.Since = due, now
	}
	strategy := annotation.WithRolloutValue(record.Author, record.Value)
	return rolloutPatch(s.StatefulSet, &record, &strategy)
}

// RestoreRollout returns the patch that gives a StatefulSet its author's strategy back and removes
// the record, nil for one without a record.
func RestoreRollout(sts *appsv1.StatefulSet, now time.Time) (client.Patch, error) {
	if !RolloutHeld(sts.Annotations) {
		return nil, nil
	}
	s := RolloutSet{StatefulSet: sts, Bypassed: true}
	if record, ok := annotation.DecodeRolloutRecord(sts.Annotations, now); ok && record.Value == annotation.RolloutValueOf(&sts.Spec.UpdateStrategy) {
		s.Record, s.Bypassed = &record, false
	}
	return s.Patch(rollout.Value{}, rollout.Value{}, true, policy.Reason{}, now)
}

// rolloutPatch writes a record and a strategy of the StatefulSet, in exactly the version that was
// read. Nil removes the record, or leaves the strategy.
func rolloutPatch(sts *appsv1.StatefulSet, record *annotation.RolloutRecord, strategy *appsv1.StatefulSetUpdateStrategy) (client.Patch, error) {
	annotations := map[string]any{}
	for _, key := range annotation.RolloutAnnotations() {
		annotations[key] = nil
	}
	if record != nil {
		texts, err := record.Encode()
		if err != nil {
			return nil, err
		}
		for key, text := range texts {
			annotations[key] = text
		}
	}
	body := map[string]any{"metadata": map[string]any{"uid": sts.UID, "resourceVersion": sts.ResourceVersion, "annotations": annotations}}
	if strategy != nil {
		update := map[string]any{"type": strategy.Type, "rollingUpdate": nil}
		if strategy.RollingUpdate != nil {
			update["rollingUpdate"] = strategy.RollingUpdate
		}
		body["spec"] = map[string]any{"updateStrategy": update}
	}
	text, err := json.Marshal(body)
	return client.RawPatch(types.MergePatchType, text), err
}
