// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestUnmatched counts the members in the lists of pods that no pod is known to run.
func TestUnmatched(t *testing.T) {
	t.Parallel()
	three := func(name string) corev1.Pod {
		return etcdPod(name+"-5f9c-a", "Deployment/"+name, lists(name, "etcd1", "etcd2", "etcd3")...)
	}
	// unnamed has its name from a variable that only its pod has.
	unnamed := func(pod string) corev1.Pod {
		p := etcdPod(pod, "Deployment/x", lists("etcd1", "etcd1", "etcd2", "etcd3")...)
		p.Spec.Containers[0].Command[1], p.Spec.Containers[0].Command[2] = "--name=$(hostname)", "--initial-advertise-peer-urls=http://$(hostname):2380"
		return p
	}
	made := func(group string, p corev1.Pod) corev1.Pod {
		p.OwnerReferences[0].APIVersion = group
		return labelled(p, "etcd-operator.cozystack.io/cluster", "x")
	}
	for _, row := range []struct {
		name string
		pods []corev1.Pod
		want int // of the first cluster
	}{
		{"all three Deployments", []corev1.Pod{three("etcd1"), three("etcd2"), three("etcd3")}, 0},
		{"two of three", []corev1.Pod{three("etcd1"), three("etcd3")}, 1},
		{"one of three", []corev1.Pod{three("etcd2")}, 2},
		{"one of three, a bare pod", []corev1.Pod{etcdPod("etcd1", "", lists("etcd1", "etcd1", "etcd2", "etcd3")...)}, 2},
		{"one has failed", []corev1.Pod{three("etcd1"), three("etcd2"), inPhase(three("etcd3"), corev1.PodFailed)}, 1},
		{"no list", []corev1.Pod{etcdPod("etcd1", "", "--name=etcd1")}, 0},
		{"alone", []corev1.Pod{etcdPod("etcd1", "", lists("etcd1", "etcd1")...)}, 0},
		{"one has joined later", []corev1.Pod{
			etcdPod("etcd1", "", lists("etcd1", "etcd1", "etcd2")...), etcdPod("etcd2", "", lists("etcd2", "etcd1", "etcd2")...), three("etcd3"),
		}, 0},
		{"one was replaced under another name", []corev1.Pod{
			etcdPod("etcd1", "", lists("etcd1", "etcd0", "etcd1", "etcd2")...), etcdPod("etcd2", "", lists("etcd2", "etcd0", "etcd1", "etcd2")...), three("etcd3"),
		}, 1},
		{"one was replaced under the same name", []corev1.Pod{
			three("etcd1"), three("etcd2"), etcdPod("new", "Deployment/etcd3", "--name=etcd3", "--initial-advertise-peer-urls=http://new:2380",
				"--initial-cluster=etcd1=http://etcd1:2380,etcd2=http://etcd2:2380,etcd3=http://new:2380"),
		}, 0},
		{"loopback addresses", []corev1.Pod{etcdPod("s1", "", "--name=s1", "--initial-advertise-peer-urls=http://127.0.0.1:2380", "--initial-cluster=s1=http://127.0.0.1:2380,s2=http://127.0.0.1:3380")}, 0},
		{"a pod whose name is not known", []corev1.Pod{unnamed("x-5f9c-a")}, 2},
		{"an operator's", []corev1.Pod{made("etcd-operator.cozystack.io/v1alpha2", etcdPod("etcd1", "EtcdCluster/x", lists("etcd1", "etcd1", "etcd2", "etcd3")...))}, 0},
		{"a static pod of three", []corev1.Pod{etcdPod("etcd-a", "Node/a", lists("a", "a", "b", "c")...)}, 2},
	} {
		groups := GroupPods(row.pods)
		if len(groups) == 0 {
			t.Errorf("%s: no cluster", row.name)
			continue
		}
		o := groups[0].Owner
		// The list of one pod alone may be the whole cluster's. Those of several may be older than a replacement.
		if asks := o.UnknownPeers() != ""; o.Unmatched != row.want || row.want > 0 && asks != (o.Replicas == 1) {
			t.Errorf("%s: %d members of %s have no pod, want %d (%s)", row.name, o.Unmatched, o, row.want, o.UnknownPeers())
		}
	}
}
