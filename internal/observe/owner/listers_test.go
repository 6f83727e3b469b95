// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestListersAreNoLooser has a StatefulSet and random ones that list it and that it does not list. If all
// of them are one cluster, then a quorum of what is known of the first one, with the others' members that
// are ready, is a quorum of the whole. If none of them is in its cluster and all are ready, nothing is
// stricter.
func TestListersAreNoLooser(t *testing.T) {
	t.Parallel()
	random, down := seeded(t), 0
	for range 3000 {
		size := 1 + random.IntN(7)
		all := []listedSet{setOf("main", size, size, nil)}
		ready, unready := 0, 0
		for i := range random.IntN(4) {
			replicas := 1 + random.IntN(3)
			up := random.IntN(replicas + 1)
			ready, unready = ready+up, unready+replicas-up
			all = append(all, setOf(fmt.Sprint("later", i), replicas, up, all[0].peers.Own))
		}
		joinSets(all)
		o := ownerOfSets(all[:1])[0]
		known := int(o.Replicas) + o.MembersDown()
		if policy.Quorum(known)+ready < policy.Quorum(size+ready+unready) {
			t.Fatalf("%d members, and %d ready and %d other ones in StatefulSets that list it: %d are known", size, ready, unready, known)
		}
		if unready == 0 && known != size {
			t.Fatalf("%d members, and %d that are all ready: %d are known", size, ready, known)
		}
		down += unready
	}
	if down < 1000 {
		t.Errorf("only %d members were not ready", down)
	}
}

func setOf(name string, replicas, ready int, others []etcdconf.Peer) listedSet {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
	sts.Spec.Replicas, sts.Status.ReadyReplicas = new(int32(replicas)), int32(ready)
	var own []etcdconf.Peer
	for i := range replicas {
		own = append(own, entry(fmt.Sprintf("%s-%d", name, i)))
	}
	return listedSet{sts: sts, peers: source.Peers{Own: own, Others: others}}
}
