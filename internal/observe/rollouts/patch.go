// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"encoding/json"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// Changes reports whether a step changes the strategy of a StatefulSet.
func (o *State) Changes(step rollout.Step) bool {
	for i, set := range o.Facts.Sets {
		if set.Value != step.Values[i] {
			return true
		}
	}
	return false
}

// Patch returns the patch by which a StatefulSet gets a strategy for a reason, or gives up the record
// with the author's strategy. It returns nil if nothing changes. One that was written past admission
// keeps its strategy. Of one that is held, maxUnavailable that was written past admission is the author's.
func (s *Set) Patch(have, due rollout.Value, release bool, reason policy.Reason, now time.Time) (client.Patch, error) {
	switch {
	case s.Bypassed:
		return rolloutPatch(s.StatefulSet, nil, nil)
	case release:
		author := annotation.WithRolloutValue(s.Record.Author, annotation.RolloutValueOf(&s.Record.Author))
		author.RollingUpdate.MaxUnavailable = MaxUnavailable(&s.Record.Author)
		return rolloutPatch(s.StatefulSet, nil, &author)
	case have == due && !s.Follows && !s.several() && s.ReleaseSince.Equal(s.Record.ReleaseSince) && (s.Record.Reason == reason.Name() || rollout.Passing(reason)):
		return nil, nil
	}
	record := *s.Record
	if s.several() {
		record.Author = *record.Author.DeepCopy()
		if record.Author.RollingUpdate == nil {
			record.Author.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
		record.Author.RollingUpdate.MaxUnavailable = MaxUnavailable(&s.Spec.UpdateStrategy)
	}
	record.Reason, record.ReleaseSince = reason.Name(), s.ReleaseSince
	if have != due || s.Follows {
		record.Value, record.Since = due, now
	}
	strategy := annotation.WithRolloutValue(record.Author, record.Value)
	return rolloutPatch(s.StatefulSet, &record, &strategy)
}

// several reports whether the strategy in force may restart more than one pod at once.
func (s *Set) several() bool {
	return !equality.Semantic.DeepEqual(annotation.OneAtOnce(s.Spec.UpdateStrategy), s.Spec.UpdateStrategy)
}

// MaxUnavailable returns how many pods a strategy may restart at once, nil for the default.
func MaxUnavailable(s *appsv1.StatefulSetUpdateStrategy) *intstr.IntOrString {
	if s.RollingUpdate == nil {
		return nil
	}
	return s.RollingUpdate.MaxUnavailable
}

// Outdated reports whether pods may have another template than the newest. The two revisions of the
// status are equal again if a template is restored while pods have the other one, and they are out
// of date until the StatefulSet's controller has seen a change.
func Outdated(sts *appsv1.StatefulSet) bool {
	s := &sts.Status
	return s.UpdateRevision != s.CurrentRevision || s.UpdatedReplicas < s.Replicas || s.ObservedGeneration < sts.Generation
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

// Recorded reports whether a StatefulSet has a record of a rollout that is held.
func Recorded(annotations map[string]string) bool {
	_, held := annotations[v1alpha1.RolloutValueAnnotation]
	return held
}

// Holds reports whether the rollout of a StatefulSet is held: its strategy is the one of its record.
func Holds(sts *appsv1.StatefulSet) bool {
	record, ok := annotation.DecodeRolloutRecord(sts.Annotations, time.Time{})
	return ok && record.Value == annotation.RolloutValueOf(&sts.Spec.UpdateStrategy)
}

// ReleaseReason returns the reason of a user who releases the rollouts of a cluster, empty for none.
func ReleaseReason(annotations map[string]string) string {
	reason, released := strings.CutPrefix(annotations[v1alpha1.RolloutAnnotation], v1alpha1.ReleasePrefix)
	if !released {
		return ""
	}
	return strings.TrimSpace(reason)
}
