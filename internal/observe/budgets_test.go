// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestBudgets: which of the budgets around a cluster is kept, and why none is.
func TestBudgets(t *testing.T) {
	t.Parallel()
	const ours, mine = "labels: {kubectl-etcd.dev/created-by: etcd-webhook}", "annotations: {kubectl-etcd.dev/budget-for: StatefulSet/etcd}"
	byApp := "selector: {matchLabels: {app: etcd}}"
	for _, row := range []struct {
		name string
		// budgets are what stands in each, metadata first.
		budgets [][2]string
		kept    string
		problem string
		surplus int
		strayed int
		// others are those that are only made stricter, and notes what is wrong with them.
		others int
		notes  string
	}{
		{name: "none", problem: NoBudget},
		{name: "minAvailable", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}}, kept: "b0 minAvailable=2"},
		{name: "maxUnavailable", budgets: [][2]string{{"", "maxUnavailable: 1, " + byApp}}, kept: "b0 maxUnavailable=1"},
		{name: "matchExpressions", budgets: [][2]string{{"", "maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: In, values: [etcd, db]}, {key: tier, operator: DoesNotExist}]}"}}, kept: "b0 maxUnavailable=1"},
		{name: "matchExpressions of others", budgets: [][2]string{{"", "maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: NotIn, values: [etcd]}]}"}}, problem: NoBudget},
		{name: "an empty selector covers the namespace", budgets: [][2]string{{"", "minAvailable: 2, selector: {}"}}, problem: BudgetSelectsAll, others: 1},
		{name: "no selector covers nothing", budgets: [][2]string{{"", "minAvailable: 2"}}, problem: NoBudget},
		{name: "an invalid selector covers nothing", budgets: [][2]string{{"", "minAvailable: 2, selector: {matchExpressions: [{key: app, operator: Near}]}"}}, problem: NoBudget},
		{name: "a percentage", budgets: [][2]string{{"", "minAvailable: 51%, " + byApp}}, kept: "b0 minAvailable=51%"},
		{name: "no percentage", budgets: [][2]string{{"", "minAvailable: '2', " + byApp}}, problem: BudgetPercentage, others: 1},
		{name: "both fields", budgets: [][2]string{{"", "minAvailable: 2, maxUnavailable: 1, " + byApp}}, problem: BudgetBothFields, others: 1},
		{name: "neither field", budgets: [][2]string{{"", byApp}}, problem: BudgetNoField, others: 1},
		{name: "AlwaysAllow", budgets: [][2]string{{"", "minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow, " + byApp}}, kept: "b0 minAvailable=2", notes: BudgetAlwaysAllow},
		{name: "IfHealthyBudget", budgets: [][2]string{{"", "minAvailable: 2, unhealthyPodEvictionPolicy: IfHealthyBudget, " + byApp}}, kept: "b0 minAvailable=2"},
		{name: "one member only", budgets: [][2]string{{"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, problem: BudgetPartial, others: 1},
		{name: "one for each of two members", budgets: [][2]string{{"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-2}}"}}, problem: BudgetPartial, others: 2},
		{name: "two for one member", budgets: [][2]string{{"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}, {"", "minAvailable: 0, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, problem: BudgetsOverlap, others: 2},
		{name: "two overlap", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 1, " + byApp}}, problem: BudgetsOverlap, others: 2},
		{name: "two overlap, one of them in one member", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, kept: "b0 minAvailable=2", others: 1, notes: BudgetPartial},
		{name: "ours", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}}, kept: "b0 minAvailable=2"},
		{name: "ours and a foreign one", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 1, " + byApp}}, kept: "b1 maxUnavailable=1", surplus: 1},
		{name: "ours and a foreign one with a percentage", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 34%, " + byApp}}, kept: "b1 maxUnavailable=34%", surplus: 1},
		{name: "ours and a foreign one over one member", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-0}}"}}, kept: "b0 minAvailable=2", others: 1, notes: BudgetPartial},
		{name: "ours and one for each member", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-0}}"}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, kept: "b0 minAvailable=2", others: 2, notes: BudgetPartial + " " + BudgetPartial},
		{name: "ours and a foreign one that always allows", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow, " + byApp}}, kept: "b0 minAvailable=2", others: 1, notes: BudgetAlwaysAllow},
		{name: "ours and one over the namespace", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, selector: {}"}}, kept: "b0 minAvailable=2", others: 1, notes: BudgetSelectsAll},
		{name: "ours and one that keeps nothing", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", byApp}}, kept: "b0 minAvailable=2", others: 1, notes: BudgetNoField},
		{name: "ours over one member", budgets: [][2]string{{ours, "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-0}}"}}, problem: BudgetPartial, others: 1},
		{name: "ours twice", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {ours, "minAvailable: 2, " + byApp}}, kept: "b0 minAvailable=2", surplus: 1},
		{name: "ours and two foreign ones", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, " + byApp}}, problem: BudgetsOverlap, surplus: 1, others: 2},
		{name: "kept before, now selects others", budgets: [][2]string{{mine, "minAvailable: 2, selector: {matchLabels: {app: db}}"}}, problem: NoBudget, strayed: 1},
		{name: "kept before, now a percentage", budgets: [][2]string{{mine, "minAvailable: 50%, " + byApp}}, kept: "b0 minAvailable=50%"},
		{name: "kept before, now without a field", budgets: [][2]string{{mine, byApp}}, problem: BudgetNoField, strayed: 1},
		{name: "another's record", budgets: [][2]string{{"annotations: {kubectl-etcd.dev/budget-for: StatefulSet/db}", "minAvailable: 2, selector: {matchLabels: {app: db}}"}}, problem: NoBudget},
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
			kept, problem := "", ""
			if got.Kept != nil {
				kept = got.Kept.Name + " " + got.Kept.Value.String()
			}
			if got.Problem != nil {
				problem = got.Problem.Reason
				t.Log(got.Problem.Message)
			}
			var notes []string
			for _, n := range got.Notes {
				notes = append(notes, n.Reason)
				t.Log(n.Message)
			}
			if len(got.Others) != row.others || strings.Join(notes, " ") != row.notes {
				t.Errorf("%d others, notes %q; want %d, %q", len(got.Others), notes, row.others, row.notes)
			}
			if kept != row.kept || problem != row.problem || len(got.Surplus) != row.surplus || len(got.Strayed) != row.strayed {
				t.Errorf("kept %q, problem %q, surplus %d, strayed %d; want %q, %q, %d, %d",
					kept, problem, len(got.Surplus), len(got.Strayed), row.kept, row.problem, row.surplus, row.strayed)
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
	if got.Kept != nil || got.Problem == nil || got.Problem.Reason != BudgetShared {
		t.Errorf("got %+v, want problem %s", got, BudgetShared)
	}
}

func TestBudgetValue(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		in            BudgetValue
		replicas, min int
		newMin        int
		want          BudgetValue
	}{
		{BudgetValue{Field: MinAvailable, N: 2}, 3, 2, 3, BudgetValue{Field: MinAvailable, N: 3}},
		{BudgetValue{Field: MaxUnavailable, N: 1}, 3, 2, 2, BudgetValue{Field: MaxUnavailable, N: 1}},
		{BudgetValue{Field: MaxUnavailable, N: 1}, 5, 4, 3, BudgetValue{Field: MaxUnavailable, N: 2}},
		{BudgetValue{Field: MaxUnavailable, N: 1}, 3, 2, 4, BudgetValue{Field: MaxUnavailable, N: 0}},
		{BudgetValue{MinAvailable, 51, true}, 3, 2, 3, BudgetValue{Field: MinAvailable, N: 3}},
		{BudgetValue{MinAvailable, 51, true}, 5, 3, 3, BudgetValue{Field: MinAvailable, N: 3}},
		{BudgetValue{MaxUnavailable, 34, true}, 3, 1, 2, BudgetValue{Field: MaxUnavailable, N: 1}},
		{BudgetValue{Field: MaxUnavailable, N: 4}, 3, 0, 0, BudgetValue{Field: MaxUnavailable, N: 3}},
	} {
		if got := row.in.Min(row.replicas); got != row.min {
			t.Errorf("%s of %d replicas keeps %d, want %d", row.in, row.replicas, got, row.min)
		}
		if got := row.in.WithMin(row.newMin, row.replicas); got != row.want {
			t.Errorf("%s made to keep %d of %d is %s, want %s", row.in, row.newMin, row.replicas, got, row.want)
		}
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
