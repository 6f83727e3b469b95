// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestApplyTwice applies the default overlay to an empty cluster twice, by both kinds of apply.
// The second apply changes nothing. No apply changes an object of another user, even in a
// namespace with a cluster and a budget.
func TestApplyTwice(t *testing.T) {
	ns := namespace(t, "theirs")
	one := intstr.FromInt32(1)
	theirs, err := clusters.Apply(t.Context(), bed, ns, "theirs", clusters.Spec{
		Flavour: clusters.Plain, Size: 3, Ephemeral: true, Budget: &clusters.Budget{MaxUnavailable: &one},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := theirs.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"--server-side"}, {"--server-side=false"}} {
		t.Run(flags[0], func(t *testing.T) {
			uninstalled(t)
			before := calm(t, Namespace)
			applied(t, "self-signed", flags...)
			rolledOut(t)
			kubectl(t, "wait", "--for", "condition=Established", "crd/etcdtopologypolicies.policy.kubectl-etcd.dev")
			eventually(t, "no changed object outside of the installation", func(context.Context) (string, bool, error) {
				after, diff := snapshot(t, Namespace), ""
				for key := range before {
					if d := cmp.Diff(before[key], after[key]); d != "" {
						diff += fmt.Sprintf("%s (-before +after):\n%s", key, d)
					}
				}
				return diff, diff == "", nil // a probe may fail for a moment
			})
			var printed string
			changesNothing(t, func() { printed = applied(t, "self-signed", flags...) })
			if flags[0] != "--server-side" {
				expectUnchanged(t, printed)
			}
			restricted(t)
		})
	}
	if err := theirs.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// expectUnchanged checks that kubectl reports no change for a second client-side apply.
func expectUnchanged(t *testing.T, printed string) {
	t.Helper()
	for line := range strings.Lines(printed) {
		// kubectl sends the selector of a budget each time, without an effect.
		if !strings.HasSuffix(strings.TrimSpace(line), " unchanged") && !strings.HasPrefix(line, "poddisruptionbudget") {
			t.Errorf("after a second apply, kubectl prints %s", line)
		}
	}
}

// changesNothing checks that a second apply leaves every object of an overlay as it is.
func changesNothing(t *testing.T, again func()) {
	t.Helper()
	first := settledObjects(t)
	again()
	if diff := cmp.Diff(first, installedObjects(t)); diff != "" {
		t.Errorf("objects after a second apply (-first +second):\n%s", diff)
	}
}

// installedObjects returns the content of each object that the overlays create, by kubectl's
// name for it. It omits the status, which changes by itself.
func installedObjects(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for key, text := range snapshot(t) {
		if strings.Contains(text, "app.kubernetes.io/part-of: kubectl-etcd") {
			spec, _, _ := strings.Cut(text, "\nstatus:")
			all[key] = spec
		}
	}
	if len(all) < 10 {
		t.Fatalf("only these objects are installed: %q", slices.Collect(maps.Keys(all)))
	}
	return all
}

// settledObjects returns installedObjects after etcd-webhook has written its own fields.
func settledObjects(t *testing.T) map[string]string {
	t.Helper()
	var now map[string]string
	eventually(t, "unchanged installed objects", func(context.Context) (string, bool, error) {
		before := now
		now = installedObjects(t)
		diff := cmp.Diff(before, now)
		return diff, diff == "", nil
	})
	return now
}

// restricted checks that the namespace enforces the strictest Pod Security Standard, and that
// etcd-webhook's pods were admitted.
func restricted(t *testing.T) {
	t.Helper()
	privileged := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "baseline"}}
	privileged.Spec.Containers = []corev1.Container{{Name: "a", Image: "a"}}
	err := admin.Create(t.Context(), privileged, client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:`) {
		t.Errorf("the creation of a pod that may run as root got %v", err)
	}
	var pods corev1.PodList
	if err := admin.List(t.Context(), &pods, client.InNamespace(Namespace), client.MatchingLabels{"app.kubernetes.io/name": Name}); err != nil {
		t.Fatal(err)
	}
	zones := map[string]bool{}
	for _, p := range pods.Items {
		if p.Spec.Priority == nil || *p.Spec.Priority < 1_000_000_000 {
			t.Errorf("pod %s has priority %v", p.Name, p.Spec.Priority)
		}
		if p.DeletionTimestamp == nil {
			zones[p.Spec.NodeName] = true // each node is its own zone here
		}
	}
	if len(zones) < 2 {
		t.Errorf("%d pods run in zones %v", len(pods.Items), zones)
	}
	var pdb policyv1.PodDisruptionBudget
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: Namespace, Name: Name}, &pdb); err != nil {
		t.Error(err)
	}
}

// TestFoldersAreValid has the API server validate the network policies and everything else in
// each folder that needs no foreign definitions. The testbed enforces no network policy.
func TestFoldersAreValid(t *testing.T) {
	installed(t)
	for _, name := range []string{"base", "overlays/self-signed"} {
		printed := kubectl(t, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k", folder(filepath.FromSlash(name)))
		if !strings.Contains(printed, "networkpolicy.networking.k8s.io/"+Name) {
			t.Errorf("%s has no network policy: %s", name, printed)
		}
	}
}
