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
)

// TestReplaceOfOldestVolume: a member whose data differ from the majority's, and whose volume is older than those of
// the majority, is replaced by force only.
func TestReplaceOfOldestVolume(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		days    [3]int // the age of each member's volume claim, 0 if it has none; the data of main-2 differ
		force   bool
		refused bool
	}{
		{"the others began later", [3]int{1, 1, 9}, false, true},
		{"the others began later, by force", [3]int{1, 1, 9}, true, false},
		{"one of the others is as old", [3]int{1, 9, 9}, false, false},
		{"it began later", [3]int{9, 9, 1}, false, false},
		{"the age of another one is not known", [3]int{0, 1, 9}, false, false},
		{"its own age is not known", [3]int{1, 1, 0}, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, func(w *writing) { w.Etcd.Odd = "main-2" })
			w.s.claims = map[string][]*corev1.PersistentVolumeClaim{}
			for i, days := range row.days {
				if pod := w.s.Ordinals[i].Pod; days > 0 {
					created := metav1.NewTime(time.Now().AddDate(0, 0, -days))
					w.s.claims[pod] = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: created}}}
				}
			}
			f := &operate.Findings{}
			pod, err := w.m.checkHealthy(t.Context(), w.s, "main-2", row.force, f)
			if err != nil || pod != "main-2" {
				t.Fatalf("it replaces %q, %v", pod, err)
			}
			if refusal := strings.Join(f.Refusals, ""); strings.Contains(refusal, "its volume is older than theirs") != row.refused || !row.refused && refusal != "" {
				t.Errorf("refused: %q", refusal)
			}
		})
	}
}
