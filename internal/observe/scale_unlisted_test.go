// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
)

// listing returns a pod template whose members list the members with these ordinals, or have no list.
func listing(ordinals ...int) *corev1.PodTemplateSpec {
	env := []corev1.EnvVar{
		{Name: "MY_POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		{Name: "ETCD_NAME", Value: "$(MY_POD_NAME)"}, {Name: "ETCD_DATA_DIR", Value: "/data"}, {Name: "ETCD_ON_K8S", Value: "yes"},
	}
	var peers []string
	for _, n := range ordinals {
		peers = append(peers, fmt.Sprintf("main-%d=http://main-%d.peer.team.svc:2380", n, n))
	}
	if len(peers) > 0 {
		env = append(env, corev1.EnvVar{Name: "ETCD_INITIAL_CLUSTER", Value: strings.Join(peers, ",")})
	}
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Env: env}}}}
}

// TestUnlistedMembers holds that a write of the replicas of a chart whose hooks remove members counts as one of a
// manager that removes them only if it takes each member that leaves out of the list in the template.
func TestUnlistedMembers(t *testing.T) {
	t.Parallel()
	unread := listing()
	unread.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "more"}}}}
	for _, row := range []struct {
		name  string
		write ScaleWrite
		want  bool
	}{
		{"the chart's write", ScaleWrite{Now: 3, Asked: 1, TemplateNow: listing(0, 1, 2), Template: listing(0)}, true},
		{"the chart's write, of a chart that lists no single member", ScaleWrite{Now: 3, Asked: 1, TemplateNow: listing(0, 1, 2), Template: listing()}, true},
		{"the chart's write, from five to three", ScaleWrite{Now: 5, Asked: 3, TemplateNow: listing(0, 1, 2, 3, 4), Template: listing(0, 1, 2)}, true},
		{"a Scale", ScaleWrite{Now: 3, Asked: 1, OfScale: true}, false},
		{"the list stays", ScaleWrite{Now: 3, Asked: 1, TemplateNow: listing(0, 1, 2), Template: listing(0, 1, 2)}, false},
		{"one of two leaves the list", ScaleWrite{Now: 3, Asked: 1, TemplateNow: listing(0, 1, 2), Template: listing(0, 1)}, false},
		{"it was not listed before", ScaleWrite{Now: 5, Asked: 3, TemplateNow: listing(0, 1, 2), Template: listing(0, 1, 2)}, false},
		{"no list any more, and members that need one", ScaleWrite{Now: 3, Asked: 2, TemplateNow: listing(0, 1, 2), Template: listing()}, false},
		{"a list that may be in a ConfigMap", ScaleWrite{Now: 3, Asked: 1, TemplateNow: listing(0, 1, 2), Template: unread}, false},
		{"other ordinals", ScaleWrite{Now: 3, Asked: 1, First: 1, TemplateNow: listing(0, 1, 2), Template: listing(0)}, false},
		{"no replica before", ScaleWrite{Now: 0, Asked: 1, TemplateNow: listing(0, 1, 2), Template: listing(0)}, false},
	} {
		row.write.Name = "main"
		w := Workload{
			owner:       owner.Owner{Distribution: flavour.Bitnami, WorkloadKind: owner.StatefulSet, Name: "main", Namespace: "team", StatefulSet: "main"},
			StatefulSet: &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}},
		}
		var f scale.Facts
		w.membership(&f, row.write)
		if got := f.Manager != ""; got != row.want || f.Script != row.want {
			t.Errorf("%s: manager %q, script %t, want one: %t", row.name, f.Manager, f.Script, row.want)
		}
		if f.How == "" {
			t.Errorf("%s: no way to change the members", row.name)
		}
	}
}
