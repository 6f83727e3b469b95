// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginSeen inspects healthy and unhealthy clusters of every flavour with list, status and
// member list, and checks the output.
func TestPluginSeen(t *testing.T) {
	beside(t)
	t.Run("druid", func(t *testing.T) {
		t.Parallel()
		c := borrowDruid(t)
		seen(t, c, "etcd/"+c.Name, "etcd-druid")
		texts := []string{"Backups", "full ", "BackupReady True", "Budget", "minAvailable", "policy shared (Enforce)"}
		prints(t, 0, texts, "status", "-n", c.Namespace, "svc/"+c.Name+"-client")
	})
	t.Run("bitnami", func(t *testing.T) {
		t.Parallel()
		c := borrowChart(t)
		seen(t, c, "statefulset/"+c.Full(), "bitnami")
	})
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		enter(t, 3)
		c := start(t, namespace(t), "p", clusters.Spec{Flavour: clusters.Plain, Ephemeral: true})
		seen(t, c, "statefulset/"+c.Full(), "plain")
		t.Run("traffic is cut", func(t *testing.T) { seenCut(t, c) })
		t.Run("few rights", func(t *testing.T) { seenByViewer(t, c) })
		t.Run("by labels", func(t *testing.T) { seenByLabels(t, c) })
		t.Run("a member is gone", func(t *testing.T) { seenWithout(t, c) })
	})
}

// seen checks what is true of every healthy cluster of three members.
func seen(t *testing.T, c *clusters.Cluster, target, flavour string) {
	t.Helper()
	prints(t, 0, []string{"FLAVOUR", c.Full(), flavour, "3/3", "open"}, "list", "-n", c.Namespace)

	texts := []string{"healthy, 3 of 3 members ready", "3 of 3 voters healthy, 2 needed: 1 more may fail", "leader", "zone-", "Spread", "Next"}
	prints(t, 0, texts, "status", "-n", c.Namespace, target)
	statusInFull(t, c, target)
	memberList(t, c, target)
	// The plugin waits three seconds at most for completions, because a user waits for them
	// while typing.
	prints(t, 0, []string{c.Full()}, "__complete", "status", "-n", c.Namespace, "")
	member := []string{c.Full() + "-0\tmember of " + target}
	prints(t, 0, member, "__complete", "member", "replace", "-n", c.Namespace, "")
	prints(t, 0, member, "__complete", "member", "replace", "-n", c.Namespace, c.Full(), "")
	prints(t, 0, member, "__complete", "snapshot", "save", "-n", c.Namespace, c.Full(), "--member", "")
	prints(t, 0, []string{c.ClientService() + "\tof " + target}, "__complete", "cut-client-traffic", "-n", c.Namespace, c.Full(), "--service", "")
}

// statusInFull reads the status as JSON, which contains everything.
func statusInFull(t *testing.T, c *clusters.Cluster, target string) {
	t.Helper()
	eventually(t, "the status of "+c.String()+" in full", func(context.Context) (string, bool, error) {
		text, _ := plugin(t, 0, "status", "-n", c.Namespace, c.Full(), "-o", "json")
		st := parsed[output.EtcdClusterStatus](t, text)
		full := st.Cluster.Target == target && st.Quorum.FromEtcd && len(st.Members) == 3 && len(st.ClusterID) == 16 && st.Leader != ""
		for _, m := range st.Members {
			full = full && m.Answered && m.State == output.StateOK && m.Zone != "" && m.Node != "" && m.DBSize > 0 && m.Quota > 0 && m.Lag != nil && (m.CertificateExpiry != nil) == c.TLS
		}
		return text, full, nil
	})
}

func memberList(t *testing.T, c *clusters.Cluster, target string) {
	t.Helper()
	eventually(t, "the members of "+c.String(), func(context.Context) (string, bool, error) {
		text, _ := plugin(t, 0, "member", "list", "-n", c.Namespace, target, "-o", "json")
		roll := parsed[output.EtcdMemberList](t, text)
		all := len(roll.Items) == 3 && roll.Authority == output.AuthorityQuorum && len(roll.Disagreements) == 0
		for i, m := range roll.Items {
			all = all && m.Pod == fmt.Sprintf("%s-%d", c.Full(), i) && len(m.ID) == 16 && len(m.PeerURLs) == 1 && m.Started
		}
		return text, all, nil
	})
}

