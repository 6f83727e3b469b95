// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"testing"

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
		Terms: []spread.Term{
			{Kind: spread.PodAntiAffinity, TopologyKey: spread.HostnameKey, Hard: true},
			{Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey, Hard: true, MinDomains: 3},
			{Kind: spread.TopologySpread, TopologyKey: "example.com/rack"},
		},
		Notes: []SpreadNote{{Reason: "VolumeBound", Message: "volume is in zone a"}},
	}
	text := want.String()
	const wantText = `{"policy":"default","terms":["PodAntiAffinity kubernetes.io/hostname hard",` +
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
	for _, bad := range []string{"", "yes", `{"terms":["a"]}`, `{"terms":["a b hard minDomains=x"]}`, `{"terms":["a b c d e"]}`} {
		if _, ok := SpreadRecordOf(pod(bad)); ok {
			t.Errorf("SpreadRecordOf(%q) returns a record", bad)
		}
	}
}
