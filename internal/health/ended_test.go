// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
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
