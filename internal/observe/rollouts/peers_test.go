// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestPeersMove: a change counts only where the pod and the template show it, and no program may follow it.
func TestPeersMove(t *testing.T) {
	t.Parallel()
	plain := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}
	druid := plain
	druid.WorkloadKind, druid.Kind, druid.Distribution = owner.DruidStatefulSet, "Etcd", flavour.Druid
	several := plain
	several.Workloads = []owner.Workload{{Name: "main"}, {Name: "other"}}
	pod := func(listens string) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: []string{"etcd", listens}}}}}
	}
	const http, https = "--listen-peer-urls=http://0.0.0.0:2380", "--listen-peer-urls=https://0.0.0.0:2380"
	for _, row := range []struct {
		what          string
		of            owner.Owner
		before, after string
		want          bool
	}{
		{"TLS on", plain, http, https, true},
		{"TLS off", plain, https, http, true},
		{"another port", plain, http, "--listen-peer-urls=http://0.0.0.0:2390", true},
		{"another address", plain, http, "--listen-peer-urls=http://[::]:2380", false},
		{"both for a while", plain, http, http + ",https://0.0.0.0:2382", false},
		{"only the loopback address", plain, http, "--listen-peer-urls=http://127.0.0.1:2380", true},
		{"the loopback address, by its name", plain, http, "--listen-peer-urls=http://localhost:2380", true},
		{"that and another port", plain, http, "--listen-peer-urls=http://[::1]:2380,http://0.0.0.0:2390", true},
		{"the loopback address before and after", plain, "--listen-peer-urls=http://127.0.0.1:2380", "--listen-peer-urls=http://localhost:2380", false},
		{"away from the loopback address", plain, "--listen-peer-urls=http://127.0.0.1:2380", http, false},
		{"not shown before", plain, "--name=main-0", https, false},
		{"not shown after", plain, http, "--listen-peer-urls=$(URLS)", false},
		{"several StatefulSets", several, http, https, true},
		{"etcd-druid updates the list", druid, http, https, false},
	} {
		if got := PeersMove(row.of, pod(row.before), pod(row.after)); got != row.want {
			t.Errorf("%s: %t", row.what, got)
		}
	}
}
