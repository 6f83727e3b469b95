// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	case "ReplicationController":
		ref.APIVersion = "v1"
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

// inScript is a static pod with a script that sets the initial cluster and starts etcd.
func inScript(name, node, sets string) corev1.Pod {
	pod := etcdPod(name, "Node/"+node)
	pod.Spec.Containers[0].Command = []string{"sh", "-c", sets + "\nexport ETCD_INITIAL_CLUSTER\nexec nice -n -19 etcd --name=" + node + " --initial-advertise-peer-urls=https://" + node + ":2380 || mv /a /b"}
	return pod
}

func labelled(pod corev1.Pod, key, value string) corev1.Pod {
	pod.Labels[key] = value
	return pod
}

const improbableLabel, cozystackLabel = "etcd.improbable.io/cluster-name", "etcd-operator.cozystack.io/cluster"

// ofImprobable is the pod of a member that Improbable's operator made for the cluster main.
func ofImprobable(member string, flags ...string) corev1.Pod {
	return labelled(labelled(etcdPod(member+"-x", "ReplicaSet/"+member, flags...), improbableLabel, "main"), "etcd.improbable.io/peer-name", member)
}

// ofRevision is a pod of another ReplicaSet of its Deployment.
func ofRevision(pod corev1.Pod, hash string) corev1.Pod {
	ref := &pod.OwnerReferences[0]
	ref.Name = strings.TrimSuffix(ref.Name, pod.Labels["pod-template-hash"]) + hash
	return labelled(pod, "pod-template-hash", hash)
}

func ending(pod corev1.Pod) corev1.Pod {
	pod.DeletionTimestamp = new(metav1.Now())
	return pod
}

func inPhase(pod corev1.Pod, phase corev1.PodPhase) corev1.Pod {
	pod.Status.Phase = phase
	return pod
}

