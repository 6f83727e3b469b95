// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginDrainPlan plans drains of the nodes of a cluster: one member a wave. It drains two of them, and
// the members keep the quorum and all data.
func TestPluginDrainPlan(t *testing.T) {
	alone(t)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	c := start(t, ns, "planned", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	awaitMin(t, c, 2, policy.AllReady.Name())
	var nodes []string
	for _, m := range members(t, c) {
		nodes = append(nodes, m.Node)
	}
	slices.Sort(nodes)
	uncordonAtEnd(t, c, nodes)
	flags := []string{"--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector", labels.FormatLabels(c.MemberLabels())}

	p := drainPlan(t, slices.Concat(nodes, flags)...)
	if len(p.Waves) != 3 || len(p.Unseen) > 0 {
		t.Fatalf("%d waves, want 3; unseen: %v", len(p.Waves), p.Unseen)
	}
	for i, n := range p.Nodes {
		leave := slices.DeleteFunc(slices.Clone(n.Members), func(m output.DrainMember) bool { return m.Stays }) // those of other clusters stay
		if len(leave) != 1 || len(n.Blocked) > 0 || n.Cordoned {
			t.Errorf("node %+v", n)
		}
		if i > 0 && !slices.ContainsFunc(n.NotBefore, func(c output.DrainCause) bool {
			return c.Reason == drain.WaveQuorum.Name() || c.Reason == drain.WaveBudget.Name()
		}) {
			t.Errorf("node %s is in wave %d without a cause", n.Name, n.Wave)
		}
	}

	writing := startLoad(t, c)
	args := slices.Concat([]string{"drain-plan"}, nodes[:2], flags, []string{"--run", "-y", "--reason", "a test"})
	_, printed := plugin(t, 0, args...)
	wants(t, printed, "cordoned "+nodes[0], "cordoned "+nodes[1], "evicted "+ns+"/planned-", "is ready again")
	for _, name := range nodes[:2] {
		if n := nodeNamed(t, name); !n.Spec.Unschedulable {
			t.Errorf("node %s is not cordoned", name)
		}
	}
	for _, m := range members(t, c) {
		if slices.Contains(nodes[:2], m.Node) {
			t.Errorf("%s still runs on %s", m.Pod.Name, m.Node)
		}
	}
	writing.check(t)
}

// TestPluginDrainPlanStops drains nodes of members that can run on no other node: it stops after the first
// wave, until its node is uncordoned.
func TestPluginDrainPlanStops(t *testing.T) {
	alone(t)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	// A name of its own: the drain selects pods by label, in all namespaces.
	c := start(t, ns, "stops", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	awaitMin(t, c, 2, policy.AllReady.Name())
	var nodes corev1.NodeList
	if err := kube.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	var all, drained []string
	for i := range nodes.Items {
		all = append(all, nodes.Items[i].Name)
	}
	for _, m := range members(t, c)[:2] {
		drained = append(drained, m.Node)
	}
	uncordonAtEnd(t, c, all)
	for _, name := range all {
		if !slices.Contains(drained, name) {
			var out bytes.Buffer
			if err := clusters.Kubectl(t.Context(), bed, &out, "cordon", name); err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
		}
	}
	flags := []string{"--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector", labels.FormatLabels(c.MemberLabels())}
	p := drainPlan(t, slices.Concat(drained, flags)...)
	if len(p.Waves) != 2 || p.Waves[0].Await[0].Reason != drain.AwaitUncordon.Name() {
		t.Fatalf("waves %+v", p.Waves)
	}
	first := p.Waves[0].Nodes[0]
	args := slices.Concat([]string{"drain-plan"}, drained, flags, []string{"--run", "-y"})
	refuses(t, []string{"uncordon " + first, "kubectl uncordon", "to continue: kubectl etcd drain-plan " + p.Waves[1].Nodes[0]}, args...)
	uncordon(t, c, all)
	works(t, c)
}

func drainPlan(t *testing.T, args ...string) output.DrainPlan {
	t.Helper()
	stdout, _ := plugin(t, 0, append([]string{"drain-plan", "-o", "json"}, args...)...)
	var p output.DrainPlan
	if err := json.Unmarshal([]byte(stdout), &p); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	return p
}

func nodeNamed(t *testing.T, name string) corev1.Node {
	t.Helper()
	var n corev1.Node
	if err := kube.Get(t.Context(), client.ObjectKey{Name: name}, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func uncordonAtEnd(t *testing.T, c *clusters.Cluster, nodes []string) {
	t.Helper()
	t.Cleanup(func() { uncordon(t, c, nodes) })
}

func uncordon(t *testing.T, c *clusters.Cluster, nodes []string) {
	t.Helper()
	for _, name := range nodes {
		var out bytes.Buffer
		if err := c.Uncordon(context.WithoutCancel(t.Context()), name, &out); err != nil {
			t.Errorf("%v: %s", err, &out)
		}
	}
}

// TestPluginDrainPlanSampleRoles plans and tries a drain with the roles of manifests/samples, and no other
// permissions.
func TestPluginDrainPlanSampleRoles(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 1})
	shell(t, "kubectl apply -f ../../manifests/samples/plugin-roles.yaml")
	user := "drainer-of-" + ns
	for _, role := range []string{"kubectl-etcd-viewer", "kubectl-etcd-cluster-viewer", "kubectl-etcd-node-drainer"} {
		create(t, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role + "-" + ns},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		})
	}
	awaitRight(t, ns, user, "", "pods", "list")
	awaitRight(t, ns, user, "", "nodes", "patch")
	node := members(t, c)[0].Node
	flags := []string{node, "--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector", labels.FormatLabels(c.MemberLabels()), "--as", user}
	if p := drainPlan(t, flags...); len(p.Unseen) > 0 {
		t.Errorf("unseen: %v", p.Unseen)
	}
	plugin(t, 0, append([]string{"drain-plan", "--run", "--dry-run=server"}, flags...)...)
	// The cluster has one member: a plan shows that the drain interrupts it.
	prints(t, 0, []string{"stops these clusters until their only member is back", ns + "/main"}, append([]string{"drain-plan"}, flags...)...)
}
