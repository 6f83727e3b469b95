// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"encoding/json"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// RestoredToOne returns the author's maxUnavailable that Restore replaces by 1, empty for none: after that,
// nothing waits for the rollout to be complete.
func RestoredToOne(sts *appsv1.StatefulSet, now time.Time) string {
	s := recordedSet(sts, now)
	if s.Bypassed || !Outdated(sts) || annotation.RestartsAtOnce(&s.Record.Author, owner.ReplicasOf(sts)) == 1 {
		return ""
	}
	return MaxUnavailable(&s.Record.Author).String()
}

// Restore returns the patch that gives a StatefulSet its author's strategy back and removes
// the record, nil for one without a record. While pods are left to restart, not more than one restarts at once.
func Restore(sts *appsv1.StatefulSet, now time.Time) (client.Patch, error) {
	if !Recorded(sts.Annotations) {
		return nil, nil
	}
	s := recordedSet(sts, now)
	if RestoredToOne(sts, now) != "" {
		s.Record.Author = annotation.OneAtOnce(s.Record.Author)
	}
	return s.Patch(rollout.Value{}, rollout.Value{}, true, policy.Reason{}, now)
}

// Restored returns the text of the merge patch of Restore that a person may apply to any
// version of the StatefulSet. It has no single quote, so that a command may have it between two: its values are
// from an annotation, which other users write.
func Restored(sts *appsv1.StatefulSet, now time.Time) (string, error) {
	patch, err := Restore(sts, now)
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

// End returns the patch for a StatefulSet with a record that is part of no etcd cluster any
// more, nil for none. The patch records since when that is so. After settle, or if a user releases the
// rollout, it is the one of Restore. wait is how long until then.
func End(sts *appsv1.StatefulSet, settle time.Duration, now time.Time) (patch client.Patch, wait time.Duration, err error) {
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
		patch, err = Restore(sts, now)
		return patch, 0, err
	}
	patch, err = s.Patch(s.Record.Value, s.Record.Value, false, rollout.Unguarded, now)
	return patch, wait, err
}

// recordedSet returns a StatefulSet with its record. It counts as bypassed if the record is invalid,
// or if its strategy is another one.
func recordedSet(sts *appsv1.StatefulSet, now time.Time) Set {
	s := Set{StatefulSet: sts, Bypassed: true}
	if record, ok := annotation.RecoverRolloutRecord(sts.Annotations, now); ok && record.Value == annotation.RolloutValueOf(&sts.Spec.UpdateStrategy) {
		s.Record, s.Bypassed = &record, false
	}
	return s
}
