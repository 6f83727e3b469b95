// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// FuzzDecodeRolloutRecord reads records that other clients wrote. What is read stays the same when it
// is written and read again, and is no later than now.
func FuzzDecodeRolloutRecord(f *testing.F) {
	f.Add(`{"type":"RollingUpdate"}`, "partition=3", "2026-11-20T09:00:00Z", "AllReady")
	f.Add(`{"type":"RollingUpdate","rollingUpdate":{"partition":-1,"maxUnavailable":"100%"}}`, "OnDelete", "9999-01-01T00:00:00Z", "")
	f.Add("{", "partition=99999999999", "", "x")
	f.Fuzz(func(t *testing.T, author, value, since, reason string) {
		texts := map[string]string{
			v1alpha1.RolloutAuthorAnnotation: author, v1alpha1.RolloutValueAnnotation: value,
			v1alpha1.RolloutSinceAnnotation: since, v1alpha1.RolloutReasonAnnotation: reason,
		}
		r, ok := RecoverRolloutRecord(texts, now)
		if !ok {
			return
		}
		if r.Since.After(now) || r.Value.Partition < 0 {
			t.Errorf("%q gave %+v", texts, r)
		}
		written, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, ok := DecodeRolloutRecord(written, now); !ok || again.Value != r.Value || !cmp.Equal(again.Author, r.Author) || again.Reason != r.Reason {
			t.Errorf("%+v became %+v", r, again)
		}
	})
}

// FuzzSpreadRecordOf does the same with the record of a pod.
func FuzzSpreadRecordOf(f *testing.F) {
	f.Add(`{"policy":"p","terms":["PodAntiAffinity kubernetes.io/hostname hard","TopologySpread zone soft minDomains=3"]}`)
	f.Add(`{"policy":"p","terms":["TopologySpread zone hard minDomains=-1"],"notes":[{"reason":"x"}]}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		read := func(text string) (SpreadRecord, bool) {
			return SpreadRecordOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.SpreadAnnotation: text}}})
		}
		r, ok := read(text)
		if !ok {
			return
		}
		if again, ok := read(r.String()); !ok || again.String() != r.String() {
			t.Errorf("%q: %+v became %+v", text, r, again)
		}
	})
}

// FuzzParseEvictions does the same with the evictions that a budget records.
func FuzzParseEvictions(f *testing.F) {
	f.Add("etcd-0=uid@2026-11-20T09:00:00Z,etcd-1=uid@2026-11-20T09:00:01+14:00")
	f.Add("a=@2026-11-20T09:00:00Z,=b@,a=b@c@2026-11-20T09:00:00Z,a=b=c@2026-11-20T09:00:00Z")
	f.Fuzz(func(t *testing.T, text string) {
		read := ParseEvictions(text)
		if len(read) > mostMembers {
			t.Errorf("%d of %q", len(read), text)
		}
		written := FormatEvictions(read)
		if again := FormatEvictions(ParseEvictions(written)); again != written {
			t.Errorf("%q became %q", written, again)
		}
	})
}
