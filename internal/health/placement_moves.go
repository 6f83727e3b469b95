// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// move returns how to have a pod created again elsewhere. Data in the pod or on its node stays
// behind, a bound volume keeps the pod where it is, and a voter must not be stopped while
// another one is down.
func (f *Facts) move(name string) string {
	return f.whenHealthy(f.moveNow(name))
}

// moveNow returns what move returns if all members are healthy, and otherwise what must be so first.
func (f *Facts) moveNow(name string) string {
	pod := f.pod(name)
	stays := pod != nil && (f.leavesData(pod) || tied(pod) || f.boundHere(name))
	switch {
	case f.byManifest(name) && stays:
		return f.replacementElsewhere(name)
	case f.byManifest(name) && (pod == nil || f.dataDir(pod) == ""):
		return "find out where the data of " + name + " is. Only if its volume can follow it to another node, change its manifest so that it runs there"
	case f.byManifest(name):
		return "change the manifest of " + name + " so that it runs on another node to which its volume can follow; don't change the members"
	case stays && f.voters().total > 2 && !f.allHealthy(): // move has the condition, under which the old member may be removed
		return f.replacementHow(name, "--force")
	case stays:
		return f.replacement(name, "--force")
	case f.Owner.WithoutStatefulSet():
		return f.kubectl("delete pod " + name)
	}
	return f.restartOf(name)
}

// restartOf returns the command that restarts the member of a pod. Unlike a deletion of the pod, it is refused while
// another fix restarts members, and ends when the member is healthy.
func (f *Facts) restartOf(name string) string {
	restart := f.Command("restart", "--member", name)
	if f.allHealthy() {
		return f.onceReady(restart)
	}
	return f.orContinue(restart) // move has the condition
}

// replacementElsewhere returns how a member moves whose data doesn't: a new one takes its part. A pod that a
// manifest just moves starts empty, and etcd doesn't let it join.
func (f *Facts) replacementElsewhere(name string) string {
	how := f.replacement(name)
	if how == f.Command("member list") {
		return how
	}
	return "replace " + name + " by a member on another node, and no other member meanwhile, because its data doesn't follow it: " + strings.TrimPrefix(how, toReplace+": ")
}

// leavesData reports whether a pod that is created again on another node has lost the
// member's data: no volume has it, or one that ends with the pod or stays on its node.
func (f *Facts) leavesData(pod *corev1.Pod) bool {
	if static(pod) {
		return true // what its node mounts is the node's
	}
	dir := f.dataDir(pod)
	if dir == "" {
		return !claimMounted(pod)
	}
	volume, mounted := volumeAt(pod, dir)
	return !mounted || staysBehind(volume)
}

// claimMounted reports whether etcd's container has a volume that can follow its pod, wherever its data
// directory is.
func claimMounted(pod *corev1.Pod) bool {
	c := etcdContainer(pod)
	return c != nil && slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		return !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name && staysBehind(v) })
	})
}

// staysBehind reports whether a volume ends with its pod, or stays on its node.
func staysBehind(v corev1.Volume) bool {
	return v.EmptyDir != nil || v.HostPath != nil || v.Ephemeral != nil || v.CSI != nil ||
		v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil || v.Image != nil
}

// tied reports whether admission found the pod's volume bound where other members are.
// Admission checks that again when the pod is created again.
func tied(pod *corev1.Pod) bool {
	record, _ := annotation.SpreadRecordOf(pod)
	return slices.ContainsFunc(record.Notes, func(n annotation.SpreadNote) bool {
		return n.Reason == spread.VolumeZoneTaken.Name() || n.Reason == spread.VolumeNodeTaken.Name()
	})
}

// boundHere reports whether the volume of a pod admits no node where the pod would be better
// placed: a node without a member, in a zone with fewer of them unless its own node is shared.
func (f *Facts) boundHere(name string) bool {
	admitted, bound := f.VolumeNodes[name]
	if !bound {
		return false
	}
	var own policy.Member
	taken, zones := map[string]bool{}, map[string]int{}
	for _, m := range f.Placement.Value {
		if m.Pod == name {
			own = m
			continue
		}
		taken[m.Node] = true
		zones[m.Zone]++
	}
	return !slices.ContainsFunc(f.Nodes.Value, func(n spread.Node) bool {
		return slices.Contains(admitted, n.Name) && !taken[n.Name] && n.Name != own.Node && (taken[own.Node] || zones[n.Zone] < zones[own.Zone])
	})
}
