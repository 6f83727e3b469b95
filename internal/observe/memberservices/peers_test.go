// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberservices

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBelow: the peer Service is the one that the peers' hosts use, not the first headless one.
func TestBelow(t *testing.T) {
	t.Parallel()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "peers"}}
	for host, want := range map[string]bool{
		"etcd-0.peers":                          true,
		"etcd-0.peers.team":                     true,
		"etcd-0.peers.team.svc":                 true,
		"etcd-0.peers.team.svc.cluster.local":   true,
		"etcd-0.peers.team.svc.cluster.local.":  true,
		"peers":                                 true,
		"peers.team.svc":                        true,
		"etcd-0.peers.other.svc":                false,
		"etcd-0.metrics.team.svc":               false,
		"peers-0.metrics.team.svc":              false,
		"etcd-0.peers.teams":                    false,
		"a.etcd-0.peers.team.svc.cluster.local": false,
		"10.0.0.1":                              false,
		"":                                      false,
	} {
		if got := below(host, s); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