// seenCut checks that the output shows the cut. The cluster counts as healthy, because a user
// requested the cut.
func seenCut(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	s := corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Full() + "-client"}}
	cut := fmt.Sprintf(`{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":%q}}}`, observe.CutValue(time.Now().Add(time.Hour)))
	patch := func(text string) {
		t.Helper()
		if err := kube.Patch(t.Context(), &s, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
			t.Fatal(err)
		}
	}
	patch(cut)
	prints(t, 0, []string{"cut 5", "m more"}, "list", "-n", c.Namespace) // of one hour
	prints(t, 0, []string{"cut 5", "m more", "kubectl etcd restore-client-traffic statefulset/" + c.Full()}, "status", "-n", c.Namespace)
	patch(fmt.Sprintf(`{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":%q}}}`, observe.CutValue(time.Time{})))
	patch(`{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":null}}}`)
}

// seenByViewer inspects the cluster with permissions only for pods and StatefulSets.
func seenByViewer(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	who := "viewer-of-" + c.Namespace
	meta := metav1.ObjectMeta{Namespace: c.Namespace, Name: "viewer"}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"", "apps", "druid.gardener.cloud"}, Resources: []string{"pods", "statefulsets", "etcds"}, Verbs: []string{"get", "list"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: who}},
		},
	} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	prints(t, 0, []string{c.Full(), "3/3", "services is forbidden", "leases.coordination.k8s.io is forbidden"}, "list", "-n", c.Namespace, "--as", who)
	texts := []string{"healthy, 3 of 3 members ready", "from Kubernetes objects", "pods/portforward", "you may not list nodes", "events is forbidden"}
	prints(t, 0, texts, "status", "-n", c.Namespace, "--as", who)
	prints(t, 1, []string{"clusters may be missing", "-n NAMESPACE"}, "list", "-A", "--as", who)
}

// seenByLabels finds the cluster by a label that only this cluster has in all namespaces, and
// then by a label that other clusters also have.
func seenByLabels(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	set, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := "by=" + c.Namespace
	prints(t, 1, []string{"no etcd cluster in any namespace with labels " + by}, "status", "-A", "-l", by)
	set.Labels["by"] = c.Namespace
	if err := kube.Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	prints(t, 0, []string{c.Full(), "healthy, 3 of 3 members ready"}, "status", "-A", "-l", by)

	twin := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "twin", Labels: set.Labels}, Spec: set.Spec}
	twin.Spec.Replicas = new(int32)
	if err := kube.Create(t.Context(), twin); err != nil {
		t.Fatal(err)
	}
	both := []string{"there are 2 etcd clusters; choose one of", "statefulset/" + c.Full() + " -n " + c.Namespace, "statefulset/twin -n " + c.Namespace}
	prints(t, 1, both, "status", "-A", "-l", by)
	if err := kube.Delete(t.Context(), twin); err != nil {
		t.Fatal(err)
	}
}

// seenWithout stops a member, and checks the output while the member is stopped.
func seenWithout(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	_, texts := plugin(t, 1, "status", "-n", c.Namespace, "elsewhere")
	has(t, texts, "there is statefulset/"+c.Full())
	if err := c.Scale(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	gone := fmt.Sprintf("%s-2", c.Full())
	eventually(t, gone+" to be deleted", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: gone}, &corev1.Pod{})
		return fmt.Sprint(err), err != nil, client.IgnoreNotFound(err)
	})
	prints(t, 3, []string{
		"2 of 3 voters healthy, 2 needed: no further member may fail", "no pod runs it", "kubectl etcd member remove statefulset/" + c.Full(),
		"unhealthy: statefulset/" + c.Full(),
	}, "status", "-n", c.Namespace)
	prints(t, 3, []string{"no pod of this cluster runs it"}, "member", "list", "-n", c.Namespace)
}

func has(t *testing.T, text string, texts ...string) {
	t.Helper()
	for _, w := range texts {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in:\n%s", w, text)
		}
	}
}

func parsed[T any](t *testing.T, text string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}
