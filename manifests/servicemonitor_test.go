// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestServiceMonitorKeepsLabels holds that what is collected by way of the Prometheus
// operator goes by the labels that alerts ask for. The operator gives every target labels
// of its own, namespace and service among them, and those of a metric that are called the
// same lose against them unless they are to be honoured.
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
		t.Errorf("endpoints %+v: with an etcd cluster's namespace lost, alerts and dashboard name etcd-webhook's", e)
	}
}
