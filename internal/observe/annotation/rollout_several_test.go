// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// TestRestartsAtOnce checks how many pods restart at once by the author's strategy, and that at most one does by
// the strategy of a hold.
func TestRestartsAtOnce(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		number   *intstr.IntOrString
		replicas int
		want     int
	}{
		{nil, 3, 1},
		{new(intstr.FromInt32(1)), 3, 1},
		{new(intstr.FromInt32(2)), 3, 2},
		{new(intstr.FromInt32(5)), 3, 3},
		{new(intstr.FromInt32(5)), 1, 1},
		{new(intstr.FromString("1%")), 3, 1},
		{new(intstr.FromString("50%")), 3, 1},
		{new(intstr.FromString("67%")), 3, 2},
		{new(intstr.FromString("40%")), 5, 2},
		{new(intstr.FromString("100%")), 3, 3},
		{new(intstr.FromString("100%")), 1, 1},
		{new(intstr.FromString("many")), 3, 1},
	} {
		author := appsv1.StatefulSetUpdateStrategy{
			Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: row.number},
		}
		if got := RestartsAtOnce(&author, row.replicas); got != row.want {
			t.Errorf("%s of %d: %d, want %d", row.number, row.replicas, got, row.want)
		}
		for replicas := range 10 {
			held := WithRolloutValue(author, rollout.Value{Partition: 1})
			if got := RestartsAtOnce(&held, replicas); got != 1 {
				t.Errorf("%s of %d: %d restart at once while it is held", row.number, replicas, got)
			}
		}
		if author.RollingUpdate.Partition != nil || author.RollingUpdate.MaxUnavailable != row.number {
			t.Errorf("the author's strategy was changed: %+v", author)
		}
	}
}
