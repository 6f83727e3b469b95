// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// TestRolloutOfVotersWithoutRecord has three members run of five voters, and no budget records that. No member
// restarts: the others would have no quorum.
func TestRolloutOfVotersWithoutRecord(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		age        time.Duration
		unbudgeted bool
		declared   string
		want       string
	}{
		"scaled in, and a budget has no record yet": {3 * day, false, "", "partition 2 AllReady"},
		"scaled in, and the budget is gone":         {3 * day, true, "", "partition 3 MemberDown"},
		"declared since":                            {3 * day, true, "3 at " + controllertest.Now.Format(time.RFC3339), "partition 2 AllReady"},
		"created again":                             {day, false, "", "partition 3 MemberDown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			for i := range 5 {
				s.Put(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
					Namespace: "store", Name: fmt.Sprintf("data-etcd-%d", i), UID: types.UID(fmt.Sprintf("claim-%d", i)),
					CreationTimestamp: metav1.NewTime(controllertest.Now.Add(-2 * day)),
				}})
			}
			change(s, "etcd", func(sts *appsv1.StatefulSet) {
				sts.CreationTimestamp = metav1.NewTime(controllertest.Now.Add(-row.age))
				sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
				if row.declared != "" {
					sts.Annotations[v1alpha1.SizeAnnotation] = row.declared
				}
			})
			if row.unbudgeted {
				change(s, "etcd", func(b *policyv1.PodDisruptionBudget) {
					b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"other": "pods"}}
				})
			}
			s.expectStep(row.want)
		})
	}
}
