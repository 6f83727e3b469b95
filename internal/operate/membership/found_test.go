// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestFoundRestoresNoReference: a journal that was changed can't have the template read another object.
func TestFoundRestoresNoReference(t *testing.T) {
	t.Parallel()
	from := func(name string) corev1.EnvVar {
		return corev1.EnvVar{Name: "ETCD_INITIAL_CLUSTER", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "key"}}}
	}
	value := corev1.EnvVar{Name: "ETCD_INITIAL_CLUSTER", Value: "a"}
	for _, c := range []struct{ was, now, want corev1.EnvVar }{
		{was: from("other"), now: value, want: value},
		{was: from("other"), now: from("own"), want: from("own")},
		{was: from("own"), now: from("own"), want: from("own")},
		{was: value, now: from("own"), want: value},
	} {
		if got := restoreEnv([]corev1.EnvVar{c.now}, []corev1.EnvVar{c.was}); !equality.Semantic.DeepEqual(got, []corev1.EnvVar{c.want}) {
			t.Errorf("%v with %v in the journal: %v, want %v", c.now, c.was, got, c.want)
		}
	}
}

// TestFoundValues: the plan of undoing shows what is written.
func TestFoundValues(t *testing.T) {
	t.Parallel()
	f := found{
		Strategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}},
		Args:     arguments{Cluster: []string{"a=http://a:2380\x1b[2J"}, State: []string{"new"}},
		Env:      []corev1.EnvVar{{Name: "ETCD_INITIAL_CLUSTER", Value: "a"}},
		Configs:  map[string]map[string]string{"config": {"ETCD_INITIAL_CLUSTER_STATE": "new"}},
	}
	got := strings.Join(f.values(), "\n")
	for _, want := range []string{
		"--initial-cluster=a=http://a:2380", "--initial-cluster-state=new", "ETCD_INITIAL_CLUSTER=a",
		"ETCD_INITIAL_CLUSTER_STATE=new in ConfigMap config", "update strategy RollingUpdate, partition 2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("it has control characters: %q", got)
	}
}

// TestFoundRestores: what an operation has written is restored, and nothing that others have.
func TestFoundRestores(t *testing.T) {
	t.Parallel()
	variable := func(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }
	for _, c := range []struct {
		name              string
		args, now, want   []string
		env, nowEnv, left []corev1.EnvVar
	}{
		{
			name: "nothing else", args: []string{"--initial-cluster=a", "--initial-cluster-state", "new"},
			now: []string{"--initial-cluster=a,b", "--initial-cluster-state", "existing"}, want: []string{"--initial-cluster=a", "--initial-cluster-state", "new"},
		},
		{
			name: "a flag less and one more", args: []string{"--initial-cluster=a", "--enable-v2=true"},
			now: []string{"--quota-backend-bytes=8", "--initial-cluster=a,b"}, want: []string{"--quota-backend-bytes=8", "--initial-cluster=a"},
		},
		{
			name: "a line of shell", args: []string{`exec etcd --initial-cluster="${A}" --name x`},
			now: []string{`exec etcd --initial-cluster=a,b --name y`}, want: []string{`exec etcd --initial-cluster="${A}" --name y`},
		},
		{
			name: "variables", env: []corev1.EnvVar{variable("ETCD_INITIAL_CLUSTER", "a"), variable("ETCD_NAME", "x")},
			nowEnv: []corev1.EnvVar{variable("ETCD_INITIAL_CLUSTER", "a,b"), variable("ETCD_NAME", "y"), variable("ETCD_INITIAL_CLUSTER_STATE", "existing"), variable("GOGC", "50")},
			left:   []corev1.EnvVar{variable("ETCD_INITIAL_CLUSTER", "a"), variable("ETCD_NAME", "y"), variable("GOGC", "50")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			original := podTemplate{template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Args: c.args, Env: c.env}}}}}
			j, err := foundIn(&appsv1.StatefulSet{}, original, etcdconf.Config{Container: "etcd"}, original)
			if err != nil {
				t.Fatal(err)
			}
			r := podTemplate{template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Args: c.now, Env: c.nowEnv}}}}}
			if j.isIn(r) {
				t.Error("what an operation has written passes for the original")
			}
			j.restore(&r)
			got := r.template.Spec.Containers[0]
			if !slices.Equal(got.Args, c.want) || !slices.Equal(got.Env, c.left) {
				t.Errorf("got %q %v, want %q %v", got.Args, got.Env, c.want, c.left)
			}
			if !j.isIn(r) {
				t.Error("what was restored does not pass for the original")
			}
		})
	}
}
