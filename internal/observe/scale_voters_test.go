// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
)

// TestLostNodesAllowNoScale tries each number of replicas in each state of up to five members. What is refused while all
// nodes are well is refused whichever of them are lost.
func TestLostNodesAllowNoScale(t *testing.T) {
	t.Parallel()
	tried := 0
	for n := 1; n <= 5; n++ {
		for state := range 1 << (2 * n) {
			for _, asked := range []int{0, 1, 2, 3, 4, n + 1, 2*n + 2} {
				was := scaleOf(n, state, 0, asked)
				for lost := range 1 << n {
					if is := scaleOf(n, state, lost, asked); is.Allowed && !was.Allowed {
						t.Fatalf("of %d members with the states %b, %b are on lost nodes: from %d to %d: %s, and without lost nodes %s", n, state, lost, n, asked, is.Message, was.Message)
					}
					tried++
				}
			}
		}
	}
	if tried < 100_000 {
		t.Errorf("only %d writes were tried", tried)
	}
}

// scaleOf returns the verdict of a write of the replicas of n members. state has two bits a member, that it is ready and
// that its pod is Ready, and lost one bit.
func scaleOf(n, state, lost, asked int) policy.Verdict {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "main"}, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(n))}}
	s := Scale{write: ScaleWrite{Name: "main", Now: n, Asked: asked}}
	s.live.w = Workload{owner: owner.Owner{Name: "main", StatefulSet: "main"}, StatefulSet: sts}
	var f Facts
	for i := range n {
		m := policy.Member{Pod: fmt.Sprintf("main-%d", i), Exists: true, Ready: state>>(2*i)&1 != 0, PodReady: state>>(2*i)&2 != 0}
		if lost>>i&1 != 0 {
			m.NodeLost = "node a is not Ready"
		}
		f.addMember(m)
	}
	of := scale.Facts{Target: "statefulset/main", Now: n, Asked: asked, Voters: n, Keeping: min(n, asked), Held: n}
	s.addReady(&f, &of)
	return scale.Evaluate(of)
}
