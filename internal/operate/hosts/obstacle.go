// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
)

// obstacle is why a node can't start a new pod. The zero value means that it can.
type obstacle struct {
	// text follows the name of the node.
	text string
	// opens means that the node can start the pod when its cordon or its taint is removed.
	opens bool
}

// obstacleTo returns why a node that can mount the volumes of a pod can't start it.
func obstacleTo(node *corev1.Node, pod *corev1.Pod) obstacle {
	if !scheduling.NodeReady(node) {
		return obstacle{text: "is not Ready"}
	}
	// The API server rejects an affinity that can't be parsed.
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !ok {
		return obstacle{text: "does not match the node selector or affinity of its pod"}
	}
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if node.Spec.Unschedulable && !schedulinghelpers.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations, &cordon, true) {
		return obstacle{text: "is cordoned (kubectl uncordon " + node.Name + ")", opens: true}
	}
	taint, untolerated := schedulinghelpers.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, pod.Spec.Tolerations, repels, true)
	if untolerated {
		return obstacle{text: fmt.Sprintf("has taint %s, which its pod does not tolerate", taint.ToString()), opens: true}
	}
	return obstacle{}
}

// repels reports whether a taint keeps new pods away from its node.
func repels(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// Mounts reports whether a node can mount volumes.
func Mounts(node *corev1.Node, volumes []*corev1.PersistentVolume) bool {
	for _, v := range volumes {
		if storagehelpers.CheckNodeAffinity(v, node.Labels) != nil {
			return false
		}
	}
	return true
}

// Starts reports whether a node can start a new pod with its volumes.
func Starts(node *corev1.Node, pod *corev1.Pod, volumes []*corev1.PersistentVolume) bool {
	return Mounts(node, volumes) && obstacleTo(node, pod) == obstacle{}
}
