// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// TestBudgetIdempotent writes random budgets. The handler changes only what is this
// project's, never loosens what was in force, and changes nothing when it is called again
// or in the next write.
func TestBudgetIdempotent(t *testing.T) {
	t.Parallel()
	around := budgetSurroundings(t)
	generate := func(rng *rand.Rand) generated {
		objects := around[rng.IntN(len(around))]
		g := generated{resource: budgetResource, facts: objects, later: objects}
		if rng.IntN(3) > 0 {
			g.old = randomBudget(t, rng)
		}
		g.raw = randomBudget(t, rng)
		return g
	}
	counts := patched(t, generate, func(g generated, mutated []byte, r admission.Response) {
		checkBudget(t, g, mutated, r)
	})
	if counts["Patched"] < 2000 {
		t.Errorf("of 10,000 budgets only %d were patched: check the generator", counts["Patched"])
	}
}

// checkBudget holds that the value in force is not loosened, and that only our paths change.
func checkBudget(t *testing.T, g generated, mutated []byte, r admission.Response) {
	t.Helper()
	if len(r.Patches) > 0 && g.old != nil {
		members := selectedMembers(t, g.facts, mutated)
		if was, is := minOf(t, g.old, members), minOf(t, mutated, members); was >= 0 && is < min(was, members) {
			t.Errorf("loosened from %d to %d", was, is)
		}
	}
	for _, op := range r.Patches {
		if !strings.HasPrefix(op.Path, "/metadata/annotations") && op.Path != "/spec/minAvailable" && op.Path != "/spec/maxUnavailable" {
			t.Errorf("patch %s %s", op.Operation, op.Path)
		}
	}
	var before, after map[string]any
	if json.Unmarshal(g.raw, &before) != nil || json.Unmarshal(mutated, &after) != nil {
		t.Fatal("not JSON")
	}
	dropOwn(before["spec"].(map[string]any), r.Patches)
	if diff := cmp.Diff(othersPart(before), othersPart(after)); diff != "" {
		t.Errorf("something else changed:\n%s", diff)
	}
}

// dropOwn removes our number from a budget with both fields, as the patches do.
func dropOwn(spec map[string]any, patches []jsonpatch.Operation) {
	if spec["minAvailable"] == nil || spec["maxUnavailable"] == nil {
		return
	}
	for _, op := range patches {
		if op.Operation == "remove" {
			delete(spec, strings.TrimPrefix(op.Path, "/spec/"))
		}
	}
}

// othersPart removes from a budget what this project may write.
func othersPart(m map[string]any) map[string]any {
	meta := m["metadata"].(map[string]any)
	if a, ok := meta["annotations"].(map[string]any); ok {
		for _, key := range annotation.BudgetAnnotations() {
			delete(a, key)
		}
		if len(a) == 0 {
			delete(meta, "annotations")
		}
	}
	spec := m["spec"].(map[string]any)
	for _, field := range []string{"minAvailable", "maxUnavailable"} {
		if spec[field] != nil {
			spec[field] = "set"
		}
	}
	return m
}

// selectedMembers returns how many members of all clusters a budget selects. The disruption
// controller counts maxUnavailable from it.
func selectedMembers(t *testing.T, around observetest.Objects, raw []byte) int {
	t.Helper()
	pdb := parseBudget(t, raw)
	selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	members := 0
	for _, object := range around {
		if set, ok := object.(*appsv1.StatefulSet); ok && selector.Matches(labels.Set(set.Spec.Template.Labels)) {
			members += int(*set.Spec.Replicas)
		}
	}
	return members
}

func parseBudget(t *testing.T, raw []byte) *policyv1.PodDisruptionBudget {
	t.Helper()
	var pdb policyv1.PodDisruptionBudget
	if err := json.Unmarshal(raw, &pdb); err != nil {
		t.Fatal(err)
	}
	return &pdb
}

