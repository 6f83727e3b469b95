// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// RolloutRecord is what the annotations of a StatefulSet record about a rollout that is held.
type RolloutRecord struct {
	// Author is the update strategy that its author chose.
	Author appsv1.StatefulSetUpdateStrategy
	// Value is the strategy that this project set last.
	Value rollout.Value
	// Since is when it was set.
	Since time.Time
	// Reason is why.
	Reason string
	// ReleaseSince is since when no policy holds the rollout, zero while one does.
	ReleaseSince time.Time
}

// RolloutAnnotations returns the keys of a record's annotations.
func RolloutAnnotations() []string {
	return []string{
		v1alpha1.RolloutAuthorAnnotation, v1alpha1.RolloutValueAnnotation,
		v1alpha1.RolloutSinceAnnotation, v1alpha1.RolloutReasonAnnotation,
		v1alpha1.RolloutReleaseSinceAnnotation,
	}
}

const onDelete, partition = "OnDelete", "partition="

// DecodeRolloutRecord reads a record. It returns false where there is none, or one without a valid
// strategy. A time that is invalid or in the future counts as now.
func DecodeRolloutRecord(annotations map[string]string, now time.Time) (RolloutRecord, bool) {
	r := RolloutRecord{Since: now, Reason: annotations[v1alpha1.RolloutReasonAnnotation]}
	value := annotations[v1alpha1.RolloutValueAnnotation]
	if digits, ok := strings.CutPrefix(value, partition); ok {
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			return r, false
		}
		r.Value.Partition = int(n)
	} else if r.Value.OnDelete = value == onDelete; !r.Value.OnDelete {
		return r, false
	}
	if err := json.Unmarshal([]byte(annotations[v1alpha1.RolloutAuthorAnnotation]), &r.Author); err != nil ||
		r.Author.Type != appsv1.RollingUpdateStatefulSetStrategyType {
		return r, false
	}
	if t := timeBy(annotations[v1alpha1.RolloutSinceAnnotation], now); !t.IsZero() {
		r.Since = t
	}
	r.ReleaseSince = timeBy(annotations[v1alpha1.RolloutReleaseSinceAnnotation], now)
	return r, true
}

// RecoverRolloutRecord reads a record as DecodeRolloutRecord does, to end it. If only the author's
// strategy is missing or invalid, the author is taken to have chosen none, which is to restart all pods.
func RecoverRolloutRecord(annotations map[string]string, now time.Time) (RolloutRecord, bool) {
	if r, ok := DecodeRolloutRecord(annotations, now); ok {
		return r, true
	}
	annotations = maps.Clone(annotations)
	if annotations != nil {
		annotations[v1alpha1.RolloutAuthorAnnotation] = `{"type":"RollingUpdate"}`
	}
	return DecodeRolloutRecord(annotations, now)
}

// Encode returns the record as annotations.
func (r RolloutRecord) Encode() (map[string]string, error) {
	author, err := json.Marshal(r.Author)
	if err != nil {
		return nil, err
	}
	value := onDelete
	if !r.Value.OnDelete {
		value = partition + strconv.Itoa(r.Value.Partition)
	}
	texts := map[string]string{
		v1alpha1.RolloutAuthorAnnotation: string(author), v1alpha1.RolloutValueAnnotation: value,
		v1alpha1.RolloutSinceAnnotation: r.Since.UTC().Format(time.RFC3339), v1alpha1.RolloutReasonAnnotation: r.Reason,
	}
	if !r.ReleaseSince.IsZero() {
		texts[v1alpha1.RolloutReleaseSinceAnnotation] = r.ReleaseSince.UTC().Format(time.RFC3339)
	}
	return texts, nil
}

// RolloutValueOf returns the strategy of a StatefulSet as the rollout rule uses it.
func RolloutValueOf(s *appsv1.StatefulSetUpdateStrategy) rollout.Value {
	if s.Type != appsv1.RollingUpdateStatefulSetStrategyType && s.Type != "" {
		return rollout.Value{OnDelete: true}
	}
	if s.RollingUpdate == nil || s.RollingUpdate.Partition == nil {
		return rollout.Value{}
	}
	return rollout.Value{Partition: int(*s.RollingUpdate.Partition)}
}

// WithRolloutValue returns the author's strategy with the value that this project sets. At most one pod at once
// restarts by it.
func WithRolloutValue(author appsv1.StatefulSetUpdateStrategy, v rollout.Value) appsv1.StatefulSetUpdateStrategy {
	if v.OnDelete {
		return appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	}
	out := OneAtOnce(author)
	if out.RollingUpdate == nil {
		out.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
	}
	out.RollingUpdate.Partition = new(int32(v.Partition)) //nolint:gosec // a number of replicas
	return out
}

// OneAtOnce returns a strategy by which at most one pod at once restarts. A percentage is replaced whatever the
// replicas are, because their number may change.
func OneAtOnce(s appsv1.StatefulSetUpdateStrategy) appsv1.StatefulSetUpdateStrategy {
	out := *s.DeepCopy()
	if r := out.RollingUpdate; r != nil && r.MaxUnavailable != nil && (r.MaxUnavailable.Type == intstr.String || r.MaxUnavailable.IntVal > 1) {
		r.MaxUnavailable = new(intstr.FromInt32(1))
	}
	return out
}

// RestartsAtOnce returns how many of the replicas a StatefulSet's controller may restart at once. Like it, it
// rounds a percentage down, but not below 1.
func RestartsAtOnce(s *appsv1.StatefulSetUpdateStrategy, replicas int) int {
	if s.RollingUpdate == nil || s.RollingUpdate.MaxUnavailable == nil || RolloutValueOf(s).OnDelete {
		return 1
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(s.RollingUpdate.MaxUnavailable, replicas, false)
	if err != nil {
		return 1 // the API server refuses such a value
	}
	return max(1, min(n, replicas))
}
