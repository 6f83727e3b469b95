// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestServiceMonitorKeepsLabels checks that metrics collected through the Prometheus operator
// have the labels that alerts use. The operator adds labels to every target, among them
// namespace and service. Without honorLabels they replace the labels of the metric.
func TestServiceMonitorKeepsLabels(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("monitoring/servicemonitor.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var monitor struct {
		Spec struct{ Endpoints []struct{ HonorLabels bool } }
	}
	if err := yaml.Unmarshal(text, &monitor); err != nil {
		t.Fatal(err)
	}
	if e := monitor.Spec.Endpoints; len(e) != 1 || !e[0].HonorLabels {
		t.Errorf("endpoints %+v: alerts and dashboard would show the namespace of etcd-webhook instead of the etcd cluster's", e)
	}
}
