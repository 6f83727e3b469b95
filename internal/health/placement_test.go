// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// deployments makes each member the pod of a Deployment of its own.
func deployments(f *Facts) {
	f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.StatefulSet = owner.Pods, flavour.UnknownPods, ""
	f.StatefulSet.Value = nil
}

// TestMoveByData walks all volumes that data may be in, and all ways in which pods are made: what moves a
// pod without its data replaces the member.
func TestMoveByData(t *testing.T) {
	t.Parallel()
	volumes := []struct {
		name    string
		source  corev1.VolumeSource
		follows bool
	}{
		{"a claim", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "d"}}, true},
		{"NFS", corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}, true},
		{"emptyDir", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, false},
		{"emptyDir in memory", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}, false},
		{"hostPath", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}, false},
		{"ephemeral", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}, false},
		{"inline CSI", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{}}, false},
	}
	const notFollowing = "replace main-2 by a member on another node, and no other member meanwhile, because its data doesn't follow it: "
	owners := []struct {
		name          string
		with          func(*Facts)
		moves, stays  string // what the fix has where the data follows, and where it doesn't
		neverFollowed bool
	}{
		{"StatefulSet", func(*Facts) {}, "kubectl etcd restart statefulset/main --member main-2 -n team", "kubectl etcd member replace statefulset/main main-2 --force -n team", false},
		{"Deployments", deployments, "change the manifest of main-2 so that it runs on another node to which its volume can follow; don't change the members",
			notFollowing + "remove the old member with etcdctl member remove", false},
		{"beside StatefulSets", mixed, "change the manifest of main-2 so that it runs on another node to which its volume can follow", notFollowing, false},
		{"static pods", kubeadm, "", notFollowing + "kubeadm reset on its node, and kubeadm join --control-plane again", true},
		{"an operator's pods", func(f *Facts) {
			deployments(f)
			f.Owner.Distribution = flavour.Cozystack
		}, "kubectl delete pod main-2 -n team", "delete its EtcdMember", false},
	}
	for _, o := range owners {
		for _, v := range volumes {
			for _, down := range []bool{false, true} {
				f := healthy(3)
				o.with(f)
				f.Pods.Value[2].Spec.Volumes[0].VolumeSource = v.source
				f.Placement.Value[2].Node = "node-0"
				want := o.stays
				if v.follows && !o.neverFollowed {
					want = o.moves
				}
				if down {
					silent(1)(f)
				}
				got := onDifferentNodes(f)[0].Fix
				if !strings.Contains(got, want) {
					t.Errorf("%s, %s: %q, want %q", o.name, v.name, got, want)
				}
				if once := strings.Contains(got, "once all members are healthy, "); once != down {
					t.Errorf("%s, %s, one down %t: %q", o.name, v.name, down, got)
				}
			}
		}
	}
}

// TestMoveOfUnknownData: where the data directory is not known, a command that moves the pod may lose it.
func TestMoveOfUnknownData(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		with    func(*Facts)
		claim   bool
		want    string
		unwants string
	}{
		{"Deployments, with a claim", deployments, true, "find out where the data of main-2 is", "don't change the members"},
		{"Deployments, without one", deployments, false, "because its data doesn't follow it", "don't change the members"},
		{"StatefulSet, with a claim", func(*Facts) {}, true, "kubectl etcd restart statefulset/main --member main-2", "member replace"},
		{"StatefulSet, without one", func(*Facts) {}, false, "kubectl etcd member replace", "delete pod"},
	} {
		f := healthy(3)
		row.with(f)
		f.Placement.Value[2].Node = "node-0"
		pod := f.Pods.Value[2]
		pod.Spec.Containers[0].Command = []string{"/start.sh"}
		f.Serving[pod.Name] = Got[etcdconf.Config]{}
		if !row.claim {
			inPod(2)(f)
		}
		if got := onDifferentNodes(f)[0].Fix; !strings.Contains(got, row.want) || strings.Contains(got, row.unwants) {
			t.Errorf("%s: %q", row.name, got)
		}
	}
	f := healthy(3)
	deployments(f)
	f.Pods.Value, f.Placement.Value[2].Node = f.Pods.Value[:2], "node-0"
	if got := f.moveNow("main-2"); !strings.HasPrefix(got, "find out where the data of main-2 is") {
		t.Errorf("without its pod: %q", got)
	}
}
