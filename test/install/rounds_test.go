// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// rounds is the number of installations.
const rounds = 10

// nothingLeft is what the uninstallation prints if nothing is to be done.
const nothingLeft = "etcd-webhook is not installed, and none of its objects exists.\n"

// TestUninstallLeavesNothing installs and uninstalls repeatedly. Each round has an adopted and
// tightened budget, a created budget, and a Service with a cut. After each round the cluster is
// as before, whatever the state of the uninstalled program.
func TestUninstallLeavesNothing(t *testing.T) {
	uninstalled(t)
	ns := namespace(t, "rounds")
	adopted := twoClusters(t, ns)
	before := calm(t)
	stop := func() {
		kubectl(t, "scale", "deployment", Name, "-n", Namespace, "--replicas", "0")
		awaitPods(t, 0)
		copyMade(t, ns)
	}
	ended := func() {
		plugin(t, 0, "cut-client-traffic", "adopted", "-n", ns, "--for", "2s", "--reason", "a test", "--wait=false", "-y")
		awaitBudget(t, ns, adopted, 2)
	}
	states := []struct {
		name   string
		bring  func()
		copied bool
	}{
		{name: "it runs", bring: func() {}},
		{name: "it doesn't run", bring: stop, copied: true},
		{name: "its manifests were deleted in haste", bring: func() {
			kubectl(t, "delete", "-k", pinned(t, "overlays/self-signed"))
			admitted(t, ns)
		}},
		{name: "uninstalling was interrupted", bring: func() {
			killPlugin(t, "is restored", "webhook", "uninstall", "--all", "-y")
		}},
		{name: "a cut has ended by itself", bring: ended},
		{name: "who restored after a cut was interrupted", bring: func() {
			ended()
			kubectl(t, "patch", "lease", "kubectl-etcd-statefulset-adopted", "-n", ns, "--type", "merge", "-p",
				`{"metadata":{"annotations":{"kubectl-etcd.dev/client-traffic":null,"kubectl-etcd.dev/operation":"restore-client-traffic"}},"spec":{"holderIdentity":"ann@laptop (pid 1)"}}`)
		}},
		{name: "it runs, and goes by hand", bring: func() { typeInstall(t, byKubectl) }},
		{name: "it doesn't run, and goes by hand", bring: func() {
			stop()
			unaidedByHand(t, ns, adopted)
		}, copied: true},
	}
	for round := range rounds {
		state := states[round%len(states)]
		t.Logf("%s round %d: %s", time.Now().Format("15:04:05"), round+1, state.name)
		hold(t, ns, adopted)
		state.bring()
		_, printed := plugin(t, 0, "webhook", "uninstall", "--all", "-y")
		if printed != nothingLeft && strings.Contains(state.name, "by hand") {
			t.Errorf("round %d: after %s uninstalling printed:\n%s", round+1, state.name, printed)
		}
		if state.copied {
			dropCopy(t, ns)
		}
		what := fmt.Sprintf("round %d (%s): the cluster to be as before; uninstalling printed:\n%s\n", round+1, state.name, printed)
		eventually(t, what, func(context.Context) (string, bool, error) {
			// The disruption controller updates its counts with a delay, and on a slow machine a
			// probe may fail.
			diff := cmp.Diff(before, snapshot(t))
			return "(-before +after)\n" + diff, diff == "", nil
		})
	}
	if _, printed := plugin(t, 0, "webhook", "uninstall", "--all", "-y"); printed != nothingLeft {
		t.Errorf("the second uninstall prints %s", printed)
	}
}

// calm returns a snapshot when two snapshots in a row are equal, so that all counts are up to
// date.
func calm(t *testing.T, skip ...string) map[string]string {
	t.Helper()
	var now map[string]string
	eventually(t, "the cluster to stay the same", func(context.Context) (string, bool, error) {
		before := now
		now = snapshot(t, skip...)
		diff := cmp.Diff(before, now)
		return diff, diff == "", nil
	})
	return now
}

// hold installs etcd-webhook, and has it manage budgets and Services.
func hold(t *testing.T, ns, adopted string) {
	t.Helper()
	installed(t)
	p := &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	p.Spec.Disruption.CreateMissing = true
	if err := admin.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	awaitBudget(t, ns, adopted, 2)
	awaitMade(t, ns)
	plugin(t, 0, "cut-client-traffic", "adopted", "-n", ns, "--for", "1h", "--reason", "a test", "--allow-residual", "-y")
	awaitBudget(t, ns, adopted, 3) // a member that restarts during the cut can't rejoin
	cutByHand(t, ns, "bare")
}

// cutByHand cuts a Service for which the plugin refuses a cut.
func cutByHand(t *testing.T, ns, name string) {
	t.Helper()
	var s corev1.Service
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, &s); err != nil {
		t.Fatal(err)
	}
	if s.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Fatalf("Service %s/%s is not headless", ns, name)
	}
	before := s.DeepCopy()
	s.Spec.Selector[v1alpha1.ClientTrafficKey] = observe.CutValue(time.Now().Add(time.Hour))
	if err := admin.Patch(t.Context(), &s, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// admitted writes objects that etcd-webhook reviews if it is installed.
func admitted(t *testing.T, ns string) {
	t.Helper()
	kubectl(t, "delete", "pod", "bare-0", "-n", ns, "--dry-run=server")
	kubectl(t, "annotate", "pdb,svc", "--all", "-n", ns, "--dry-run=server", "seen=yes")
	kubectl(t, "create", "-n", ns, "-f", "testdata/budget.yaml", "--dry-run=server")
}

// twoClusters creates one cluster with an author's budget of the quorum, and one without a
// budget. It returns the name of the budget.
func twoClusters(t *testing.T, ns string) string {
	t.Helper()
	two := intstr.FromInt32(2)
	for name, budget := range map[string]*clusters.Budget{"adopted": {MinAvailable: &two}, "bare": nil} {
		c, err := clusters.Apply(t.Context(), bed, ns, name, clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true, Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var all policyv1.PodDisruptionBudgetList
	if err := admin.List(t.Context(), &all, client.InNamespace(ns)); err != nil || len(all.Items) != 1 {
		t.Fatalf("%d budgets, want one: %v", len(all.Items), err)
	}
	return all.Items[0].Name
}

// awaitBudget waits until a budget is managed with this minAvailable.
func awaitBudget(t *testing.T, ns, name string, least int) {
	t.Helper()
	eventually(t, fmt.Sprintf("minAvailable %[2]d of budget %[1]s", name, least), func(ctx context.Context) (string, bool, error) {
		var pdb policyv1.PodDisruptionBudget
		if err := admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, &pdb); err != nil {
			return "", false, err
		}
		kept := pdb.Annotations[v1alpha1.BudgetForAnnotation] != ""
		return fmt.Sprintf("minAvailable %s, %v", pdb.Spec.MinAvailable, pdb.Annotations), kept && pdb.Spec.MinAvailable.IntValue() == least, nil
	})
}

// awaitMade waits for the budget that etcd-webhook creates.
func awaitMade(t *testing.T, ns string) {
	t.Helper()
	eventually(t, "a created budget for the cluster without one", func(ctx context.Context) (string, bool, error) {
		var all policyv1.PodDisruptionBudgetList
		err := admin.List(ctx, &all, client.InNamespace(ns), client.MatchingLabels{v1alpha1.CreatedByLabel: v1alpha1.CreatedByController})
		return "none", len(all.Items) > 0, err
	})
}
