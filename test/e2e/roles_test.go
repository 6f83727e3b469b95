// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// TestPluginSampleRoles runs the commands of a working day with the roles of manifests/samples,
// and no other permissions. Commands that read are not refused, and commands that change
// something lack no permission.
func TestPluginSampleRoles(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, TLS: true})
	shell(t, "kubectl apply -f ../../manifests/samples/plugin-roles.yaml")
	viewer, operator := "viewer-of-"+ns, "operator-of-"+ns
	bind(t, ns, "kubectl-etcd-viewer", viewer, operator)
	bind(t, ns, "kubectl-etcd-operator", operator)
	file := t.TempDir() + "/main.db"
	awaitRight(t, ns, viewer, "", "pods", "list")
	awaitRight(t, ns, operator, "apps", "statefulsets", "patch")

	for _, args := range [][]string{
		{"status", "main"}, {"list"}, {"member", "list", "main"}, {"alarm", "list", "main"},
		{"check", "main", "--only", "Q001,R001,G003,D004,T001,C001"},
		{"snapshot", "save", "main", file}, {"snapshot", "restore-plan", file, "main"},
	} {
		stdout, stderr := plugin(t, 0, append(args, "-n", ns, "--as", viewer)...)
		for line := range strings.Lines(stdout + stderr) {
			denied := strings.Contains(line, "forbidden") && !strings.Contains(line, "at the cluster scope") &&
				!strings.Contains(line, "system:node:") // an Event can quote a refused request of a kubelet
			if denied || strings.Contains(line, "UNKNOWN Q") || strings.Contains(line, "UNKNOWN G003") {
				t.Errorf("%s: %s", strings.Join(args, " "), line)
			}
		}
	}
	for _, args := range [][]string{
		{"scale", "main", "--replicas", "5"}, {"member", "replace", "main-1", "--force"}, {"member", "add", "main", "--peer-urls", "https://main-3.main:2380"},
		{"defrag", "main"}, {"cut-client-traffic", "main", "--for", "5m", "--reason", "test"}, {"move-leader", "main"},
	} {
		_, stderr := plugin(t, 0, append(args, "-n", ns, "--as", operator, "--dry-run=server")...)
		if strings.Contains(stderr, "Kubernetes' own view of the cluster can't be read") || strings.Contains(stderr, "cannot read the cluster's objects in Kubernetes") {
			t.Errorf("%s: the plugin could not read the cluster's objects:\n%s", strings.Join(args, " "), stderr)
		}
		_, stderr = prints(t, 1, []string{"nothing was changed"}, append(args, "-n", ns, "--as", viewer, "-y")...)
		wants(t, stderr, "nothing was changed. Missing:", `verb "create" on "leases.coordination.k8s.io" in namespace "`+ns+`"`)
	}
	asksWebhook(t, ns)
	votersAre(t, c, 3)
}

// asksWebhook runs webhook status with the sample roles for it.
func asksWebhook(t *testing.T, ns string) {
	t.Helper()
	asker := "asker-of-" + ns
	for _, role := range []string{"kubectl-etcd-cluster-viewer", "kubectl-etcd-webhook-viewer"} {
		create(t, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role + "-" + ns},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: asker}},
		})
	}
	bind(t, install.Namespace, "kubectl-etcd-webhook-caller", asker)
	bind(t, ns, "kubectl-etcd-webhook-trial", asker)
	awaitRight(t, ns, asker, "", "pods", "create")
	awaitRight(t, install.Namespace, asker, "", "pods/portforward", "create")
	stdout, stderr := plugin(t, 0, "webhook", "status", "-n", ns, "--as", asker)
	if strings.Contains(stdout+stderr, "No access") || !strings.Contains(stdout, "it works") {
		t.Errorf("output with the sample roles:\n%s%s", stdout, stderr)
	}
}

func bind(t *testing.T, namespaceName, role string, users ...string) {
	t.Helper()
	b := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
	for _, u := range users {
		b.Subjects = append(b.Subjects, rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: u})
	}
	create(t, b)
}
