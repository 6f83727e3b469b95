// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestHelperResources: a helper names the resources that etcd names, and asks for little of them.
func TestHelperResources(t *testing.T) {
	t.Parallel()
	list := func(cpu, memory string) corev1.ResourceList {
		out := corev1.ResourceList{}
		for name, text := range map[corev1.ResourceName]string{"cpu": cpu, "memory": memory} {
			if text != "" {
				out[name] = resource.MustParse(text)
			}
		}
		return out
	}
	for name, row := range map[string]struct{ requests, limits, want corev1.ResourceList }{
		"none":             {},
		"requests":         {requests: list("2", "8Gi"), want: list("10m", "64Mi")},
		"limits only":      {limits: list("", "8Gi"), want: list("", "64Mi")},
		"both":             {requests: list("500m", ""), limits: list("2", "8Gi"), want: list("10m", "64Mi")},
		"less than little": {requests: list("5m", "32Mi"), limits: list("8m", "48Mi"), want: list("5m", "32Mi")},
		"a small limit":    {limits: list("8m", "48Mi"), want: list("8m", "48Mi")},
	} {
		got := helperResources(corev1.ResourceRequirements{Requests: row.requests, Limits: row.limits})
		if diff := cmp.Diff(row.want, got.Requests); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(row.limits, got.Limits); diff != "" {
			t.Errorf("%s: the limits are others: %s", name, diff)
		}
	}
}
