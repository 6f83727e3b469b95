// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// MayLose reports whether a host is an IP of a pod that the pod may no longer have when it is created again. Of another
// IP, such as that of a Service, MayLose knows nothing and returns false.
func MayLose(pod *corev1.Pod, host string) bool {
	ip, err := netip.ParseAddr(host)
	a := address{ip: ip.Unmap()}
	own := err == nil && slices.ContainsFunc(pod.Status.PodIPs, func(of corev1.PodIP) bool { return a.is(of.IP) })
	keeps := pod.Spec.HostNetwork && staysOnNode(pod)
	return own && !keeps
}

// staysOnNode reports whether each pod that replaces a pod runs on the same node.
func staysOnNode(pod *corev1.Pod) bool {
	_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
	ref := metav1.GetControllerOfNoCopy(pod)
	return static || ref != nil && ref.Kind == "DaemonSet" && owner.GroupOf(ref) == "apps" || pod.Spec.NodeSelector[corev1.LabelHostname] != ""
}
