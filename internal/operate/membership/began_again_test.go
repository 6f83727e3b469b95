// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
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
			w.s.claims = nil
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

// claimsOf returns the names of a pod's volume claims.
func claimsOf(w *writing, pod string) (names []string) {
	for _, c := range w.m.Owner.Claims {
		names = append(names, c.Template+"-"+pod)
	}
	return names
}

// TestReplaceOfOlderVolume: a silent member that may have the data from before, since its volume is older, is not
// replaced by force. Its etcd need not run.
func TestReplaceOfOlderVolume(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		minutes []int // the age of each member's volume
		change  func(w *writing, claim *corev1.PersistentVolumeClaim)
		refused bool
	}{
		{"the others have new volumes", []int{20, 20, 600}, nil, true},
		{"its pod is gone", []int{20, 20, 600}, func(w *writing, _ *corev1.PersistentVolumeClaim) { delete(w.s.pods, "main-2") }, true},
		{"all have volumes of one time", []int{600, 600, 600}, nil, false},
		{"one of the others has a volume as old", []int{20, 600, 600}, nil, false},
		{"its claim is being deleted", []int{20, 20, 600}, func(_ *writing, c *corev1.PersistentVolumeClaim) {
			c.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		}, false},
		{"it was restored since", []int{20, 20, 600}, func(w *writing, _ *corev1.PersistentVolumeClaim) {
			kept := annotation.FormatKeptData([]annotation.KeptData{{At: time.Now().Add(-time.Minute)}})
			w.m.Owner.Annotations = map[string]string{v1alpha1.KeptDataAnnotation: kept}
		}, false},
		{"the leader receives messages from it", []int{20, 20, 600}, func(w *writing, _ *corev1.PersistentVolumeClaim) {
			w.Etcd.Reached = []string{"main-0", "main-1", "main-2"}
		}, false},
		{"the others have old volumes for backups, and it is not known which have the data", []int{20, 20, 600}, func(w *writing, _ *corev1.PersistentVolumeClaim) {
			w.m.Owner.Claims = append(slices.Clone(w.m.Owner.Claims), owner.Claim{Template: "backups"})
			for i := range w.s.configs {
				w.s.configs[i].DataDir = "$DIR"
				pod := w.s.Ordinals[i].Pod
				old := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "backups-" + pod, CreationTimestamp: metav1.NewTime(time.Now().Add(-10 * time.Hour))}}
				old.Status.Phase = corev1.ClaimBound
				w.s.claims[pod] = append(w.s.claims[pod], old)
			}
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, func(w *writing) { w.stop(t, []string{"main-2"}) })
			w.s.claims = map[string][]*corev1.PersistentVolumeClaim{}
			for i, minutes := range row.minutes {
				pod := w.s.Ordinals[i].Pod
				claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-" + pod, CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Duration(minutes) * time.Minute))}}
				claim.Status.Phase = corev1.ClaimBound
				if w.s.claims[pod] = []*corev1.PersistentVolumeClaim{claim}; row.change != nil && i == 2 {
					row.change(w, claim)
				}
			}
			f := &operate.Findings{}
			if err := w.m.checkReplaced(t.Context(), w.s, &Change{Record: membership.Record{Ordinal: 2}}, true, f); err != nil {
				t.Fatal(err)
			}
			refusal := strings.Join(f.Refusals, " ")
			if strings.Contains(refusal, "its volume is older than theirs: it may have the earlier data, or the cluster was restored by hand since. Copy") != row.refused ||
				row.refused && !strings.Contains(refusal, "kubectl delete pvc "+strings.Join(claimsOf(w, "main-2"), " ")+" -n team --wait=false; kubectl delete pod main-2 -n team") {
				t.Errorf("refused: %q", refusal)
			}
		})
	}
}
