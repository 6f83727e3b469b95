// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

func TestRolloutRecord(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	author := appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(1))}}
	for _, v := range []rollout.Value{{Partition: 3}, {OnDelete: true}, {}} {
		want := RolloutRecord{Author: author, Value: v, Since: now.Add(-time.Minute), Reason: "MemberDown", ReleaseSince: now.Add(-time.Second)}
		text, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := DecodeRolloutRecord(text, now)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%v: %t (-want +got):\n%s", text, ok, diff)
		}
		strategy := WithRolloutValue(author, v)
		if back := RolloutValueOf(&strategy); back != v {
			t.Errorf("%+v became %+v", v, back)
		}
		if len(text) != len(RolloutAnnotations()) {
			t.Errorf("%v has other keys than %v", text, RolloutAnnotations())
		}
	}
}

func TestRolloutRecordInvalid(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	const author = `{"type":"RollingUpdate"}`
	for _, r := range []map[string]string{
		nil,
		{v1alpha1.RolloutAuthorAnnotation: author},
		{v1alpha1.RolloutAuthorAnnotation: author, v1alpha1.RolloutValueAnnotation: "partition=-1"},
		{v1alpha1.RolloutAuthorAnnotation: author, v1alpha1.RolloutValueAnnotation: "partition=99999999999"},
		{v1alpha1.RolloutAuthorAnnotation: author, v1alpha1.RolloutValueAnnotation: "3"},
		{v1alpha1.RolloutAuthorAnnotation: `{"type":"OnDelete"}`, v1alpha1.RolloutValueAnnotation: "partition=1"},
		{v1alpha1.RolloutAuthorAnnotation: "{", v1alpha1.RolloutValueAnnotation: "partition=1"},
	} {
		if got, ok := DecodeRolloutRecord(r, now); ok {
			t.Errorf("%v: %+v", r, got)
		}
	}
	for text, want := range map[string]bool{"partition=1": true, "OnDelete": true, "3": false, "": false} {
		got, ok := RecoverRolloutRecord(map[string]string{v1alpha1.RolloutAuthorAnnotation: "{", v1alpha1.RolloutValueAnnotation: text}, now)
		if ok != want || ok && RolloutValueOf(&got.Author) != (rollout.Value{}) {
			t.Errorf("recovered from %q: %t %+v", text, ok, got)
		}
	}
	got, ok := DecodeRolloutRecord(map[string]string{
		v1alpha1.RolloutAuthorAnnotation: author, v1alpha1.RolloutValueAnnotation: "partition=1",
		v1alpha1.RolloutSinceAnnotation: now.Add(time.Hour).Format(time.RFC3339), v1alpha1.RolloutReleaseSinceAnnotation: now.Add(time.Hour).Format(time.RFC3339),
	}, now)
	if !ok || !got.Since.Equal(now) || !got.ReleaseSince.Equal(now) {
		t.Errorf("a time in the future: %t %+v", ok, got)
	}
}
