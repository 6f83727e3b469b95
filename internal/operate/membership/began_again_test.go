// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestReplaceOfOldData: a silent member that alone can have the data from before is not replaced, not even by force.
func TestReplaceOfOldData(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		minutes []int
		refused bool
	}{
		{"the others began later", []int{2, 2, 600}, true},
		{"all began at the same time", []int{600, 600, 600}, false},
		{"one of the others ran as long", []int{2, 600, 600}, false},
		{"it began later", []int{600, 600, 2}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, func(w *writing) { w.stop(t, []string{"main-2"}) })
			for i, minutes := range row.minutes {
				pod := w.s.pods[w.s.Ordinals[i].Pod]
				started := metav1.NewTime(time.Now().Add(-time.Duration(minutes) * time.Minute))
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: w.s.configs[i].Container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
				}}
			}
			f := &operate.Findings{}
			if err := w.m.checkReplaced(t.Context(), w.s, &Change{Record: membership.Record{Ordinal: 2}}, true, f); err != nil {
				t.Fatal(err)
			}
			refusal := ""
			if err := f.Refused("replace"); err != nil {
				refusal = err.Error()
			}
			if strings.Contains(refusal, "only it can have the earlier data: copy") != row.refused {
				t.Errorf("refused: %q", refusal)
			}
		})
	}
}
