// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

func TestSpreadRecord(t *testing.T) {
	t.Parallel()
	want := SpreadRecord{
		Policy: "default",
		At:     time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
		Terms: []spread.Term{
			{Kind: spread.PodAntiAffinity, TopologyKey: spread.HostnameKey, Hard: true},
			{Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey, Hard: true, MinDomains: 3},
			{Kind: spread.TopologySpread, TopologyKey: "example.com/rack"},
		},
		Notes: []SpreadNote{{Reason: "VolumeBound", Message: "volume is in zone a"}},
	}
	text := want.String()
	const wantText = `{"policy":"default","at":"2026-11-20T09:00:00Z","terms":["PodAntiAffinity kubernetes.io/hostname hard",` +
		`"TopologySpread topology.kubernetes.io/zone hard minDomains=3","TopologySpread example.com/rack soft"],` +
		`"notes":[{"reason":"VolumeBound","message":"volume is in zone a"}]}`
	if text != wantText {
		t.Errorf("String() = %s\nwant       %s", text, wantText)
	}
	pod := func(text string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.SpreadAnnotation: text}}}
	}
	got, ok := SpreadRecordOf(pod(text))
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("SpreadRecordOf: %t (-want +got):\n%s", ok, diff)
	}
	for _, bad := range []string{"", "yes", `{"terms":["a"]}`, `{"terms":["a b hard minDomains=x"]}`, `{"terms":["a b c d e"]}`, `{"at":"today"}`} {
		if _, ok := SpreadRecordOf(pod(bad)); ok {
			t.Errorf("SpreadRecordOf(%q) returns a record", bad)
		}
	}
}

// TestSpreadRecordOfTemplate holds that a record that a template or a backup has is not read, and that one
// of an earlier version, without a time, is.
func TestSpreadRecordOfTemplate(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name string
		at   time.Time
		want bool
	}{
		{"at once", created, true},
		{"by a slow request", created.Add(-50 * time.Second), true},
		{"by a clock that is ahead", created.Add(50 * time.Second), true},
		{"by a clock that differs by minutes", created.Add(4 * time.Minute), true},
		{"minutes before", created.Add(-4 * time.Minute), true},
		{"of another pod", created.Add(-time.Hour), false},
		{"of the future", created.Add(time.Hour), false},
		{"without a time", time.Time{}, true},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			CreationTimestamp: metav1.NewTime(created),
			Annotations:       map[string]string{v1alpha1.SpreadAnnotation: SpreadRecord{Policy: "p", At: row.at}.String()},
		}}
		if _, got := SpreadRecordOf(pod); got != row.want {
			t.Errorf("%s: read %t", row.name, got)
		}
		pod.CreationTimestamp = metav1.Time{}
		if _, got := SpreadRecordOf(pod); !got {
			t.Errorf("%s: not read before the pod is created", row.name)
		}
	}
}
