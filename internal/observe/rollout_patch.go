// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

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
// keeps its strategy. Of one that is held, maxUnavailable that was written past admission is the author's.
func (s *RolloutSet) Patch(have, due rollout.Value, release bool, reason policy.Reason, now time.Time) (client.Patch, error) {
	switch {
	case s.Bypassed:
		return rolloutPatch(s.StatefulSet, nil, nil)
	case release:
		author := annotation.WithRolloutValue(s.Record.Author, annotation.RolloutValueOf(&s.Record.Author))
		author.RollingUpdate.MaxUnavailable = maxUnavailable(&s.Record.Author)
		return rolloutPatch(s.StatefulSet, nil, &author)
	case have == due && !s.several() && s.ReleaseSince.Equal(s.Record.ReleaseSince) && (s.Record.Reason == reason.Name() || rollout.Passing(reason)):
		return nil, nil
	}
	record := *s.Record
	if s.several() {
		record.Author = *record.Author.DeepCopy()
		if record.Author.RollingUpdate == nil {
			record.Author.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
		record.Author.RollingUpdate.MaxUnavailable = maxUnavailable(&s.Spec.UpdateStrategy)
	}
	record.Reason, record.ReleaseSince = reason.Name(), s.ReleaseSince
	if have != due {
		record.Value, record.Since = due, now
	}
	strategy := annotation.WithRolloutValue(record.Author, record.Value)
	return rolloutPatch(s.StatefulSet, &record, &strategy)
}

// several reports whether the strategy in force may restart more than one pod at once.
func (s *RolloutSet) several() bool {
	return !equality.Semantic.DeepEqual(annotation.OneAtOnce(s.Spec.UpdateStrategy), s.Spec.UpdateStrategy)
}

func maxUnavailable(s *appsv1.StatefulSetUpdateStrategy) *intstr.IntOrString {
	if s.RollingUpdate == nil {
		return nil
	}
	return s.RollingUpdate.MaxUnavailable
}

// Outdated reports whether pods may have another template than the newest. The two revisions of the
// status are equal again if a template is restored while pods have the other one, and they are of
// before a change that the StatefulSet's controller has not seen.
func Outdated(sts *appsv1.StatefulSet) bool {
	s := &sts.Status
	return s.UpdateRevision != s.CurrentRevision || s.UpdatedReplicas < s.Replicas || s.ObservedGeneration < sts.Generation
}

// RestoredToOne returns the author's maxUnavailable that RestoreRollout replaces by 1, empty for none: after that,
// nothing waits for the rollout to be complete.
func RestoredToOne(sts *appsv1.StatefulSet, now time.Time) string {
	s := recordedSet(sts, now)
	if s.Bypassed || !Outdated(sts) || annotation.RestartsAtOnce(&s.Record.Author, replicasOf(sts)) == 1 {
		return ""
	}
	return maxUnavailable(&s.Record.Author).String()
}

// RestoreRollout returns the patch that gives a StatefulSet its author's strategy back and removes
// the record, nil for one without a record. While pods are left to restart, not more than one restarts at once.
func RestoreRollout(sts *appsv1.StatefulSet, now time.Time) (client.Patch, error) {
	if !RolloutHeld(sts.Annotations) {
		return nil, nil
	}
	s := recordedSet(sts, now)
	if RestoredToOne(sts, now) != "" {
		s.Record.Author = annotation.OneAtOnce(s.Record.Author)
	}
	return s.Patch(rollout.Value{}, rollout.Value{}, true, policy.Reason{}, now)
}

// RestoredRollout returns the text of the merge patch of RestoreRollout that a person may apply to any
// version of the StatefulSet. It has no single quote, so that a command may have it between two: its values are
// from an annotation, which other users write.
func RestoredRollout(sts *appsv1.StatefulSet, now time.Time) (string, error) {
	patch, err := RestoreRollout(sts, now)
	if err != nil || patch == nil {
		return "", err
	}
	body, err := patch.Data(sts)
	if err != nil {
		return "", err
	}
	var parts map[string]map[string]any
	if err := json.Unmarshal(body, &parts); err != nil {
		return "", err
	}
	delete(parts["metadata"], "uid")
	delete(parts["metadata"], "resourceVersion")
	body, err = json.Marshal(parts)
	return strings.ReplaceAll(string(body), "'", `\u0027`), err
}

// EndRollout returns the patch for a StatefulSet with a record that is part of no etcd cluster any
// more, nil for none. The patch records since when that is so. After settle, or if a user releases the
// rollout, it is the one of RestoreRollout. wait is how long until then.
func EndRollout(sts *appsv1.StatefulSet, settle time.Duration, now time.Time) (patch client.Patch, wait time.Duration, err error) {
	s := recordedSet(sts, now)
	if !s.Bypassed && ReleaseReason(sts.Annotations) == "" {
		if s.ReleaseSince = s.Record.ReleaseSince; s.ReleaseSince.IsZero() {
			s.ReleaseSince = now
		}
		wait = s.ReleaseSince.Add(settle).Sub(now)
	}
	switch {
	case wait <= 0 && RestoredToOne(sts, now) != "": // the author's maxUnavailable is restored when it is complete
		patch, err = s.Patch(s.Record.Value, annotation.RolloutValueOf(&s.Record.Author), false, rollout.GuardEnded, now)
		return patch, time.Minute, err
	case wait <= 0:
		patch, err = RestoreRollout(sts, now)
		return patch, 0, err
	}
	patch, err = s.Patch(s.Record.Value, s.Record.Value, false, rollout.Unguarded, now)
	return patch, wait, err
}

// recordedSet returns a StatefulSet with its record. It counts as bypassed if the record is invalid,
// or if its strategy is another one.
func recordedSet(sts *appsv1.StatefulSet, now time.Time) RolloutSet {
	s := RolloutSet{StatefulSet: sts, Bypassed: true}
	if record, ok := annotation.RecoverRolloutRecord(sts.Annotations, now); ok && record.Value == annotation.RolloutValueOf(&sts.Spec.UpdateStrategy) {
		s.Record, s.Bypassed = &record, false
	}
	return s
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

// RolloutHeld reports whether a StatefulSet has a record of a rollout that is held.
func RolloutHeld(annotations map[string]string) bool {
	_, held := annotations[v1alpha1.RolloutValueAnnotation]
	return held
}

// HoldsRollout reports whether the rollout of a StatefulSet is held: its strategy is the one of its record.
func HoldsRollout(sts *appsv1.StatefulSet) bool {
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
