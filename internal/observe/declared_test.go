// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
)

// TestDeclared declares every kind of workload, on itself, on its template, and on both.
func TestDeclared(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		workload, template string
		// hidden is true for a launcher, false for pods that show etcd.
		hidden, want bool
	}{
		{"", "", true, false},
		{"", "", false, true},
		{"db", "", true, true},
		{"", "db", true, true},
		{"false", "", false, false},
		{"", "false", false, false},
		{"db", "false", true, true},
		{"false", "db", true, false},
		{"wrong", "", true, false},
		{"wrong", "", false, true},
		{"wrong", "db", true, false},
		{"setup", "", true, false},
	} {
		for _, kind := range []string{"StatefulSet", "Deployment", "DaemonSet", "ReplicaSet", "Pod"} {
			if kind == "Pod" && row.workload != "" {
				continue
			}
			r := &observe.Reader{Reader: declaredObjects(kind, row.workload, row.template, row.hidden)}
			owners, err := r.Clusters(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s: workload %q, template %q, hidden %t", kind, row.workload, row.template, row.hidden)
			if (len(owners) == 1) != row.want || len(owners) > 1 {
				t.Errorf("%s: clusters %v, want one: %t", name, owners, row.want)
			}
			for _, o := range owners {
				pods, err := r.MemberPods(t.Context(), o)
				if err != nil || len(pods) != 1 {
					t.Errorf("%s: members %d, %v", name, len(pods), err)
				}
			}
			other, err := r.Clusters(t.Context(), client.InNamespace("other"))
			if err != nil || len(other) != 0 {
				t.Errorf("%s: clusters of another namespace: %v, %v", name, other, err)
			}
		}
	}
}

// TestCandidates types the printed commands: the annotation that a command sets on its object is
// enough to make a cluster, and the denial to end the hint.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"StatefulSet", "Deployment", "DaemonSet", "ReplicaSet", "Pod"} {
		r := &observe.Reader{Reader: declaredObjects(kind, "", "", true)}
		found, err := resolve.Candidates(t.Context(), r)
		if err != nil || len(found) != 1 || len(found[0].Hints) == 0 || found[0].Problem != "" {
			t.Fatalf("%s: %+v, %v", kind, found, err)
		}
		want := fmt.Sprintf("kubectl annotate %s db -n n kubectl-etcd.dev/etcd=db", strings.ToLower(kind))
		if got := found[0].DeclareWith(); len(got) != 1 || got[0] != want {
			t.Errorf("%s: declared by %q, want %q", kind, got, want)
		}
		_, err = resolve.Target(t.Context(), r, "n", found[0].Target())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "is not an etcd cluster") {
			t.Errorf("%s: resolved: %v", kind, err)
		}
		if _, err = resolve.Target(t.Context(), r, "n", owner.Target{}); err == nil || !strings.Contains(err.Error(), "1 workload may run etcd") {
			t.Errorf("%s: the only one: %v", kind, err)
		}
		for value, text := range map[string]string{"db": "", "false": "", "x": `no container "x"`, "setup": "init container"} {
			checkDeclared(t, kind, value, text)
		}
	}
}

// checkDeclared declares a value, after which no hint is left, or one with this problem.
func checkDeclared(t *testing.T, kind, value, problem string) {
	t.Helper()
	workload, template := value, ""
	if kind == "Pod" {
		workload, template = "", value
	}
	after, err := resolve.Candidates(t.Context(), &observe.Reader{Reader: declaredObjects(kind, workload, template, true)})
	switch {
	case err != nil, problem == "" && len(after) != 0:
		t.Errorf("%s declared %q: %+v, %v", kind, value, after, err)
	case problem != "" && (len(after) != 1 || !strings.Contains(after[0].Problem, problem) || !strings.HasSuffix(after[0].DenyWith(), "=false --overwrite")):
		t.Errorf("%s declared %q: %+v", kind, value, after)
	}
}

// declaredObjects is a workload called db with one pod, which has an init container called setup. The
// StatefulSet's pod was created before its template declared anything.
func declaredObjects(kind, workload, template string, hidden bool) observetest.Objects {
	annotations := func(value string) map[string]string {
		if value == "" {
			return nil
		}
		return map[string]string{v1alpha1.EtcdAnnotation: value}
	}
	c := corev1.Container{Name: "db", Command: []string{"/launch"}, Ports: []corev1.ContainerPort{{ContainerPort: 2379}}}
	if !hidden {
		c.Command = []string{"etcd"}
	}
	spec := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "setup"}}, Containers: []corev1.Container{c}}
	meta := metav1.ObjectMeta{Namespace: "n", Name: "db", UID: "w", Annotations: annotations(workload)}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "db", UID: "p", Annotations: annotations(template)}, Spec: spec}
	owned := func(kind, name string) {
		yes := true
		pod.Name = "db-0"
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: "w", Controller: &yes}}
	}
	one := int32(1)
	switch kind {
	case "StatefulSet":
		owned(kind, "db")
		pod.Annotations = nil
		t := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: annotations(template)}, Spec: spec}
		return observetest.Objects{&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &one, Template: t}}, pod}
	case "Deployment":
		owned("ReplicaSet", "db-5f")
		pod.Labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: "5f"}
		// The Deployment's controller copies annotations to the ReplicaSet and never removes them.
		set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "db-5f", UID: "w", Annotations: annotations("db")}}
		return observetest.Objects{&appsv1.Deployment{ObjectMeta: meta}, set, pod}
	case "DaemonSet":
		owned(kind, "db")
		return observetest.Objects{&appsv1.DaemonSet{ObjectMeta: meta}, pod}
	case "ReplicaSet":
		owned(kind, "db")
		return observetest.Objects{&appsv1.ReplicaSet{ObjectMeta: meta}, pod}
	}
	return observetest.Objects{pod}
}
