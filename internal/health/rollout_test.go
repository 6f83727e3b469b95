// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// atOnce has a rollout restart several pods at once.
func atOnce(most intstr.IntOrString) func(*Facts) {
	return func(f *Facts) {
		f.StatefulSet.Value.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: &most}
	}
}

// TestRestartsSeveral has a row per form of maxUnavailable and size of a cluster.
func TestRestartsSeveral(t *testing.T) {
	t.Parallel()
	number := func(n int) func(*Facts) { return atOnce(intstr.FromInt(n)) }
	percent := func(text string) func(*Facts) { return atOnce(intstr.FromString(text)) }
	guard := func(mode v1alpha1.Mode) func(*Facts) {
		return func(f *Facts) {
			number(2)(f)
			f.Policy.Value.Policy = &v1alpha1.EtcdTopologyPolicy{Spec: v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeEnforce}}
			f.Policy.Value.Policy.Spec.Rollout.Guard = mode
		}
	}
	const one = `kubectl patch statefulset main --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}}' -n team`
	judge(t, []row{
		{name: "not set", id: "W012", want: OK},
		{name: "1 of 3", id: "W012", with: number(1), want: OK},
		{name: "2 of 3", id: "W012", with: number(2), want: Warning, message: "maxUnavailable 2 lets a rollout restart 2 of 3 members at once, and only 1 may be down: the quorum is 2", fix: one},
		{name: "more than there are", id: "W012", with: number(9), want: Warning, message: "restart 3 of 3 members"},
		{name: "2 of 5", id: "W012", size: 5, with: number(2), want: OK},
		{name: "3 of 5", id: "W012", size: 5, with: number(3), want: Warning, message: "restart 3 of 5 members at once, and only 2 may be down: the quorum is 3"},
		{name: "2 of 4", id: "W012", size: 4, with: number(2), want: Warning, message: "only 1 may be down"},
		{name: "1 of 2", id: "W012", size: 2, with: number(1), want: OK},
		{name: "2 of 2", id: "W012", size: 2, with: number(2), want: Warning, message: "only 0 may be down"},
		{name: "a single member", id: "W012", size: 1, with: number(3), want: OK},
		{name: "50 % of 3, which is 1", id: "W012", with: percent("50%"), want: OK},
		{name: "67 % of 3", id: "W012", with: percent("67%"), want: Warning, message: "maxUnavailable 67% lets a rollout restart 2 of 3"},
		{name: "50 % of 5", id: "W012", size: 5, with: percent("50%"), want: OK},
		{name: "100 % of 5", id: "W012", size: 5, with: percent("100%"), want: Warning, message: "restart 5 of 5"},
		{name: "2 of 3 voters and 2 learners", id: "W012", size: 5, with: func(f *Facts) {
			number(2)(f)
			f.Survey.Value.List[3].Learner, f.Survey.Value.List[4].Learner = true, true
		}, want: Warning, message: "restart 2 of 3 members at once, and only 1 may be down"},
		{name: "2 of 3, and no list", id: "W012", with: func(f *Facts) { number(2)(f); f.Survey.Err = errRefused }, want: Warning},
		{name: "OnDelete", id: "W012", with: func(f *Facts) {
			number(2)(f)
			f.StatefulSet.Value.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		}, want: OK},
		{name: "rollouts are held", id: "W012", with: guard(v1alpha1.ModeEnforce), want: Info, fix: one},
		{name: "rollouts are held, and the webhook is gone", id: "W012", with: func(f *Facts) { guard(v1alpha1.ModeEnforce)(f); f.Installed.Value = false }, want: Warning},
		{name: "rollouts are warned of", id: "W012", with: guard(v1alpha1.ModeWarn), want: Warning},
		{name: "a rollout is held, and the author has 2", id: "W012", with: func(f *Facts) {
			number(1)(f)
			f.StatefulSet.Value.Spec.UpdateStrategy.RollingUpdate.Partition = new(int32(3))
			f.StatefulSet.Value.Annotations = map[string]string{
				v1alpha1.RolloutValueAnnotation:  "partition=3",
				v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2}}`,
			}
		}, want: Info, message: "maxUnavailable 2", fix: "once the rollout that etcd-webhook holds is complete, " + one},
		{name: "druid", id: "W012", with: func(f *Facts) { number(2)(f); owners["druid"](f) }, want: Warning, fix: "which only etcd-druid can do"},
		{name: "helm", id: "W012", with: func(f *Facts) { number(2)(f); owners["helm"](f) }, want: Warning, fix: "set maxUnavailable of the rolling update to 1 in the values of Helm release chart"},
		{name: "no StatefulSet", id: "W012", with: kubeadm, want: NotApplicable},
	})
}
