// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
)

// TestDeletionBlockedBy: the pod of a node that is gone is never deleted by itself, and the message explains that.
func TestDeletionBlockedBy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	m := &Members{Clock: testingclock.NewFakeClock(now)}
	going := func(end time.Time) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main-1", DeletionTimestamp: &metav1.Time{Time: end}},
			Spec:       corev1.PodSpec{NodeName: "node-3"},
		}
	}
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"none", nil, ""},
		{"running", &corev1.Pod{}, ""},
		{"has time left", going(now.Add(20 * time.Second)), ""},
		{"a moment late", going(now.Add(-20 * time.Second)), ""},
		{"hours late", going(now.Add(-2 * time.Hour)), "should have ended 2h0m0s ago, so node node-3 may be gone; if it is gone for good: kubectl delete node node-3, or kubectl delete pod main-1 -n team --force"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := m.deletionBlockedBy(c.pod); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
