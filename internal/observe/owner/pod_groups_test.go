// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// etcdPod is a pod that runs etcd with flags, made by a controller given as KIND/NAME.
func etcdPod(name, controller string, flags ...string) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: map[string]string{}}}
	pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: append([]string{"etcd"}, flags...)}}
	kind, owner, made := strings.Cut(controller, "/")
	if !made {
		return pod
	}
	ref := metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: owner, Controller: new(true)}
	switch kind {
	case "Node":
		ref.APIVersion, pod.Spec.NodeName = "v1", owner
		pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	case "Deployment":
		pod.Labels["pod-template-hash"] = "5f9c"
		ref.Kind, ref.Name = "ReplicaSet", owner+"-5f9c"
	case "Job":
		ref.APIVersion = "batch/v1"
	case "EtcdCluster":
		ref.APIVersion = "etcd.example/v1"
	}
	pod.OwnerReferences = []metav1.OwnerReference{ref}
	return pod
}

// lists are the flags of a member that starts with these others, all with a Service each.
func lists(name string, all ...string) []string {
	var entries []string
	for _, n := range all {
		entries = append(entries, fmt.Sprintf("%s=http://%s:2380", n, n))
	}
	return []string{"--name=" + name, "--initial-advertise-peer-urls=http://" + name + ":2380", "--initial-cluster=" + strings.Join(entries, ",")}
}

// withSecret is a pod with variables from a Secret, which is not read.
func withSecret(pod corev1.Pod) corev1.Pod {
	pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "tuning"}}}}
	return pod
}

func labelled(pod corev1.Pod, key, value string) corev1.Pod {
	pod.Labels[key] = value
	return pod
}

func inPhase(pod corev1.Pod, phase corev1.PodPhase) corev1.Pod {
	pod.Status.Phase = phase
	return pod
}

// TestPodGroups has a row per way in which pods are made. Groups are given as KIND NAME: PODS.
func TestPodGroups(t *testing.T) {
	t.Parallel()
	static := func(manifest, node, port string, all ...string) corev1.Pod {
		var entries []string
		for _, n := range all {
			entries = append(entries, n+"=https://"+n+":"+port)
		}
		return labelled(etcdPod(manifest+"-"+node, "Node/"+node, "--name="+node,
			"--initial-advertise-peer-urls=https://"+node+":"+port, "--initial-cluster="+strings.Join(entries, ",")), "component", "etcd")
	}
	for _, row := range []struct {
		name string
		pods []corev1.Pod
		want []string
	}{
		{"a Deployment per member", []corev1.Pod{
			etcdPod("etcd1-5f9c-a", "Deployment/etcd1", lists("etcd1", "etcd1", "etcd2", "etcd3")...),
			etcdPod("etcd2-5f9c-b", "Deployment/etcd2", lists("etcd2", "etcd1", "etcd2", "etcd3")...),
			etcdPod("etcd3-5f9c-c", "Deployment/etcd3", lists("etcd3", "etcd1", "etcd2", "etcd3")...),
		}, []string{"Pods etcd1: etcd1-5f9c-a etcd2-5f9c-b etcd3-5f9c-c"}},
		{"a Deployment per member, with variables from a Secret", []corev1.Pod{
			withSecret(etcdPod("etcd1-5f9c-a", "Deployment/etcd1", lists("etcd1", "etcd1", "etcd2")...)),
			withSecret(etcdPod("etcd2-5f9c-b", "Deployment/etcd2", lists("etcd2", "etcd1", "etcd2")...)),
		}, []string{"Pods etcd1: etcd1-5f9c-a etcd2-5f9c-b"}},
		{"a list in a Secret", []corev1.Pod{withSecret(etcdPod("etcd1", "")), withSecret(etcdPod("etcd2-5f9c-b", "Deployment/etcd2", "--name=b"))},
			[]string{"Deployment etcd2: etcd2-5f9c-b (others unknown)", "Pods etcd1: etcd1 (others unknown)"}},
		{"members that were replaced by hand", []corev1.Pod{
			etcdPod("etcd1", "", lists("etcd1", "etcd0", "etcd1", "etcd2")...),
			etcdPod("etcd2", "", lists("etcd2", "etcd0", "etcd1", "etcd2")...),
			etcdPod("etcd3", "", lists("etcd3", "etcd1", "etcd2", "etcd3")...),
		}, []string{"Pods etcd1: etcd1 etcd2 etcd3"}},
		{"two clusters whose members have the same names", []corev1.Pod{
			etcdPod("a-0", "", "--name=m0", "--initial-cluster=m0=http://a-0:2380,m1=http://a-1:2380"),
			etcdPod("a-1", "", "--name=m1", "--initial-cluster=m0=http://a-0:2380,m1=http://a-1:2380"),
			etcdPod("b-0", "", "--name=m0", "--initial-cluster=m0=http://b-0:2380,m1=http://b-1:2380"),
			etcdPod("b-1", "", "--name=m1", "--initial-cluster=m0=http://b-0:2380,m1=http://b-1:2380"),
		}, []string{"Pods a-0: a-0 a-1", "Pods b-0: b-0 b-1"}},
		{"single etcds of a DaemonSet", []corev1.Pod{
			etcdPod("calico-etcd-x", "DaemonSet/calico-etcd", "--name=calico"),
			etcdPod("calico-etcd-y", "DaemonSet/calico-etcd", "--name=calico"),
		}, []string{"Pods calico-etcd-x: calico-etcd-x", "Pods calico-etcd-y: calico-etcd-y"}},
		{"a single etcd of a DaemonSet", []corev1.Pod{etcdPod("calico-etcd-x", "DaemonSet/calico-etcd", "--name=calico")}, []string{"DaemonSet calico-etcd: calico-etcd-x"}},
		{"static pods, each listing those that were there before it", []corev1.Pod{
			static("etcd", "cp-1", "2380", "cp-1"), static("etcd", "cp-2", "2380", "cp-1", "cp-2"), static("etcd", "cp-3", "2380", "cp-1", "cp-2", "cp-3"),
		}, []string{"Pods etcd: etcd-cp-1 etcd-cp-2 etcd-cp-3"}},
		{"main and events etcd of the same nodes", []corev1.Pod{
			static("etcd", "cp-1", "2380", "cp-1", "cp-2"), static("etcd", "cp-2", "2380", "cp-1", "cp-2"),
			static("etcd-events", "cp-1", "2381", "cp-1", "cp-2"), static("etcd-events", "cp-2", "2381", "cp-1", "cp-2"),
		}, []string{"Pods etcd: etcd-cp-1 etcd-cp-2", "Pods etcd-events: etcd-events-cp-1 etcd-events-cp-2"}},
		{"static pods whose configuration is on the node", []corev1.Pod{
			labelled(etcdPod("etcd-cp-1", "Node/cp-1", "--config-file=/etc/etcd.yaml"), "component", "etcd"),
			labelled(etcdPod("etcd-cp-2", "Node/cp-2", "--config-file=/etc/etcd.yaml"), "component", "etcd"),
		}, []string{"Pods etcd: etcd-cp-1 etcd-cp-2"}},
		{"an operator's pods", []corev1.Pod{
			etcdPod("main-x", "EtcdCluster/main", "--initial-cluster=main-x=http://main-x:2380"), etcdPod("main-y", "EtcdCluster/main"),
		}, []string{"EtcdCluster main: main-x main-y"}},
		{"a Deployment's pod has no ReplicaSet's name", []corev1.Pod{etcdPod("dev-5f9c-a", "Deployment/dev")}, []string{"Deployment dev: dev-5f9c-a"}},
		{"pods that have ended, and those of Jobs, are no members", []corev1.Pod{
			etcdPod("etcd1", "", lists("etcd1", "etcd1", "etcd2")...),
			inPhase(etcdPod("etcd2", "", lists("etcd2", "etcd1", "etcd2")...), corev1.PodFailed),
			inPhase(etcdPod("old", "", lists("etcd2", "etcd1", "etcd2")...), corev1.PodSucceeded),
			etcdPod("backup", "Job/backup", lists("etcd1", "etcd1", "etcd2")...),
		}, []string{"Pods etcd1: etcd1"}},
		{"labels join nothing", []corev1.Pod{
			labelled(etcdPod("a", ""), "app", "etcd"), labelled(etcdPod("b", ""), "app", "etcd"),
		}, []string{"Pods a: a", "Pods b: b"}},
	} {
		var got []string
		for _, g := range GroupPods(row.pods) {
			var names []string
			for _, p := range g.Pods {
				names = append(names, p.Name)
			}
			slices.Sort(names)
			one := fmt.Sprintf("%s %s: %s", g.Owner.Kind, g.Owner.Name, strings.Join(names, " "))
			if g.Owner.UnknownPeers() != "" {
				one += " (others unknown)"
			}
			got = append(got, one)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s:\n got %q\nwant %q", row.name, got, row.want)
		}
	}
}

