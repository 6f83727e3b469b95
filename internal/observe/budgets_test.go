// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestBudgets: which of the budgets of a cluster is managed, and why none is.
func TestBudgets(t *testing.T) {
	t.Parallel()
	const ours, mine = "labels: {kubectl-etcd.dev/created-by: etcd-webhook}", "annotations: {kubectl-etcd.dev/budget-for: StatefulSet/etcd}"
	const made = "labels: {kubectl-etcd.dev/created-by: etcd-webhook}, annotations: {kubectl-etcd.dev/budget-for: StatefulSet/etcd, kubectl-etcd.dev/budget-made: store/b0, kubectl-etcd.dev/budget-value: minAvailable=3}"
	const going = "finalizers: [a/b], deletionTimestamp: '2026-11-20T09:00:00Z'"
	byApp := "selector: {matchLabels: {app: etcd}}"
	for _, row := range []struct {
		name string
		// budgets are what stands in each, metadata first.
		budgets    [][2]string
		managed    string
		problem    policy.Reason
		duplicates int
		detached   int
		// others are those that are only made stricter, and notes what is wrong with them.
		others int
		notes  string
	}{
		{name: "none", problem: reasons.NoBudget},
		{name: "minAvailable", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}}, managed: "b0 minAvailable=2"},
		{name: "maxUnavailable", budgets: [][2]string{{"", "maxUnavailable: 1, " + byApp}}, managed: "b0 maxUnavailable=1"},
		{name: "matchExpressions", budgets: [][2]string{{"", "maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: In, values: [etcd, db]}, {key: tier, operator: DoesNotExist}]}"}}, managed: "b0 maxUnavailable=1"},
		{name: "matchExpressions of others", budgets: [][2]string{{"", "maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: NotIn, values: [etcd]}]}"}}, problem: reasons.NoBudget},
		{name: "an empty selector covers the namespace", budgets: [][2]string{{"", "minAvailable: 2, selector: {}"}}, problem: reasons.BudgetSelectsAll, others: 1},
		{name: "no selector covers nothing", budgets: [][2]string{{"", "minAvailable: 2"}}, problem: reasons.NoBudget},
		{name: "an invalid selector covers nothing", budgets: [][2]string{{"", "minAvailable: 2, selector: {matchExpressions: [{key: app, operator: Near}]}"}}, problem: reasons.NoBudget},
		{name: "a percentage", budgets: [][2]string{{"", "minAvailable: 51%, " + byApp}}, managed: "b0 minAvailable=51%"},
		{name: "no percentage", budgets: [][2]string{{"", "minAvailable: '2', " + byApp}}, problem: reasons.BudgetPercentage, others: 1},
		{name: "both fields", budgets: [][2]string{{"", "minAvailable: 2, maxUnavailable: 1, " + byApp}}, problem: reasons.BudgetBothFields, others: 1},
		{name: "neither field", budgets: [][2]string{{"", byApp}}, problem: reasons.BudgetNoField, others: 1},
		{name: "AlwaysAllow", budgets: [][2]string{{"", "minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow, " + byApp}}, managed: "b0 minAvailable=2", notes: "BudgetAlwaysAllow"},
		{name: "IfHealthyBudget", budgets: [][2]string{{"", "minAvailable: 2, unhealthyPodEvictionPolicy: IfHealthyBudget, " + byApp}}, managed: "b0 minAvailable=2"},
		{name: "one member only", budgets: [][2]string{{"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, problem: reasons.BudgetPartial, others: 1},
		{name: "one for each of two members", budgets: [][2]string{{"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-2}}"}}, problem: reasons.BudgetPartial, others: 2},
		{name: "two for one member", budgets: [][2]string{{"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}, {"", "minAvailable: 0, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, problem: reasons.BudgetsOverlap, others: 2},
		{name: "two overlap", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 1, " + byApp}}, problem: reasons.BudgetsOverlap, others: 2},
		{name: "two overlap, one of them in one member", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, managed: "b0 minAvailable=2", others: 1, notes: "BudgetPartial BudgetsOverlap"},
		{name: "ours", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}}, managed: "b0 minAvailable=2"},
		{name: "ours and a foreign one", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 1, " + byApp}}, managed: "b1 maxUnavailable=1", duplicates: 1},
		{name: "ours and a foreign one with a percentage", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 34%, " + byApp}}, managed: "b1 maxUnavailable=34%", duplicates: 1},
		{name: "ours and a foreign one over one member", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-0}}"}}, managed: "b0 minAvailable=2", others: 1, notes: "BudgetPartial BudgetsOverlap"},
		{name: "ours and one for each member", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-0}}"}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, managed: "b0 minAvailable=2", others: 2, notes: "BudgetPartial BudgetPartial BudgetsOverlap"},
		{name: "ours and a foreign one that always allows", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow, " + byApp}}, managed: "b0 minAvailable=2", others: 1, notes: "BudgetAlwaysAllow BudgetsOverlap"},
		{name: "ours and a foreign one that is being deleted", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {going, "minAvailable: 2, " + byApp}}, managed: "b0 minAvailable=2", others: 1, notes: "BudgetGoing BudgetsOverlap"},
		{name: "one that is being deleted", budgets: [][2]string{{going, "minAvailable: 2, " + byApp}}, managed: "b0 minAvailable=2", notes: "BudgetGoing"},
		{name: "ours and one over the namespace", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, selector: {}"}}, managed: "b0 minAvailable=2", others: 1, notes: "BudgetSelectsAll BudgetsOverlap"},
		{name: "ours and one that keeps nothing", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", byApp}}, managed: "b0 minAvailable=2", others: 1, notes: "BudgetNoField BudgetsOverlap"},
		{name: "ours over one member", budgets: [][2]string{{ours, "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-0}}"}}, problem: reasons.BudgetPartial, others: 1},
		{name: "ours twice", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {ours, "minAvailable: 2, " + byApp}}, managed: "b0 minAvailable=2", duplicates: 1},
		{name: "ours and two foreign ones", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, " + byApp}}, problem: reasons.BudgetsOverlap, duplicates: 1, others: 2},
		{name: "kept before, now selects others", budgets: [][2]string{{mine, "minAvailable: 2, selector: {matchLabels: {app: db}}"}}, problem: reasons.NoBudget, detached: 1},
		{name: "kept before, now a percentage", budgets: [][2]string{{mine, "minAvailable: 50%, " + byApp}}, managed: "b0 minAvailable=50%"},
		{name: "kept before, now without a field", budgets: [][2]string{{mine, byApp}}, problem: reasons.BudgetNoField, detached: 1},
		{name: "ours, now without a field", budgets: [][2]string{{made, byApp}}, managed: "b0 minAvailable=3", notes: "BudgetNoField"},
		{name: "ours, now without a field, and a foreign one", budgets: [][2]string{{made, byApp}, {"", "maxUnavailable: 1, " + byApp}}, managed: "b1 maxUnavailable=1", duplicates: 1},
		{name: "a copy of ours, now without a field", budgets: [][2]string{{strings.ReplaceAll(made, "store/b0", "store/a"), byApp}}, problem: reasons.BudgetNoField, others: 1},
		{name: "another's record", budgets: [][2]string{{"annotations: {kubectl-etcd.dev/budget-for: StatefulSet/db}", "minAvailable: 2, selector: {matchLabels: {app: db}}"}}, problem: reasons.NoBudget},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := factsCase{Base: "plain-3", Owner: "StatefulSet/etcd", Patch: map[string]json.RawMessage{"PodDisruptionBudget/etcd": json.RawMessage("null")}}
			for i, b := range row.budgets {
				c.Add = append(c.Add, asJSON(t, fmt.Sprintf("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b%d, uid: b%d, namespace: store, creationTimestamp: '2026-11-20T08:00:0%dZ', %s}, spec: {%s}}", i, i, i, b[0], b[1])))
			}
			r, owner := c.reader(t)
			got, err := r.Budgets(t.Context(), owner)
			if err != nil {
				t.Fatal(err)
			}
			managed, problem := "", policy.Reason{}
			if got.Managed != nil {
				managed = got.Managed.Name + " " + got.Managed.Value.String()
			}
			if got.Problem != nil {
				problem = got.Problem.Reason
				t.Log(got.Problem.Message)
			}
			var notes []string
			for _, n := range got.Notes {
				notes = append(notes, n.Reason.Name())
				t.Log(n.Message)
			}
			if len(got.Others) != row.others || strings.Join(notes, " ") != row.notes {
				t.Errorf("%d others, notes %q; want %d, %q", len(got.Others), notes, row.others, row.notes)
			}
			if managed != row.managed || problem != row.problem || len(got.Duplicates) != row.duplicates || len(got.Detached) != row.detached {
				t.Errorf("managed %q, problem %q, %d duplicates, %d detached; want %q, %q, %d, %d",
					managed, problem, len(got.Duplicates), len(got.Detached), row.managed, row.problem, row.duplicates, row.detached)
			}
		})
	}
}

// TestBudgetSharedByTwoClusters: the selector app=etcd covers two StatefulSets.
func TestBudgetSharedByTwoClusters(t *testing.T) {
	t.Parallel()
	c := factsCase{Base: "plain-3", Owner: "StatefulSet/etcd", Add: []json.RawMessage{
		asJSON(t, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: events, namespace: store, uid: s2},
			spec: {replicas: 1, serviceName: "", selector: {matchLabels: {which: events}}, template: {metadata: {labels: {app: etcd, which: events}}, spec: {containers: [{name: etcd, command: [etcd]}]}}}}`),
		asJSON(t, `{apiVersion: v1, kind: Pod, metadata: {name: events-0, namespace: store, uid: p2, labels: {app: etcd, which: events},
			ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: events, uid: s2, controller: true}]}, spec: {containers: []}}`),
	}}
	r, owner := c.reader(t)
	got, err := r.Budgets(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if got.Managed != nil || got.Problem == nil || got.Problem.Reason != reasons.BudgetShared {
		t.Errorf("got %+v, want problem %s", got, reasons.BudgetShared)
	}
}

func asJSON(t *testing.T, text string) json.RawMessage {
	t.Helper()
	out, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
