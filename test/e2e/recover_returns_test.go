// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// The tests of this file recover a cluster from one member, while the other two still have their data and their
// processes. They check that these two never form the old cluster again.

// TestPluginRecoverBesideFrozenMajority freezes the processes of two members. They run again while the recovery
// stops the members, which it waits for.
func TestPluginRecoverBesideFrozenMajority(t *testing.T) {
	operating(t, 3)
	r := recovering(t, start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Mutate: staysFrozen}))
	before, all := surveyOf(t, r.c), members(t, r.c)
	thaw := freezeAll(t, all[1:])
	awaitNotReady(t, &all[0].Pod)
	refuses(t, []string{"1 of 3 voters still answer", "--lost"}, "recover", "main", "-n", r.c.Namespace, "-y")
	run := r.recover(t, "--lost", "main-1,main-2")
	over := make(chan int, 1)
	go func() { over <- run.wait(t) }()
	eventually(t, "the recovery to stop the members", func(context.Context) (string, bool, error) {
		var p corev1.Pod
		err := kube.Get(t.Context(), client.ObjectKeyFromObject(&all[1].Pod), &p)
		return "it has not", client.IgnoreNotFound(err) == nil && (err != nil || p.DeletionTimestamp != nil), client.IgnoreNotFound(err)
	})
	thaw()
	if code := <-over; code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &run.stdout, &run.stderr)
	}
	r.restored(t, 3)
	if after := surveyOf(t, r.c); after == before {
		t.Errorf("the cluster ID is still %s", after)
	}
}

// staysFrozen takes away the probe for which the kubelet starts a frozen member again.
func staysFrozen(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].LivenessProbe = nil }

// TestPluginRecoverBesideCutMajority cuts the nodes of two members off the network, where their processes go on. The
// user declares that the machines are off, which is not true. After the recovery, the nodes come back.
func TestPluginRecoverBesideCutMajority(t *testing.T) {
	alone(t)
	ns := namespace(t)
	r := recovering(t, start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Apart: corev1.LabelHostname}))
	before, old := surveyOf(t, r.c), members(t, r.c)[1:]
	shared := sharedDruid(t)
	t.Cleanup(func() { // the test's nodes are back by then
		if err := shared.WaitReady(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	var heals []func()
	for _, m := range old {
		heals = append(heals, cutNode(t, m.Node))
	}
	for _, m := range old {
		awaitNode(t, m.Node, corev1.ConditionUnknown)
	}
	eventually(t, "the recovery to be refused", func(context.Context) (string, bool, error) {
		run := r.recover(t, "--lost", "main-1,main-2") // it saves the survivor's data in the directory of the test
		code, printed := run.wait(t), run.stderr.String()
		missing := lacking(printed, []string{"their members may still run", "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"})
		return printed, code == 2 && missing == "", nil
	})
	for _, m := range old {
		taintNode(t, m.Node, corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute})
	}
	r.recovers(t, "--lost", "main-1,main-2")
	r.restored(t, 3)
	after := surveyOf(t, r.c)
	if after == before {
		t.Errorf("the cluster ID is still %s", after)
	}
	for _, m := range old {
		if pids, err := clusters.Processes(m.Pod.UID, clusters.IsEtcd); err != nil || len(pids) == 0 {
			t.Errorf("the old process of %s does not run any more: %v", m.Pod.Name, err)
		}
	}
	put(t, r.c, 60)
	written := contents(t, r.c)

	for i, m := range old {
		heals[i]()
		awaitNode(t, m.Node, corev1.ConditionTrue)
	}
	for _, m := range old {
		eventually(t, "the old process of "+m.Pod.Name+" to end", func(context.Context) (string, bool, error) {
			pids, err := clusters.Processes(m.Pod.UID, clusters.IsEtcd)
			return fmt.Sprint(pids), len(pids) == 0, err
		})
	}
	votersAre(t, r.c, 3)
	if now := surveyOf(t, r.c); now != after {
		t.Errorf("the cluster ID is %s, want %s", now, after)
	}
	if now := contents(t, r.c); now != written {
		t.Errorf("the contents are %q, want %q", now, written)
	}
}
