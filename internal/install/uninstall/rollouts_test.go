// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// byHand is the command that releases the rollout of the tests later.
const byHand = ` When that is no longer so, release it: kubectl patch statefulset main -n team --context dev --type=merge -p '{"metadata":{"annotations":{` +
	`"kubectl-etcd.dev/rollout-author":null,"kubectl-etcd.dev/rollout-reason":null,"kubectl-etcd.dev/rollout-release-since":null,` +
	`"kubectl-etcd.dev/rollout-since":null,"kubectl-etcd.dev/rollout-value":null}},` +
	`"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":"1\u0027","partition":0},"type":"RollingUpdate"}}}'`

// bySweep is the command that asks the members of the tests later.
const bySweep = " After the uninstallation, this command asks the members, and releases it if all of them are healthy: kubectl etcd sweep --remove -n team --context dev"

// TestHeldRollouts: the uninstallation releases the rollout of a cluster that is well. It leaves any other,
// and prints why, with the command that releases it later.
func TestHeldRollouts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*operatetest.Cluster)
		// stays is why the rollout stays held, empty if it is released.
		stays string
		// way is the end of what is printed, byHand if it is empty.
		way string
	}{
		{name: "well", change: func(*operatetest.Cluster) {}},
		{name: "a member hung, and the probes don't ask etcd", change: (*operatetest.Cluster).WeakProbes, stays: ": etcd-webhook recorded last that not all of its members are in order (MemberDown), and its pods may not show it.", way: bySweep},
		{name: "a pod is not Ready", change: func(c *operatetest.Cluster) { notReady(c, "main-1") }, stays: ": 2 of 3 members ready: main-1 is not."},
		{name: "a pod is missing", change: func(c *operatetest.Cluster) { c.Remove(operatetest.Path("Pod", "main-1")) }, stays: ": 2 of 3 members ready: 1 missing."},
		{name: "the pods can't be read", change: func(c *operatetest.Cluster) {
			c.Refuse = func(method, path string) int {
				if method == http.MethodGet && strings.HasSuffix(path, "/pods") {
					return http.StatusForbidden
				}
				return 0
			}
		}, stays: ": its cluster can't be read: "},
		{name: "scaled to 0", change: func(c *operatetest.Cluster) {
			notReady(c, "main-1")
			operatetest.Field(c.Get(operatetest.Path("StatefulSet", "main")), "spec")["replicas"] = 0
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := operatetest.NewCluster(t)
			hold(c)
			row.change(c)
			var printed []string
			record := func(format string, args ...any) { printed = append(printed, fmt.Sprintf(format, args...)) }
			u := newUninstaller(t, c, record)
			all, err := heldRollouts(t.Context(), u.Kube)
			if err != nil {
				t.Fatal(err)
			}
			found := &Installation{Rollouts: all}
			u.judgeRollouts(t.Context(), found)
			if held := len(found.Held) == 1; held != (row.stays != "") || len(found.Held)+len(found.Rollouts) != 1 {
				t.Errorf("planned: %d are released, %d stay", len(found.Rollouts), len(found.Held))
			}
			if _, err := u.restoreRollouts(t.Context(), all); err != nil {
				t.Fatal(err)
			}
			checkHeld(t, c, printed, row.stays, cmp.Or(row.way, byHand))
		})
	}
}

func newUninstaller(t *testing.T, c *operatetest.Cluster, record func(format string, args ...any)) *Uninstaller {
	t.Helper()
	kube := c.Client(t)
	return &Uninstaller{
		Kube: kube, Clock: clock.RealClock{}, Flags: " --context dev", Logf: record, Warnf: record,
		Reader: &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}},
	}
}

