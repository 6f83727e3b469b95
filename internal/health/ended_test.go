// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strings"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// TestEnded: an operation without a journal, as the replacement of a member of an Etcd, has ended when all members are
// healthy voters: there is nothing to continue.
func TestEnded(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		with func(*Facts)
		want string
	}{
		{"all are healthy voters", func(*Facts) {}, ""},
		{"it has a journal", func(f *Facts) { f.Unrecorded = false }, "X-6"},
		{"its program may still run", func(f *Facts) { f.UnderWay.Value.Interrupted = false }, "X-10"},
		{"a member doesn't answer", silent(2), "X-6"},
		{"a member is a learner", func(f *Facts) { f.Survey.Value.List[2].Learner, f.Survey.Value.Members[2].Learner = true, true }, "X-6"},
		{"a member is missing", func(f *Facts) { f.Survey.Value.List = f.Survey.Value.List[:2] }, "X-6"},
		{"a pod is being deleted", func(f *Facts) { f.Pods.Value[1].DeletionTimestamp = &metav1.Time{Time: noon} }, "X-6"},
		{"a volume claim is being deleted", func(f *Facts) {
			f.Claims.Value = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: noon}}}}
		}, "X-6"},
		{"it may have changed other objects than the members", func(f *Facts) { f.UnderWay.Value.Operation = "volume grow" }, "X-6"},
		{"it may have cut client traffic", func(f *Facts) { f.UnderWay.Value.Operation = "cut-client-traffic" }, "X-6"},
		{"a cut has suspended etcd-druid", func(f *Facts) {
			f.Etcd.Value = &druidv1alpha1.Etcd{Spec: druidv1alpha1.EtcdSpec{Replicas: 3}}
			f.Etcd.Value.Annotations = map[string]string{druidv1alpha1.SuspendEtcdSpecReconcileAnnotation: v1alpha1.ClientTrafficKey}
		}, "X-6"},
		{"a defragmentation", func(f *Facts) { f.UnderWay.Value.Operation = "defrag" }, ""},
		{"the volume claims are not known", func(f *Facts) { f.Claims.Err = errRefused }, "X-6"},
	} {
		f := healthy(3)
		f.UnderWay.Value, f.Unrecorded = &output.UnderWay{Operation: "member replace", Holder: "ann@laptop", Interrupted: true}, true
		row.with(f)
		ids := recovery.IDs(f.Recovery())
		got := slices.DeleteFunc(ids, func(id string) bool { return id != "X-6" && id != "X-10" })
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: %s, want %q", row.name, got, row.want)
		}
	}
}

// TestHeldRolloutOnly: a record of a held rollout makes no scale, and no operation of this program, a held rollout.
func TestHeldRolloutOnly(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, operation string
		with            func(*Facts)
		want            bool
	}{
		{"a rollout", "rollout, 1 of 3 members updated", func(*Facts) {}, true},
		{"a scale", "scale from 3 to 4", func(*Facts) {}, false},
		{"nothing", "", func(*Facts) {}, false},
		{"beside an operation", "rollout, 1 of 3 members updated", func(f *Facts) { f.UnderWay.Value.Interrupted = false }, false},
		{"after an operation has ended", "rollout, 1 of 3 members updated", func(*Facts) {}, true},
	} {
		f := healthy(3)
		if strings.Contains(row.name, "operation") {
			f.UnderWay.Value, f.Unrecorded = &output.UnderWay{Operation: "member replace", Holder: "ann@laptop", Interrupted: true}, true
		}
		sts := f.StatefulSet.Value
		sts.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
		sts.Annotations = map[string]string{v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate"}`, v1alpha1.RolloutValueAnnotation: "OnDelete"}
		f.Cluster.Value.Cluster.Operation = row.operation
		row.with(f)
		if got := f.Recovery().HeldRollout; got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
