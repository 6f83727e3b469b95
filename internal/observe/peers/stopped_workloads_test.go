// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// withClaims gives a StatefulSet a volume claim template.
func withClaims(sts *appsv1.StatefulSet) *appsv1.StatefulSet {
	sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	return sts
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
}

// deployed is a Deployment of a member with its data on a claim, or in an emptyDir for "".
func deployed(name, claim string, replicas int32, command ...string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	d.Spec.Replicas, d.Spec.Template.Labels = &replicas, map[string]string{"app": name}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "etcd", Command: command}}
	data := corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	if claim != "" {
		data.VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
	}
	d.Spec.Template.Spec.Volumes = []corev1.Volume{data}
	return d
}

func scaledTo(sts *appsv1.StatefulSet, replicas int32) *appsv1.StatefulSet {
	sts.Spec.Replicas = &replicas
	return sts
}

func in(namespace string, sts *appsv1.StatefulSet) *appsv1.StatefulSet {
	sts.Namespace = namespace
	return sts
}

// denying declares that a StatefulSet runs no etcd.
func denying(sts *appsv1.StatefulSet) *appsv1.StatefulSet {
	sts.Annotations = map[string]string{v1alpha1.EtcdAnnotation: v1alpha1.NotEtcd}
	return sts
}

// TestStoppedWorkloadOf has a row per way in which a member has no pod. The wanted workload is given
// with the replicas that bring the member back.
func TestStoppedWorkloadOf(t *testing.T) {
	t.Parallel()
	of := func(name, url string) Peer { return Peer{Name: name, URLs: []string{url}} }
	set := of("c-0", "http://c-0.c:2380")
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "etcd-2"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "third"}, ClusterIP: "10.96.0.7"}}
	alias := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "b"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "etcd-2.team.svc.cluster.local"}}
	c := func() *appsv1.StatefulSet { return withClaims(observetest.EtcdSet("c", "a", "b")) }
	flags := []string{"etcd", "--name=m2", "--initial-advertise-peer-urls=http://m2.example.com:2380"}
	for _, row := range []struct {
		what    string
		peer    Peer
		objects observetest.Objects
		owner   owner.Owner
		want    string
	}{
		{"a StatefulSet of one member", set, observetest.Objects{scaledTo(c(), 0), claim("data-c-0")}, owner.Owner{}, "statefulset/c 1"},
		{"its claim is gone", set, observetest.Objects{scaledTo(c(), 0)}, owner.Owner{}, ""},
		{"it has no claims", set, observetest.Objects{scaledTo(observetest.EtcdSet("c", "a", "b"), 0)}, owner.Owner{}, ""},
		{"it runs", set, observetest.Objects{c(), claim("data-c-0")}, owner.Owner{}, ""},
		{"another one is stopped", set, observetest.Objects{scaledTo(withClaims(observetest.EtcdSet("d")), 0), claim("data-d-0")}, owner.Owner{}, ""},
		{"it runs no etcd", set, observetest.Objects{denying(scaledTo(c(), 0)), claim("data-c-0")}, owner.Owner{}, ""},
		{"in another namespace", set, observetest.Objects{in("other", scaledTo(c(), 0)), claim("data-c-0")}, owner.Owner{}, ""},
		{"the third of one StatefulSet that was scaled in", of("main-2", "http://main-2.main:2380"),
			observetest.Objects{withClaims(observetest.EtcdSet("main/2")), claim("data-main-2")}, owner.Owner{Distribution: flavour.Plain, StatefulSet: "main"}, "statefulset/main 3"},
		{"the third of one StatefulSet whose operator scales in", of("main-2", "http://main-2.main:2380"),
			observetest.Objects{withClaims(observetest.EtcdSet("main/2")), claim("data-main-2")}, owner.Owner{Distribution: flavour.Bitnami, StatefulSet: "main"}, ""},
		{"the third of one StatefulSet, by its host alone", of("x", "http://main-2.main:2380"), observetest.Objects{scaledTo(withClaims(observetest.EtcdSet("main/2")), 0), claim("data-main-2")}, owner.Owner{}, "statefulset/main 3"},
		{"a Deployment, by the peer URL", of("", "http://m2.example.com:2380"), observetest.Objects{deployed("third", "third", 0, flags...), claim("third")}, owner.Owner{}, "deployment/third 1"},
		{"a Deployment, by its Service", of("m2", "http://etcd-2:2380"), observetest.Objects{deployed("third", "third", 0, "/launcher"), claim("third"), service}, owner.Owner{}, "deployment/third 1"},
		{"a Deployment, by its Service in this namespace", of("m2", "http://etcd-2.team:2380"), observetest.Objects{deployed("third", "third", 0, "/launcher"), claim("third"), service}, owner.Owner{}, "deployment/third 1"},
		{"a Deployment, by its Service in another namespace", of("m2", "http://etcd-2.other.svc:2380"), observetest.Objects{deployed("third", "third", 0, "/launcher"), claim("third"), service}, owner.Owner{}, ""},
		{"a Deployment, by the IP of its Service", of("m2", "http://10.96.0.7:2380"), observetest.Objects{deployed("third", "third", 0, "/launcher"), claim("third"), service}, owner.Owner{}, "deployment/third 1"},
		{"a Deployment, by another name of its Service", of("m2", "http://b:2380"), observetest.Objects{deployed("third", "third", 0, "/launcher"), claim("third"), service, alias}, owner.Owner{}, "deployment/third 1"},
		{"a Deployment, by its name", of("third", "http://10.0.0.7:2380"), observetest.Objects{deployed("third", "third", 0, "/launcher"), claim("third")}, owner.Owner{}, "deployment/third 1"},
		{"a Deployment that runs etcd with a file that can't be read", of("m2", "http://m2:2380"), observetest.Objects{deployed("third", "third", 0, "etcd", "--config-file=/etc/etcd.yaml"), claim("third")}, owner.Owner{}, "deployment/third 1 perhaps"},
		{"a Deployment with a script that executes an unread file", of("m2", "http://m2:2380"), observetest.Objects{deployed("third", "third", 0, "sh", "-c", ". /env; exec etcd --initial-advertise-peer-urls=$URL"), claim("third")}, owner.Owner{}, "deployment/third 1 perhaps"},
		{"a Deployment whose file can't be read, before the one of the peer URL", of("m2", "http://m2.example.com:2380"), observetest.Objects{
			deployed("first", "first", 0, "etcd", "--config-file=/etc/etcd.yaml"), claim("first"), deployed("third", "third", 0, flags...), claim("third"),
		}, owner.Owner{}, "deployment/third 1"},
		{"a Deployment whose data ended with its pod", of("", "http://m2.example.com:2380"), observetest.Objects{deployed("third", "", 0, flags...)}, owner.Owner{}, ""},
		{"a Deployment that runs", of("", "http://m2.example.com:2380"), observetest.Objects{deployed("third", "third", 1, flags...), claim("third")}, owner.Owner{}, ""},
		{"a Deployment of another member", of("", "http://m3.example.com:2380"), observetest.Objects{deployed("third", "third", 0, flags...), claim("third")}, owner.Owner{}, ""},
		{"nothing", set, nil, owner.Owner{}, ""},
	} {
		row.owner.Namespace = "team"
		got := ""
		s, found, err := StoppedWorkloadOf(t.Context(), &observe.Reader{Reader: row.objects}, row.owner, row.peer)
		if found {
			if got = fmt.Sprint(s.Target, " ", s.Replicas); !s.Certain {
				got += " perhaps"
			}
		}
		if err != nil || got != row.want {
			t.Errorf("%s: %q, %v; want %q", row.what, got, err, row.want)
		}
	}
}