// minOf returns the minAvailable that a budget of so many members amounts to, -1 if it has
// no number.
func minOf(t *testing.T, raw []byte, members int) int {
	t.Helper()
	pdb := parseBudget(t, raw)
	value, problem := annotation.ValueOf(pdb.Name, &pdb.Spec)
	if problem != nil {
		return -1
	}
	return value.Min(members)
}

// budgetSurroundings are clusters in various states.
func budgetSurroundings(tb testing.TB) []observetest.Objects {
	tb.Helper()
	objects := func(names ...string) observetest.Objects {
		var out observetest.Objects
		for _, n := range append(names, "zones-3", "policy-default") {
			out = append(out, readObjects(tb, filepath.Join("testdata", n+".facts.yaml"))...)
		}
		return out
	}
	return []observetest.Objects{
		objects("plain-3", "plain-3-ready"),
		objects("plain-3", "plain-3-one-down"),
		objects("plain-3"),
		objects("druid-3-backup-fails"),
		objects("druid-3-backup-fails", "plain-3", "plain-3-ready"),
	}
}

func randomBudget(t *testing.T, rng *rand.Rand) []byte {
	t.Helper()
	pick := func(of ...any) any { return of[rng.IntN(len(of))] }
	spec := map[string]any{"selector": pick(
		map[string]any{"matchLabels": map[string]any{"app": "plain"}},
		map[string]any{"matchLabels": map[string]any{"app": "plain"}},
		map[string]any{"matchLabels": map[string]any{"app.kubernetes.io/part-of": "main"}},
		map[string]any{"matchLabels": map[string]any{"app": "main"}},
		map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "In", "values": []any{"plain", "x"}}}},
		map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "Exists"}}},
		map[string]any{}, nil,
	), "futureField": rng.IntN(9)}
	number := func() any { return pick(rng.IntN(5), rng.IntN(5), rng.IntN(5), rng.IntN(5), "50%", "2", 2147483647) }
	switch rng.IntN(9) {
	case 0:
		spec["minAvailable"], spec["maxUnavailable"] = number(), number()
	case 1:
	case 2, 3, 4, 5:
		spec["minAvailable"] = number()
	default:
		spec["maxUnavailable"] = number()
	}
	if rng.IntN(6) == 0 {
		spec["unhealthyPodEvictionPolicy"] = pick("AlwaysAllow", "IfHealthyBudget")
	}
	meta := map[string]any{"name": "budget", "namespace": "db", "resourceVersion": "7"}
	if rng.IntN(8) == 0 {
		meta["deletionTimestamp"], meta["finalizers"] = "2026-11-20T09:00:00Z", []any{"a/b"}
	}
	annotations := map[string]any{"team": "a"}
	for _, key := range annotation.BudgetAnnotations() {
		// Sizes are taken out of each write, also of one that is left as it is: TestForgedSize.
		if rng.IntN(2) == 0 && !slices.Contains(forgedSize, key) {
			annotations[key] = pick("", "nonsense", "minAvailable=2", "minAvailable=3", "maxUnavailable=1", "maxUnavailable=0", "StatefulSet/plain", "2026-11-20T09:00:00Z", "2999-01-01T00:00:00Z")
		}
	}
	if meta["annotations"] = pick(annotations, annotations, map[string]any{}, nil); meta["annotations"] == nil {
		delete(meta, "annotations")
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// FuzzBudget sends budgets that no API server would send. The handler lets every one pass.
func FuzzBudget(f *testing.F) {
	for _, request := range recordedRequests(f, "budget-*") {
		f.Add(request.OldObject.Raw, request.Object.Raw)
	}
	for _, seed := range []string{"", "null", "[]", "{", `{"spec":{"minAvailable":-1,"selector":{"matchLabels":{"app":"plain"}}}}`, `{"spec":{"maxUnavailable":99999999999}}`} {
		f.Add([]byte(seed), []byte(`{"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"plain"}}}}`))
		f.Add([]byte(nil), []byte(seed))
	}
	around := budgetSurroundings(f)
	f.Fuzz(func(t *testing.T, old, raw []byte) {
		g := generated{resource: budgetResource}
		for i := range around {
			g.review(t, serve(t, around[i]), old, raw)
		}
	})
}
