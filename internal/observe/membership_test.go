// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// TestMembershipWay holds that the way names the object that there is.
func TestMembershipWay(t *testing.T) {
	t.Parallel()
	controller := func(version, kind string) *metav1.OwnerReference {
		return &metav1.OwnerReference{APIVersion: version, Kind: kind, Name: "main"}
	}
	helm := map[string]string{helmRelease: "shop"}
	chart := map[string]string{helmChart: "etcd-ha-10.2.1-rc.1"}
	added := []etcdconf.MemberChange{{Container: "etcd", Verb: "add"}}
	removed := []etcdconf.MemberChange{{Container: "etcd", Hook: "preStop", Verb: "remove"}}
	for _, row := range []struct {
		id, name string
		o        Owner
		manager  flavour.Manager
		scale    string
		scaleIn  string
	}{
		{"WM-1", "an operator of pods", Owner{Distribution: flavour.UnknownPods, Flavour: Pods, Controller: controller("etcd.database.coreos.com/v1beta2", "EtcdCluster")},
			flavour.ByOperator, "EtcdCluster/main, which made the pods: kubectl edit etcdcluster.etcd.database.coreos.com main -n team", ""},
		{"WM-2", "an operator of a StatefulSet", Owner{Distribution: flavour.Plain, Controller: controller("example.com/v1", "Storage")}, flavour.ByOperator,
			"Storage/main, which made the StatefulSet and may write it back: kubectl edit storage.example.com main -n team", ""},
		{"WM-3", "a Deployment", Owner{Distribution: flavour.UnknownPods, Flavour: Pods, Controller: controller("apps/v1", "Deployment")}, flavour.ByOperator, "where its manifest is", ""},
		{"WM-4", "no owner", Owner{Distribution: flavour.UnknownPods, Flavour: Pods}, flavour.ByOperator, "where its manifest is", ""},
		{"WM-5", "a script that adds", Owner{Distribution: flavour.Plain, MemberChanges: added}, flavour.ByStartScript, "kubectl scale statefulset main --replicas N -n team", "etcdctl member remove"},
		{"WM-6", "a hook that removes", Owner{Distribution: flavour.Plain, MemberChanges: removed}, flavour.ByStartScript, "kubectl scale statefulset main --replicas N -n team", ""},
		{"WM-7", "a script in a release", Owner{Distribution: flavour.Plain, MemberChanges: added, Annotations: helm}, flavour.ByStartScript, "in the values of Helm release shop", ""},
		{"WM-8", "a script, and an operator", Owner{Distribution: flavour.Plain, MemberChanges: added, Controller: controller("example.com/v1", "Storage")}, flavour.ByOperator, "Storage/main", ""},
		{"WM-9", "a chart", Owner{Distribution: flavour.Bitnami, Annotations: helm, Labels: chart}, flavour.ByStartScript, "helm upgrade shop CHART -n team --reuse-values --set replicaCount=N (", ""},
		{"WM-10", "a chart that is a dependency", Owner{Distribution: flavour.Bitnami, Annotations: helm, Labels: chart}, flavour.ByStartScript, "the value is etcd-ha.replicaCount", ""},
		{"WM-11", "a release by its labels", Owner{Distribution: flavour.Kamaji, Labels: map[string]string{managedBy: "Helm", chartInstance: "shop"}}, flavour.Unmanaged, "in the values of Helm release shop", ""},
		{"WM-12", "nothing", Owner{Distribution: flavour.Plain}, flavour.Unmanaged, "", ""},
	} {
		row.o.Namespace, row.o.Name, row.o.StatefulSet = "team", "main", "main"
		m := row.o.Membership()
		if m.Manager != row.manager || !strings.Contains(m.ScaleHow, row.scale) || !strings.Contains(m.ScaleInHow, row.scaleIn) {
			t.Errorf("%s %s: %+v", row.id, row.name, m)
		}
		for _, text := range []string{m.ManagerName, m.ScaleHow, m.ScaleInHow, m.ReplaceHow} {
			if strings.Contains(text, "NAME") || strings.Contains(text, "the program that created") {
				t.Errorf("%s %s: %q", row.id, row.name, text)
			}
		}
	}
}

// counted counts the reads of ConfigMaps and Secrets.
type counted struct {
	observetest.Objects
	reads *int
}

func (c counted) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	*c.reads++
	return c.Objects.Get(ctx, key, obj, opts...)
}

// mountingSet is a StatefulSet that runs the script of a ConfigMap.
func mountingSet(name, image, config string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name},
		Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "main", Image: image, Command: []string{"sh", "/scripts/start.sh"},
				VolumeMounts: []corev1.VolumeMount{{Name: "s", MountPath: "/scripts"}},
			}},
			Volumes: []corev1.Volume{{Name: "s", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: config},
			}}}},
		}}},
	}
}

// checkNoCandidate checks that no cluster is listed as what may run etcd.
func checkNoCandidate(t *testing.T, r *Reader, clusters string) {
	t.Helper()
	candidates, err := r.Candidates(t.Context())
	for _, c := range candidates {
		if strings.Contains(clusters, c.Name) {
			t.Errorf("%s is a cluster, and is listed as one that may run etcd", c)
		}
	}
	if err != nil || len(candidates) == 0 {
		t.Errorf("candidates: %v, %v", candidates, err)
	}
}

// TestScripts recognises StatefulSets by what their pods mount, and reads no more than it may.
func TestScripts(t *testing.T) {
	t.Parallel()
	set, config := mountingSet, func(name, script string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Data: map[string]string{"start.sh": script}}
	}
	objects := observetest.Objects{
		config("plain", "exec etcd"), config("adds", "etcdctl member add $HOSTNAME\nexec etcd"), config("app", "exec /app"),
		set("plain", "etcd:v3", "plain"), set("adds", "etcd:v3", "adds"), set("app", "etcd:v3", "app"), set("gone", "etcd:v3", "gone"), set("other", "nginx", "plain"),
	}
	names := func(r *Reader) string {
		owners, err := r.Owners(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, o := range owners {
			if o.Mounted != "main" {
				t.Errorf("%s: container %q is shown by what is mounted, want main", o.Name, o.Mounted)
			}
			out = append(out, o.Name+" by "+string(o.Membership().Manager))
		}
		return strings.Join(out, ", ")
	}
	reads := 0
	from := counted{objects, &reads}
	if got := names(&Reader{Reader: from}); got != "" || reads > 0 {
		t.Errorf("without the right to read: %q, %d reads", got, reads)
	}
	r := &Reader{Reader: from, Scripts: NewScripts()}
	const want = "plain by Unmanaged, adds by StartScript"
	for range 2 {
		if got := names(r); got != want || reads != 4 {
			t.Errorf("%q, %d reads; want %q and one read of each object", got, reads, want)
		}
	}
	checkNoCandidate(t, r, want)
	var many observetest.Objects
	for i := range maxScriptObjects + 50 {
		name := fmt.Sprint("m", i)
		many = append(many, set(name, "etcd:v3", name), config(name, "exec /app"))
	}
	reads = 0
	if got := names(&Reader{Reader: counted{many, &reads}, Scripts: NewScripts()}); got != "" || reads != maxScriptObjects {
		t.Errorf("of many candidates: %q, %d reads, want %d", got, reads, maxScriptObjects)
	}
}
