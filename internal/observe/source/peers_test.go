// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

func listing(list string, env ...corev1.EnvVar) *appsv1.StatefulSet {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "a"}}
	sts.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "etcd",
		Env:  append(env, corev1.EnvVar{Name: "ETCD_INITIAL_CLUSTER", Value: list}),
		Args: []string{"--name=a", "--initial-advertise-peer-urls=http://a:2380"}, Command: []string{"etcd"},
	}}
	return sts
}

// TestCacheKeepsPeers checks that a cached StatefulSet has the peers of the one that was read, and
// no variable's value.
func TestCacheKeepsPeers(t *testing.T) {
	t.Parallel()
	sts := listing("a=http://a:2380,b=http://b:2380", corev1.EnvVar{Name: "PASSWORD", Value: "secret"})
	want := Peers{Own: []etcdconf.Peer{{Name: "a", URL: "http://a:2380"}}, Others: []etcdconf.Peer{{Name: "b", URL: "http://b:2380"}}, Listed: 2}
	if got := PeersOf(sts); !reflect.DeepEqual(got, want) {
		t.Errorf("the peers are %v, want %v", got, want)
	}
	for range 2 {
		trimStatefulSet(sts)
		if got := PeersOf(sts); !reflect.DeepEqual(got, want) {
			t.Errorf("the cached peers are %v, want %v", got, want)
		}
	}
	text, err := json.Marshal(sts)
	if err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("the cache has %s, %v", text, err)
	}
}

// TestListsWithoutEvidence has lists that do not show the member, or that show it alone. Only of the
// latter it is known that there are no others.
func TestListsWithoutEvidence(t *testing.T) {
	t.Parallel()
	for what, list := range map[string]string{
		"no list":                "",
		"itself":                 "a=http://a:2380",
		"without itself":         "b=http://b:2380,c=http://c:2380",
		"itself by another name": "a=http://a.other.svc:2380,b=http://b:2380",
		"too many":               strings.Repeat("b=http://b:2380,", 40) + "a=http://a:2380",
		"a long one":             "a=http://a:2380,b=http://" + strings.Repeat("b", 600) + ":2380",
	} {
		alone := what == "no list" || what == "itself"
		if got := PeersOf(listing(list)); len(got.Others) > 0 || (got.Unknown == "") != alone {
			t.Errorf("%s: %+v", what, got)
		}
	}
	hidden := listing("")
	hidden.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "tuning"}}}}
	for _, name := range []string{"read", "cached"} {
		if got := PeersOf(hidden); !strings.Contains(got.Unknown, "db/tuning is not read") {
			t.Errorf("%s: %+v", name, got)
		}
		trimStatefulSet(hidden)
	}
	declared := listing("")
	declared.Annotations = map[string]string{v1alpha1.EtcdAnnotation: "etcd"}
	declared.Spec.Template.Spec.Containers[0].Command = []string{"/launcher"}
	if got := PeersOf(declared); !strings.Contains(got.Unknown, "what /launcher gives to etcd") {
		t.Errorf("a declared launcher: %+v", got)
	}
	other := listing("a=http://a:2380,b=http://b:2380")
	other.Spec.Template.Spec.Containers[0].Command = []string{"backup"}
	if got := PeersOf(other); len(got.Others) > 0 {
		t.Errorf("a backup has %v", got)
	}
}

// TestCacheKeepsShownPeers: the template of a StatefulSet of Kubernetes has what its pods list. Another group's
// StatefulSet is not read.
func TestCacheKeepsShownPeers(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"apps/v1": 0, "apps.kruise.io/v1beta1": 2} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "a-0", OwnerReferences: []metav1.OwnerReference{{APIVersion: version, Kind: "StatefulSet", Name: "a", Controller: new(true)}}}}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"etcd", "--name=a", "--initial-cluster=a=http://a:2380,b=http://b:2380"}}}
		trimPod(pod)
		if got := ShownPeersOf(pod).Listed; len(got) != want {
			t.Errorf("%s: %v, want %d", version, got, want)
		}
	}
}

// TestSeparate has lists of the members of a StatefulSet that show each of them alone, and others.
func TestSeparate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		args []string
		want bool
	}{
		{"one name at localhost", []string{"--name=m", "--initial-advertise-peer-urls=http://127.0.0.1:2380", "--initial-cluster=m=http://127.0.0.1:2380"}, true},
		{"each by its own name", []string{"--name=$(POD)", "--initial-advertise-peer-urls=http://$(POD).a:2380", "--initial-cluster=$(POD)=http://$(POD).a:2380"}, true},
		{"each by its own IP", []string{"--name=m", "--initial-advertise-peer-urls=http://$(IP):2380", "--initial-cluster=m=http://$(IP):2380"}, true},
		{"by its list alone", []string{"--name=$(POD)", "--initial-cluster=$(POD)=http://$(POD).a:2380"}, true},
		{"all at one address", []string{"--name=m", "--initial-advertise-peer-urls=http://a:2380", "--initial-cluster=m=http://a:2380"}, false},
		{"the first one alone", []string{"--name=$(POD)", "--initial-advertise-peer-urls=http://$(POD).a:2380", "--initial-cluster=a-0=http://a-0.a:2380"}, false},
		{"others", []string{"--name=$(POD)", "--initial-advertise-peer-urls=http://$(POD).a:2380", "--initial-cluster=a-0=http://a-0.a:2380,a-1=http://a-1.a:2380"}, false},
		{"etcd joins others", []string{"--name=m", "--initial-cluster=m=http://127.0.0.1:2380", "--initial-cluster-state=existing"}, false},
		{"a list that is not known", []string{"--name=m", "--initial-cluster=$(LIST)"}, false},
		{"no list", []string{"--name=m"}, false},
	} {
		sts := listing("")
		c := &sts.Spec.Template.Spec.Containers[0]
		field := func(name, path string) corev1.EnvVar {
			return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
		}
		c.Args, c.Env = row.args, []corev1.EnvVar{field("POD", "metadata.name"), field("IP", "status.podIP")}
		if got := PeersOf(sts); got.Separate != row.want {
			t.Errorf("%s: separate %t, want %t: %+v", row.name, got.Separate, row.want, got)
		}
	}
}
