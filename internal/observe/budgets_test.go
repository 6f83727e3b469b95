// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"fmt"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
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
		problem policy.Reason
		surplus int
		strayed int
	}{
		{name: "none", problem: reasons.NoBudget},
		{name: "minAvailable", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}}, kept: "b0 minAvailable=2"},
		{name: "maxUnavailable", budgets: [][2]string{{"", "maxUnavailable: 1, " + byApp}}, kept: "b0 maxUnavailable=1"},
		{name: "matchExpressions", budgets: [][2]string{{"", "maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: In, values: [etcd, db]}, {key: tier, operator: DoesNotExist}]}"}}, kept: "b0 maxUnavailable=1"},
		{name: "matchExpressions of others", budgets: [][2]string{{"", "maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: NotIn, values: [etcd]}]}"}}, problem: reasons.NoBudget},
		{name: "an empty selector covers the namespace", budgets: [][2]string{{"", "minAvailable: 2, selector: {}"}}, problem: reasons.BudgetSelectsAll},
		{name: "no selector covers nothing", budgets: [][2]string{{"", "minAvailable: 2"}}, problem: reasons.NoBudget},
		{name: "an invalid selector covers nothing", budgets: [][2]string{{"", "minAvailable: 2, selector: {matchExpressions: [{key: app, operator: Near}]}"}}, problem: reasons.NoBudget},
		{name: "a percentage", budgets: [][2]string{{"", "minAvailable: 51%, " + byApp}}, problem: reasons.BudgetPercentage},
		{name: "both fields", budgets: [][2]string{{"", "minAvailable: 2, maxUnavailable: 1, " + byApp}}, problem: reasons.BudgetBothFields},
		{name: "neither field", budgets: [][2]string{{"", byApp}}, problem: reasons.BudgetNoField},
		{name: "AlwaysAllow", budgets: [][2]string{{"", "minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow, " + byApp}}, problem: reasons.BudgetAlwaysAllow},
		{name: "IfHealthyBudget", budgets: [][2]string{{"", "minAvailable: 2, unhealthyPodEvictionPolicy: IfHealthyBudget, " + byApp}}, kept: "b0 minAvailable=2"},
		{name: "one member only", budgets: [][2]string{{"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, problem: reasons.BudgetPartial},
		{name: "two overlap", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 1, " + byApp}}, problem: reasons.BudgetsOverlap},
		{name: "two overlap, one of them in one member", budgets: [][2]string{{"", "minAvailable: 2, " + byApp}, {"", "minAvailable: 1, selector: {matchLabels: {statefulset.kubernetes.io/pod-name: etcd-1}}"}}, problem: reasons.BudgetsOverlap},
		{name: "ours", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}}, kept: "b0 minAvailable=2"},
		{name: "ours and a foreign one", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 1, " + byApp}}, kept: "b1 maxUnavailable=1", surplus: 1},
		{name: "ours and a foreign one that is left alone", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "maxUnavailable: 34%, " + byApp}}, problem: reasons.BudgetPercentage, surplus: 1},
		{name: "ours twice", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {ours, "minAvailable: 2, " + byApp}}, kept: "b0 minAvailable=2", surplus: 1},
		{name: "ours and two foreign ones", budgets: [][2]string{{ours, "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, " + byApp}, {"", "minAvailable: 2, " + byApp}}, problem: reasons.BudgetsOverlap, surplus: 1},
		{name: "kept before, now selects others", budgets: [][2]string{{mine, "minAvailable: 2, selector: {matchLabels: {app: db}}"}}, problem: reasons.NoBudget, strayed: 1},
		{name: "kept before, now a percentage", budgets: [][2]string{{mine, "minAvailable: 50%, " + byApp}}, problem: reasons.BudgetPercentage, strayed: 1},
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
			kept, problem := "", policy.Reason{}
			if got.Kept != nil {
				kept = got.Kept.Name + " " + got.Kept.Value.String()
			}
			if got.Problem != nil {
				problem = got.Problem.Reason
				t.Log(got.Problem.Message)
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
	if got.Kept != nil || got.Problem == nil || got.Problem.Reason != reasons.BudgetShared {
		t.Errorf("got %+v, want problem %s", got, reasons.BudgetShared)
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
		{BudgetValue{MinAvailable, 2}, 3, 2, 3, BudgetValue{MinAvailable, 3}},
		{BudgetValue{MaxUnavailable, 1}, 3, 2, 2, BudgetValue{MaxUnavailable, 1}},
		{BudgetValue{MaxUnavailable, 1}, 5, 4, 3, BudgetValue{MaxUnavailable, 2}},
		{BudgetValue{MaxUnavailable, 1}, 3, 2, 4, BudgetValue{MaxUnavailable, 0}},
		{BudgetValue{MaxUnavailable, 4}, 3, 0, 0, BudgetValue{MaxUnavailable, 3}},
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
