// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestOnlyOwnServiceCuts: a cut of a Service counts for the cluster whose members alone are
// behind it.
func TestOnlyOwnServiceCuts(t *testing.T) {
	t.Parallel()
	pod := func(labels, status string) json.RawMessage {
		return asJSON(t, fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: other, namespace: store, uid: other, labels: {%s}}, spec: {containers: []}, status: {%s}}", labels, status))
	}
	for _, row := range []struct {
		name, spec string
		pods       []json.RawMessage
		want       bool
	}{
		{"the members' labels", "clusterIP: 10.0.0.1, selector: {app: etcd, %s}", nil, true},
		{"another pod has them, too", "clusterIP: 10.0.0.1, selector: {app: etcd, %s}", []json.RawMessage{pod("app: etcd", "phase: Running")}, false},
		{"a pod that has ended has them, too", "clusterIP: 10.0.0.1, selector: {app: etcd, %s}", []json.RawMessage{pod("app: etcd", "phase: Succeeded")}, true},
		{"labels of other pods", "clusterIP: 10.0.0.1, selector: {app: web, %s}", []json.RawMessage{pod("app: web", "phase: Running")}, false},
		{"no other label", "clusterIP: 10.0.0.1, selector: {%s}", nil, false},
		{"headless", "clusterIP: None, selector: {app: etcd, %s}", nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := factsCase{Base: "plain-3", Owner: "StatefulSet/etcd", Add: append(row.pods, asJSON(t, fmt.Sprintf(
				"{apiVersion: v1, kind: Service, metadata: {name: cut, namespace: store, uid: cut}, spec: {"+row.spec+"}}", "kubectl-etcd.dev/client-traffic: cut-until-1795169400")))}
			r, owner := c.reader(t)
			f, err := r.Facts(t.Context(), owner)
			if err != nil {
				t.Fatal(err)
			}
			if f.Cluster.TrafficCut != row.want {
				t.Errorf("cut %v, want %v", f.Cluster.TrafficCut, row.want)
			}
		})
	}
}

// TestCutOverdueAlert holds that the alert on a cut that is overdue has the limit of the checks.
func TestCutOverdueAlert(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../../manifests/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("kubectl_etcd_client_traffic_cut_seconds_left) > %.0f\n", CutOverdue.Seconds())
	if !strings.Contains(string(rules), want) {
		t.Errorf("manifests/monitoring/rules.yaml has no %q", want)
	}
}