// TestNoPodsByLocalAddresses holds that entries which mean another member in each pod join nothing, whatever
// created the pods.
func TestNoPodsByLocalAddresses(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "[::1]", "[::]", "localhost", "$(hostname -i)", "`hostname`", "${POD_IP}"} {
		url := "http://" + host + ":2380"
		flags := []string{"--name", "s1", "--initial-advertise-peer-urls=" + url, "--initial-cluster", "s1=" + url}
		for _, made := range [][2]string{{"", ""}, {"Deployment/a", "Deployment/b"}, {"Deployment/a", "Deployment/a"}, {"DaemonSet/a", "DaemonSet/a"}} {
			pods := []corev1.Pod{etcdPod("a-x", made[0], flags...), etcdPod("b-x", made[1], flags...)}
			if groups := GroupPods(pods); len(groups) != 2 {
				t.Errorf("%s, made by %v: %d clusters", host, made, len(groups))
			}
			pods[1] = etcdPod("b-x", made[1], lists("s2", "s2")...)
			pods[1].Spec.Containers[0].Command[3] += ",s1=" + url
			if groups := GroupPods(pods); len(groups) != 2 {
				t.Errorf("%s, which another one lists, made by %v: %d clusters", host, made, len(groups))
			}
		}
	}
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
		{"static pods whose list a script computes", []corev1.Pod{
			inScript("etcd-cp-1", "cp-1", "ETCD_INITIAL_CLUSTER=$(discover --cacert=/x --data-dir=/d)"), inScript("etcd-cp-2", "cp-2", "ETCD_INITIAL_CLUSTER=$(discover --cacert=/x --data-dir=/d)"),
		}, []string{"Pods etcd: etcd-cp-1 etcd-cp-2"}},
		{"static pods whose list a script computes from others", []corev1.Pod{
			inScript("etcd-cp-1", "cp-1", "ETCD_INITIAL_CLUSTER=`discover --from=http://a:2379,b=http://b:2379`"), inScript("etcd-cp-2", "cp-2", "ETCD_INITIAL_CLUSTER=${LIST:-$(discover --from=x,b=http://b:2379)}"),
		}, []string{"Pods etcd: etcd-cp-1 etcd-cp-2"}},
		{"static pods that list themselves, and others that a script computes", []corev1.Pod{
			inScript("etcd-cp-1", "cp-1", "ETCD_INITIAL_CLUSTER=cp-1=https://cp-1:2380,$(discover --cacert=/x)"), inScript("etcd-cp-2", "cp-2", "ETCD_INITIAL_CLUSTER=cp-2=https://cp-2:2380,$(discover --cacert=/x)"),
		}, []string{"Pods etcd: etcd-cp-1 etcd-cp-2"}},
		{"static pods that list themselves at a local address", []corev1.Pod{
			inScript("etcd-cp-1", "cp-1", "ETCD_INITIAL_CLUSTER=cp-1=http://127.0.0.1:2380"), inScript("etcd-cp-2", "cp-2", "ETCD_INITIAL_CLUSTER=cp-2=http://127.0.0.1:2380"),
		}, []string{"Pods etcd-cp-1: etcd-cp-1", "Pods etcd-cp-2: etcd-cp-2"}},
		{"static pods that list a name at a local address, and whose own name is in a Secret", []corev1.Pod{
			withSecret(etcdPod("etcd-cp-1", "Node/cp-1", "--initial-cluster=m=http://127.0.0.1:2380")), withSecret(etcdPod("etcd-cp-2", "Node/cp-2", "--initial-cluster=m=http://127.0.0.1:2380")),
		}, []string{"Pods etcd-cp-1: etcd-cp-1 (others unknown)", "Pods etcd-cp-2: etcd-cp-2 (others unknown)"}},
		{"single etcds of static pods", []corev1.Pod{etcdPod("etcd-cp-1", "Node/cp-1", "--name=local"), etcdPod("etcd-cp-2", "Node/cp-2", "--name=local")},
			[]string{"Pods etcd-cp-1: etcd-cp-1", "Pods etcd-cp-2: etcd-cp-2"}},
		{"static pods, of which one was removed and another one has joined", []corev1.Pod{
			static("etcd", "cp-1", "2380", "cp-1"), static("etcd", "cp-2", "2380", "cp-1", "cp-2"),
			static("etcd", "cp-3", "2380", "cp-1", "cp-2", "cp-3"), static("etcd", "cp-4", "2380", "cp-1", "cp-3", "cp-4"),
		}, []string{"Pods etcd: etcd-cp-1 etcd-cp-2 etcd-cp-3 etcd-cp-4"}},
		{"members that were replaced by hand, and the pod of the old one is there", []corev1.Pod{
			etcdPod("etcd0", "", lists("etcd0", "etcd0", "etcd1", "etcd2")...),
			etcdPod("etcd1", "", lists("etcd1", "etcd0", "etcd1", "etcd2")...),
			etcdPod("etcd2", "", lists("etcd2", "etcd0", "etcd1", "etcd2")...),
			etcdPod("etcd3", "", lists("etcd3", "etcd1", "etcd2", "etcd3")...),
		}, []string{"Pods etcd0: etcd0 etcd1 etcd2 etcd3"}},
		{"two that claim a third one, which lists itself", []corev1.Pod{
			etcdPod("a1", "", lists("a1", "a1", "a2", "c")...), etcdPod("a2", "", lists("a2", "a1", "a2", "c")...),
			etcdPod("b1", "", lists("b1", "b1", "b2", "c")...), etcdPod("b2", "", lists("b2", "b1", "b2", "c")...),
			etcdPod("c", "", lists("c", "c")...),
		}, []string{"Pods a1: a1 a2 (others unknown)", "Pods b1: b1 b2 (others unknown)", "Pods c: c (others unknown)"}},
		{"two that claim a third one, which lists the first", []corev1.Pod{
			etcdPod("a1", "", lists("a1", "a1", "a2", "c")...), etcdPod("a2", "", lists("a2", "a1", "a2", "c")...),
			etcdPod("b1", "", lists("b1", "b1", "b2", "c")...), etcdPod("b2", "", lists("b2", "b1", "b2", "c")...),
			etcdPod("c", "", lists("c", "a1", "a2", "c")...),
		}, []string{"Pods a1: a1 a2 c", "Pods b1: b1 b2 (others unknown)"}},
		{"one that lists two clusters", []corev1.Pod{
			etcdPod("a1", "", lists("a1", "a1", "a2")...), etcdPod("a2", "", lists("a2", "a1", "a2")...),
			etcdPod("b1", "", lists("b1", "b1", "b2")...), etcdPod("b2", "", lists("b2", "b1", "b2")...),
			etcdPod("x", "", lists("x", "a1", "a2", "b1", "b2", "x")...),
		}, []string{"Pods a1: a1 a2", "Pods b1: b1 b2", "Pods x: x (others unknown)"}},
		{"two that list a third one, which lists two others", []corev1.Pod{
			etcdPod("a1", "", lists("a1", "a1", "a2", "c")...), etcdPod("a2", "", lists("a2", "a1", "a2", "c")...),
			etcdPod("b1", "", lists("b1", "b1", "b2")...), etcdPod("b2", "", lists("b2", "b1", "b2")...),
			etcdPod("c", "", lists("c", "b1", "b2", "c")...),
		}, []string{"Pods a1: a1 a2 (others unknown)", "Pods b1: b1 b2 c"}},
		{"a list that names hosts of another namespace", []corev1.Pod{
			etcdPod("a1", "", "--name=a1", "--initial-advertise-peer-urls=http://a1.team:2380", "--initial-cluster=a1=http://a1.team:2380,b1=http://b1.other:2380"),
			etcdPod("b1", "", "--name=b1", "--initial-advertise-peer-urls=http://b1.team:2380", "--initial-cluster=b1=http://b1.team:2380"),
		}, []string{"Pods a1: a1 (others unknown)", "Pods b1: b1"}},
		{"two that advertise one address", []corev1.Pod{
			etcdPod("a1", "", lists("a1", "a1", "a2")...), etcdPod("copy", "", lists("a1", "a1", "a2")...), etcdPod("a2", "", lists("a2", "a1", "a2")...),
		}, []string{"Pods a1: a1 (others unknown)", "Pods a2: a2 (others unknown)", "Pods copy: copy (others unknown)"}},
		{"an operator's pods", []corev1.Pod{
			etcdPod("main-x", "EtcdCluster/main", "--initial-cluster=main-x=http://main-x:2380"), etcdPod("main-y", "EtcdCluster/main"),
		}, []string{"EtcdCluster main: main-x main-y"}},
		{"single etcds of a Deployment", []corev1.Pod{etcdPod("mesh-5f9c-a", "Deployment/mesh", "--name=mesh"), etcdPod("mesh-5f9c-b", "Deployment/mesh", "--name=mesh")},
			[]string{"Pods mesh-5f9c-a: mesh-5f9c-a", "Pods mesh-5f9c-b: mesh-5f9c-b"}},
		{"single etcds of a Deployment in a rolling update", []corev1.Pod{
			etcdPod("mesh-5f9c-a", "Deployment/mesh", "--name=mesh"), etcdPod("mesh-5f9c-b", "Deployment/mesh", "--name=mesh"), ofRevision(etcdPod("mesh-7d-c", "Deployment/mesh", "--name=mesh"), "7d"),
		}, []string{"Pods mesh-5f9c-a: mesh-5f9c-a", "Pods mesh-5f9c-b: mesh-5f9c-b", "Pods mesh-7d-c: mesh-7d-c"}},
		{"single etcds of a Deployment that list themselves at their own IPs", []corev1.Pod{
			etcdPod("mesh-5f9c-a", "Deployment/mesh", "--name=m", "--initial-advertise-peer-urls=http://10.0.0.1:2380", "--initial-cluster=m=http://10.0.0.1:2380"),
			etcdPod("mesh-5f9c-b", "Deployment/mesh", "--name=m", "--initial-advertise-peer-urls=http://10.0.0.2:2380", "--initial-cluster=m=http://10.0.0.2:2380"),
		}, []string{"Pods mesh-5f9c-a: mesh-5f9c-a", "Pods mesh-5f9c-b: mesh-5f9c-b"}},
		{"single etcds of a ReplicaSet", []corev1.Pod{etcdPod("x-a", "ReplicaSet/x"), etcdPod("x-b", "ReplicaSet/x")}, []string{"Pods x-a: x-a", "Pods x-b: x-b"}},
		{"single etcds of a ReplicationController", []corev1.Pod{etcdPod("x-a", "ReplicationController/x"), etcdPod("x-b", "ReplicationController/x")}, []string{"Pods x-a: x-a", "Pods x-b: x-b"}},
		{"a single etcd of a Deployment in a rolling update", []corev1.Pod{
			etcdPod("dev-5f9c-a", "Deployment/dev", "--name=dev"), ofRevision(etcdPod("dev-7d-b", "Deployment/dev", "--name=dev"), "7d"),
		}, []string{"Deployment dev: dev-5f9c-a dev-7d-b"}},
		{"a single etcd of a Deployment whose old pod is on a lost node", []corev1.Pod{
			ending(etcdPod("dev-5f9c-a", "Deployment/dev", "--name=dev")), etcdPod("dev-5f9c-b", "Deployment/dev", "--name=dev"),
		}, []string{"Deployment dev: dev-5f9c-a dev-5f9c-b"}},
		{"pods of a Deployment that advertise one address", []corev1.Pod{
			etcdPod("etcd-5f9c-a", "Deployment/etcd", lists("etcd", "etcd")...), etcdPod("etcd-5f9c-b", "Deployment/etcd", lists("etcd", "etcd")...),
		}, []string{"Deployment etcd: etcd-5f9c-a etcd-5f9c-b"}},
		{"pods of a Deployment with a list in a Secret", []corev1.Pod{
			withSecret(etcdPod("etcd-5f9c-a", "Deployment/etcd")), withSecret(etcdPod("etcd-5f9c-b", "Deployment/etcd")),
		}, []string{"Deployment etcd: etcd-5f9c-a etcd-5f9c-b"}},
		{"a Deployment per member, and a rolling update of the first one, which listed itself alone", []corev1.Pod{
			etcdPod("etcd1-5f9c-a", "Deployment/etcd1", lists("etcd1", "etcd1")...), ofRevision(etcdPod("etcd1-7d-b", "Deployment/etcd1", lists("etcd1", "etcd1")...), "7d"),
			etcdPod("etcd2-5f9c-c", "Deployment/etcd2", lists("etcd2", "etcd1", "etcd2")...),
		}, []string{"Pods etcd1: etcd1-5f9c-a etcd1-7d-b etcd2-5f9c-c"}},
		{"a Deployment's pod has no ReplicaSet's name", []corev1.Pod{etcdPod("dev-5f9c-a", "Deployment/dev")}, []string{"Deployment dev: dev-5f9c-a"}},
		{"pods that have ended, and those of Jobs, are no members", []corev1.Pod{
			etcdPod("etcd1", "", lists("etcd1", "etcd1", "etcd2")...),
			inPhase(etcdPod("etcd2", "", lists("etcd2", "etcd1", "etcd2")...), corev1.PodFailed),
			inPhase(etcdPod("old", "", lists("etcd2", "etcd1", "etcd2")...), corev1.PodSucceeded),
			etcdPod("backup", "Job/backup", lists("etcd1", "etcd1", "etcd2")...),
		}, []string{"Pods etcd1: etcd1 (others unknown)"}},
		{"single etcds of Deployments with the label of Improbable's clusters", []corev1.Pod{
			labelled(etcdPod("a-5f9c-x", "Deployment/a", "--name=a"), improbableLabel, "x"), labelled(etcdPod("b-5f9c-y", "Deployment/b", "--name=a"), improbableLabel, "x"),
		}, []string{"Deployment a: a-5f9c-x", "Deployment b: b-5f9c-y"}},
		{"single etcds of Deployments with the label of cozystack's clusters", []corev1.Pod{
			labelled(etcdPod("a-5f9c-x", "Deployment/a", "--name=a"), cozystackLabel, "x"), labelled(etcdPod("b-5f9c-y", "Deployment/b", "--name=a"), cozystackLabel, "x"),
		}, []string{"Deployment a: a-5f9c-x", "Deployment b: b-5f9c-y"}},
		{"pods by hand with the label of cozystack's clusters", []corev1.Pod{
			labelled(etcdPod("a", ""), cozystackLabel, "x"), labelled(etcdPod("b", ""), cozystackLabel, "x"),
		}, []string{"Pods a: a", "Pods b: b"}},
		{"a Deployment per member with such a label", []corev1.Pod{
			labelled(etcdPod("a-5f9c-x", "Deployment/a", lists("a", "a", "b")...), cozystackLabel, "x"), labelled(etcdPod("b-5f9c-y", "Deployment/b", lists("b", "a", "b")...), cozystackLabel, "x"),
		}, []string{"Pods a: a-5f9c-x b-5f9c-y"}},
		{"members of Improbable's operator", []corev1.Pod{
			ofImprobable("main-0", lists("main-0", "main-0", "main-1")...), ofImprobable("main-1", lists("main-1", "main-0", "main-1")...),
			ofImprobable("main-2", lists("main-2", "main-0", "main-1", "main-2")...),
		}, []string{"EtcdCluster main: main-0-x main-1-x main-2-x"}},
		{"members of Improbable's operator whose lists can't be read", []corev1.Pod{
			withSecret(ofImprobable("main-0")), withSecret(ofImprobable("main-1")),
		}, []string{"EtcdCluster main: main-0-x main-1-x"}},
		{"single etcds with all labels of Improbable's operator", []corev1.Pod{
			ofImprobable("main-0", lists("main-0", "main-0")...), ofImprobable("main-1", lists("main-1", "main-1")...),
		}, []string{"Pods main-0-x: main-0-x", "Pods main-1-x: main-1-x"}},
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

// TestPodGroupsChanges holds that the commands that change members are read from each pod of a cluster.
func TestPodGroupsChanges(t *testing.T) {
	t.Parallel()
	pods := make([]corev1.Pod, 0, 3)
	for _, name := range []string{"a", "b", "c"} {
		pods = append(pods, etcdPod(name, "", lists(name, "a", "b", "c")...))
	}
	for i := 1; i < 3; i++ {
		pods[i].Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
			Exec: &corev1.ExecAction{Command: []string{"etcdctl", "member", "remove", "x"}},
		}}
	}
	owners := OfPods(pods)
	if len(owners) != 1 || len(owners[0].MemberChanges) != 2 || !owners[0].MemberChanges[0].RemovesLeaving() || owners[0].MemberChanges[1].Workload != "c" {
		t.Errorf("%+v", owners)
	}
	for i := range pods { // of one controller, which has one template
		pods[i].OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "etcd", Controller: new(true)}}
	}
	if owners = OfPods(pods); len(owners) != 1 || len(owners[0].MemberChanges) != 1 || owners[0].MemberChanges[0].Workload != "" {
		t.Errorf("%+v", owners)
	}
}
