// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// TestMembershipWay holds that the way names the object that there is.
func TestMembershipWay(t *testing.T) {
	t.Parallel()
	controller := func(version, kind string) *metav1.OwnerReference {
		return &metav1.OwnerReference{APIVersion: version, Kind: kind, Name: "main"}
	}
	helm := map[string]string{helmRelease: "shop"}
	chart := map[string]string{helmChart: "etcd-ha-10.2.1-rc.1"}
	flux := map[string]string{fluxName: "shop", fluxNamespace: "gitops", helmChart: "etcd-8.7.7"}
	rendered := map[string]string{managedBy: "Helm", chartInstance: "shop", helmChart: "etcd-1.2.3"}
	added := []etcdconf.MemberChange{{Container: "etcd", Verb: "add"}}
	joined := []etcdconf.MemberChange{{Container: "etcd", Hook: "postStart", Verb: "remove"}}
	unread := []etcdconf.MemberChange{{Container: "etcd", Unread: "/start.sh: ConfigMap team/s does not exist"}}
	removed := []etcdconf.MemberChange{{Container: "etcd", Hook: "preStop", Verb: "remove"}}
	for _, row := range []struct {
		id, name string
		o        Owner
		manager  flavour.Manager
		scale    string
		scaleIn  string
	}{
		{"WM-1", "an operator of pods", Owner{Distribution: flavour.UnknownPods, WorkloadKind: Pods, Controller: controller("etcd.database.coreos.com/v1beta2", "EtcdCluster")},
			flavour.ByOperator, "EtcdCluster/main, which created the pods: kubectl edit etcdcluster.etcd.database.coreos.com main -n team", ""},
		{"WM-2", "an operator of a StatefulSet", Owner{Distribution: flavour.Plain, Controller: controller("example.com/v1", "Storage")}, flavour.ByOperator,
			"Storage/main, which created the StatefulSet and may revert the change: kubectl edit storage.example.com main -n team", ""},
		{"WM-3", "a Deployment", Owner{Distribution: flavour.UnknownPods, WorkloadKind: Pods, Controller: controller("apps/v1", "Deployment")}, flavour.ByOperator, "where its manifest is", ""},
		{"WM-4", "no owner", Owner{Distribution: flavour.UnknownPods, WorkloadKind: Pods}, flavour.ByOperator, "where its manifest is", ""},
		{"WM-5", "a script that adds", Owner{Distribution: flavour.Plain, MemberChanges: added}, flavour.ByStartScript, "kubectl scale statefulset main --replicas N -n team", "etcdctl member remove"},
		{"WM-29", "a hook whose program only the image has", Owner{Distribution: flavour.Plain, MemberChanges: []etcdconf.MemberChange{{Container: "etcd", Hook: "preStop", Unread: "/stop: no ConfigMap has it", Elsewhere: true}}}, flavour.Unmanaged, "", ""},
		{"WM-30", "a start program that only the image has", Owner{Distribution: flavour.Plain, MemberChanges: []etcdconf.MemberChange{{Container: "etcd", Unread: "/start: no ConfigMap has it", Elsewhere: true}}}, flavour.Unmanaged, "", ""},
		{"WM-6", "a hook that removes", Owner{Distribution: flavour.Plain, MemberChanges: removed}, flavour.ByStartScript, "kubectl scale statefulset main --replicas N -n team", ""},
		{"WM-7", "a script in a release", Owner{Distribution: flavour.Plain, MemberChanges: added, Annotations: helm}, flavour.ByStartScript, "in the values of Helm release shop", ""},
		{"WM-8", "a script, and an operator", Owner{Distribution: flavour.Plain, MemberChanges: added, Controller: controller("example.com/v1", "Storage")}, flavour.ByOperator, "Storage/main", ""},
		{"WM-9", "a chart", Owner{Distribution: flavour.Bitnami, Annotations: helm, Labels: chart}, flavour.ByStartScript, "if it is etcd-ha, helm upgrade shop CHART -n team --reuse-values --set replicaCount=N; if", ""},
		{"WM-10", "a chart that is a dependency", Owner{Distribution: flavour.Bitnami, Annotations: helm, Labels: chart}, flavour.ByStartScript, "; if etcd-ha is a dependency of it, helm upgrade shop CHART -n team --reuse-values --set etcd-ha.replicaCount=N (", ""},
		{"WM-11", "a chart's labels without a release", Owner{Distribution: flavour.Kamaji, Labels: rendered}, flavour.Unmanaged, "set replicas in the values from which its manifests are rendered", ""},
		{"WM-20", "a chart that sets the members, rendered", Owner{Distribution: flavour.Bitnami, Labels: rendered}, flavour.ByStartScript, "set replicaCount=N in the values from which its manifests are rendered", ""},
		{"WM-21", "a chart that sets the members, or its image alone", Owner{Distribution: flavour.Bitnami}, flavour.ByStartScript, "set the replicas in its manifests, or replicaCount=N in", ""},
		{"WM-22", "a script in a rendered chart", Owner{Distribution: flavour.Plain, MemberChanges: added, Labels: rendered}, flavour.ByStartScript, "in the values from which its manifests are rendered", ""},
		{"WM-23", "a release in another namespace", Owner{Distribution: flavour.Bitnami, Annotations: map[string]string{helmRelease: "shop", helmNamespace: "apps"}}, flavour.ByStartScript, "helm upgrade shop CHART -n apps --reuse-values", ""},
		{"WM-24", "a release in a chart", Owner{Distribution: flavour.Kamaji, Annotations: helm}, flavour.Unmanaged, "set replicas in the values of Helm release shop", ""},
		{"WM-25", "a release in a chart that may be a dependency", Owner{Distribution: flavour.Kamaji, Annotations: map[string]string{helmRelease: "kamaji", helmNamespace: "system"}, Labels: map[string]string{helmChart: "kamaji-etcd-0.9.2"}}, flavour.Unmanaged,
			"set replicas in the values of Helm release kamaji too (helm list -n system shows the release's CHART: if it isn't kamaji-etcd, then kamaji-etcd is a dependency of it and the value is kamaji-etcd.replicas; " +
				"if other charts are between them, the value begins with their names, as in PARENT.kamaji-etcd.replicas), or the chart undoes it when it is applied again", ""},
		{"WM-26", "a dependency of a dependency", Owner{Distribution: flavour.Bitnami, Annotations: helm, Labels: chart}, flavour.ByStartScript,
			" (if other charts are between them, the value begins with their names, as in PARENT.etcd-ha.replicaCount), and let the chart's hooks run", ""},
		{"WM-27", "a rendered chart that may be a dependency", Owner{Distribution: flavour.Kamaji, Labels: map[string]string{helmChart: "kamaji-etcd-0.9.2"}}, flavour.Unmanaged,
			"set replicas in the values from which its manifests are rendered too (where kamaji-etcd is a dependency of another chart, the value is kamaji-etcd.replicas; if", ""},
		{"WM-28", "a rendered chart that sets the members and may be a dependency", Owner{Distribution: flavour.Bitnami, Labels: rendered}, flavour.ByStartScript,
			"set replicaCount=N in the values from which its manifests are rendered (where etcd is a dependency of another chart, the value is etcd.replicaCount; if", ""},
		{"WM-13", "a hook that removes at the start", Owner{Distribution: flavour.Plain, MemberChanges: joined}, flavour.ByStartScript, "kubectl scale statefulset main --replicas N -n team", "etcdctl member remove"},
		{"WM-14", "a script that can't be read", Owner{Distribution: flavour.Plain, MemberChanges: unread}, flavour.ByStartScript, "make the script readable", ""},
		{"WM-15", "a script that can't be read, and one that adds", Owner{Distribution: flavour.Plain, MemberChanges: append(unread, added...)}, flavour.ByStartScript, "kubectl scale statefulset main --replicas N -n team", "etcdctl member remove"},
		{"WM-16", "a script that can't be read, and a chart", Owner{Distribution: flavour.Bitnami, MemberChanges: unread, Annotations: helm, Labels: chart}, flavour.ByStartScript, "--set replicaCount=N; if", ""},
		{"WM-17", "a StatefulSet for each member", Owner{Distribution: flavour.Plain, Workloads: []Workload{{Name: "main", Replicas: 1}, {Name: "b", Replicas: 1}}}, flavour.BySets,
			"scale the StatefulSet of the member to 0 replicas", "delete that StatefulSet, and"},
		{"WM-18", "a StatefulSet of two and one of one", Owner{Distribution: flavour.Plain, Workloads: []Workload{{Name: "main", Replicas: 2}, {Name: "b", Replicas: 1}}}, flavour.BySets,
			"scale the StatefulSet of the member in by one replica, which stops the last pod of it", "delete that StatefulSet if it has no replica left"},
		{"WM-19", "a pod beside a StatefulSet", Owner{Distribution: flavour.Plain, Replicas: 2, PodsBeside: []string{"x"}}, flavour.BySets, "scale its StatefulSet in by one replica", "delete a pod that no workload created"},
		{"WM-30", "a release of another name, whose chart may have a value of that name", Owner{Distribution: flavour.Bitnami, Annotations: map[string]string{helmRelease: "apisix"}, Labels: map[string]string{helmChart: "etcd-8.7.7"}}, flavour.ByStartScript,
			"check the CHART of release apisix with helm list -n team: if it is etcd, helm upgrade apisix ", ""},
		{"WM-31", "a HelmRelease of Flux", Owner{Distribution: flavour.Bitnami, Annotations: helm, Labels: flux}, flavour.ByStartScript, "set replicaCount=N in the values of HelmRelease gitops/shop (where etcd is", ""},
		{"WM-32", "a HelmRelease of Flux, of a chart of one StatefulSet", Owner{Distribution: flavour.Kamaji, Annotations: helm, Labels: flux}, flavour.Unmanaged, "set replicas in the values of HelmRelease gitops/shop too", ""},
		{"WM-33", "a HelmRelease of Flux, and a script", Owner{Distribution: flavour.Plain, MemberChanges: added, Annotations: helm, Labels: flux}, flavour.ByStartScript, "in the values of HelmRelease gitops/shop", ""},
		{"WM-34", "a StatefulSet of a HelmRelease of Flux", Owner{Distribution: flavour.Plain, Annotations: helm, Labels: flux}, flavour.Unmanaged, "change the number of replicas in the values of HelmRelease gitops/shop too", ""},
		{"WM-35", "a StatefulSet of a release", Owner{Distribution: flavour.Plain, Annotations: helm}, flavour.Unmanaged, "change the number of replicas in the values of Helm release shop too, or", ""},
		{"WM-36", "a StatefulSet of a rendered chart", Owner{Distribution: flavour.Plain, Labels: rendered}, flavour.Unmanaged, "change the number of replicas in the values from which its manifests are rendered too", ""},
		{"WM-37", "a label that names no HelmRelease", Owner{Distribution: flavour.Plain, Annotations: helm, Labels: map[string]string{fluxName: "a;b", fluxNamespace: "x"}}, flavour.Unmanaged, "in the values of Helm release shop too", ""},
		{"WM-12", "nothing", Owner{Distribution: flavour.Plain}, flavour.Unmanaged, "", ""},
	} {
		row.o.Namespace, row.o.Name, row.o.StatefulSet = "team", "main", "main"
		m := row.o.Membership()
		if m.Manager != row.manager || !strings.Contains(m.ScaleHow, row.scale) || !strings.Contains(m.ScaleInHow, row.scaleIn) {
			t.Errorf("%s %s: %+v", row.id, row.name, m)
		}
		for _, text := range []string{m.ManagerName, m.ScaleHow, m.ScaleInHow, m.ReplaceHow} {
			if row.o.HelmRelease() != "" && strings.Contains(text, "helm ") {
				t.Errorf("%s %s: the command is reverted: %q", row.id, row.name, text)
			}
			if row.o.Release() == "" && (strings.Contains(text, "helm ") || strings.Contains(text, "Helm release")) {
				t.Errorf("%s %s has no release: %q", row.id, row.name, text)
			}
			if strings.Contains(text, "()") || strings.Contains(text, "NAME") || strings.Contains(text, "VALUES") || strings.Contains(text, "the program that created") {
				t.Errorf("%s %s: %q", row.id, row.name, text)
			}
		}
	}
}

// TestObject: what an operator makes a cluster from is the controller of its StatefulSet, or the owner.
func TestObject(t *testing.T) {
	t.Parallel()
	by := &metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Storage", Name: "shop"}
	for _, row := range []struct {
		o     Owner
		typed string
		kind  string
	}{
		{Owner{WorkloadKind: DruidStatefulSet, Kind: "Etcd", Name: "main"}, "etcd main", "Etcd"},
		{Owner{WorkloadKind: DruidStatefulSet, Kind: "Etcd", Name: "main", Controller: by}, "etcd main", "Etcd"},
		{Owner{WorkloadKind: StatefulSet, Kind: "StatefulSet", Name: "main", Controller: by}, "storage.example.com shop", "Storage"},
		{Owner{WorkloadKind: Pods, Kind: "EtcdCluster", Name: "main", Controller: by}, "etcdcluster main", "EtcdCluster"},
	} {
		if typed, kind := row.o.Object(); typed != row.typed || kind != row.kind {
			t.Errorf("%+v: %q of kind %s, want %q of kind %s", row.o, typed, kind, row.typed, row.kind)
		}
	}
}