// TestHeldRolloutTwice: that a member hangs may be recorded on a budget only, which the uninstallation removes. A
// second uninstallation holds the rollout all the same. If the record can't be moved, the budget stays, but that of
// another namespace is restored.
func TestHeldRolloutTwice(t *testing.T) {
	t.Parallel()
	const (
		budget  = "/apis/policy/v1/namespaces/team/poddisruptionbudgets/main"
		another = "/apis/policy/v1/namespaces/other/poddisruptionbudgets/main"
	)
	c := operatetest.NewCluster(t)
	hold(c)
	c.WeakProbes()
	operatetest.Field(c.Get(operatetest.Path("StatefulSet", "main")), "metadata", "annotations")[v1alpha1.RolloutReasonAnnotation] = "AllReady"
	c.Put(budget, ourBudget("team"))
	c.Put(another, ourBudget("other"))
	c.Refuse = func(method, path string) int {
		if method == http.MethodPatch && strings.Contains(path, "/statefulsets/") {
			return http.StatusForbidden
		}
		return 0
	}
	u := newUninstaller(t, c, func(string, ...any) {})
	if err := u.restoreRolloutsAndBudgets(t.Context()); err == nil || c.Get(budget) == nil {
		t.Fatalf("the reason can't be recorded on the StatefulSet: %v, and the budget is %v", err, c.Get(budget))
	}
	if c.Get(another) != nil {
		t.Error("the budget of another namespace is not deleted")
	}
	c.Refuse = nil
	for range 2 {
		var printed []string
		record := func(format string, args ...any) { printed = append(printed, fmt.Sprintf(format, args...)) }
		if err := newUninstaller(t, c, record).restoreRolloutsAndBudgets(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.Get(budget) != nil {
			t.Error("the budget is not deleted")
		}
		checkHeld(t, c, printed[:1], "(MemberNotReady)", bySweep)
	}
}

// ourBudget returns a budget that etcd-webhook created, and that records that a member is not in order.
func ourBudget(namespace string) apitest.Object {
	return apitest.Object{
		"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
		"metadata": apitest.Object{
			"namespace": namespace, "name": "main", "uid": "budget-" + namespace, "labels": apitest.Object{v1alpha1.CreatedByLabel: v1alpha1.CreatedByController},
			"annotations": apitest.Object{
				v1alpha1.BudgetForAnnotation: "StatefulSet/main", v1alpha1.BudgetMadeAnnotation: namespace + "/main",
				v1alpha1.BudgetValueAnnotation: "minAvailable=3", v1alpha1.BudgetReasonAnnotation: "MemberNotReady",
			},
		},
		"spec": apitest.Object{"minAvailable": 3, "selector": apitest.Object{"matchLabels": apitest.Object{"app": "main"}}},
	}
}

// TestSizeWarnings: a size that only the record of a budget has is named with the command that declares it.
func TestSizeWarnings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		size, want string
	}{
		{"5", `run: kubectl annotate --overwrite statefulset/main -n team kubectl-etcd.dev/size="5 at $(date -u +%FT%TZ)" --context dev`},
		{"3", ""},
		{"", ""},
	} {
		c := operatetest.NewCluster(t)
		budget := ourBudget("team")
		if row.size != "" {
			operatetest.Field(budget, "metadata", "annotations")[v1alpha1.BudgetSizeAnnotation] = row.size
		}
		c.Put("/apis/policy/v1/namespaces/team/poddisruptionbudgets/main", budget)
		u := newUninstaller(t, c, func(string, ...any) {})
		held, err := heldBudgets(t.Context(), u.Kube)
		if err != nil || len(held) != 1 {
			t.Fatal(held, err)
		}
		if got := strings.Join(u.sizeWarnings(t.Context(), &held[0]), "\n"); !strings.HasSuffix(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("size %q: %q, want %q at its end", row.size, got, row.want)
		}
	}
}

// hold records a rollout that etcd-webhook holds. Its author, or another user who may write annotations,
// chose a value that would end the quotes of a command.
func hold(c *operatetest.Cluster) {
	sts := c.Get(operatetest.Path("StatefulSet", "main"))
	operatetest.Field(sts, "metadata")["annotations"] = apitest.Object{
		v1alpha1.RolloutValueAnnotation: "partition=3", v1alpha1.RolloutReasonAnnotation: "MemberDown", v1alpha1.RolloutSinceAnnotation: "2026-11-20T10:00:00Z",
		v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":"1'"}}`,
	}
	operatetest.Field(sts, "spec")["updateStrategy"] = apitest.Object{"type": "RollingUpdate", "rollingUpdate": apitest.Object{"partition": 3}}
}

func notReady(c *operatetest.Cluster, pod string) {
	operatetest.Field(c.Get(operatetest.Path("Pod", pod)), "status")["conditions"] = []any{
		apitest.Object{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"},
	}
}

func checkHeld(t *testing.T, c *operatetest.Cluster, printed []string, stays, way string) {
	t.Helper()
	annotations := operatetest.Field(c.Get(operatetest.Path("StatefulSet", "main")), "metadata", "annotations")
	text := strings.Join(printed, "\n")
	if _, held := annotations[v1alpha1.RolloutValueAnnotation]; held != (stays != "") {
		t.Errorf("held is %t after %q", held, text)
	}
	if stays == "" {
		if text != "the rollout of StatefulSet team/main is not held any more" {
			t.Errorf("printed %q", text)
		}
		return
	}
	if !strings.Contains(text, "The rollout of StatefulSet team/main stays held") || !strings.Contains(text, stays) || !strings.HasSuffix(text, way) {
		t.Errorf("printed %s\nwant %s … %s", text, stays, way)
	}
}