// TestJoinLikeNaively compares the groups of random pods with those that a search without any
// index finds, and holds that the order of the pods doesn't matter.
func TestJoinLikeNaively(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		members := make([]listedPod, 1+random.IntN(9))
		for i := range members {
			pod := etcdPod(fmt.Sprintf("p%d", i), "")
			pod.Namespace = fmt.Sprintf("n%d", random.IntN(2))
			members[i].pod = &pod
			for range random.IntN(3) {
				members[i].peers = append(members[i].peers, etcdconf.Peer{Name: fmt.Sprint("e", random.IntN(8))})
			}
			for range random.IntN(2) {
				members[i].self = append(members[i].self, etcdconf.Peer{Name: fmt.Sprint("e", random.IntN(8))})
			}
			members[i].key = []string{"", "", "", "k1", "k2"}[random.IntN(5)]
		}
		got, want := named(join(members)), named(naively(members))
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		if again := named(join(members)); !slices.Equal(got, want) || !slices.Equal(again, want) {
			t.Fatalf("seed %d: %+v\n got %q\nagain %q\nwant %q", seed, members, got, again, want)
		}
	}
}

// naively grows each group until no other pod belongs to it.
func naively(members []listedPod) [][]listedPod {
	var out [][]listedPod
	rest := slices.Clone(members)
	for len(rest) > 0 {
		group := rest[:1:1]
		rest = rest[1:]
		for grown := true; grown; {
			grown = false
			for i, m := range rest {
				if slices.ContainsFunc(group, func(g listedPod) bool { return ofOne(g, m) }) {
					group, rest, grown = append(group, m), slices.Delete(slices.Clone(rest), i, i+1), true
					break
				}
			}
		}
		out = append(out, group)
	}
	return out
}

func ofOne(a, b listedPod) bool {
	lists := func(a, b listedPod) bool {
		return slices.ContainsFunc(a.peers, func(e etcdconf.Peer) bool { return slices.Contains(b.self, e) })
	}
	// Two that a third one lists are joined through it.
	return a.pod.Namespace == b.pod.Namespace && (a.key != "" && a.key == b.key || lists(a, b) || lists(b, a))
}

func named(groups [][]listedPod) []string {
	var out []string
	for _, g := range groups {
		var names []string
		for _, m := range g {
			names = append(names, m.pod.Name)
		}
		slices.Sort(names)
		out = append(out, strings.Join(names, " "))
	}
	slices.Sort(out)
	return out
}
