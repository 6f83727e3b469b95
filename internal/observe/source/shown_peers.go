// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// ShownPeersOf returns the entries that a pod without a StatefulSet shows. Of a cached pod it returns
// what keepShownPeers has kept.
func ShownPeersOf(pod *corev1.Pod) etcdconf.ShownPeers {
	if shown, cached := kept[etcdconf.ShownPeers](pod, peersKey); cached {
		return shown
	}
	return etcdconf.PeersOfPod(pod)
}

// keepShownPeers records what a pod shows before its commands are dropped. The members of a StatefulSet
// are known by its template. Where the pod itself shows no etcd, its workload may declare it later.
func keepShownPeers(pod *corev1.Pod) {
	if by := metav1.GetControllerOfNoCopy(pod); by != nil && by.Kind == "StatefulSet" && strings.HasPrefix(by.APIVersion, appsv1.GroupName+"/") {
		return
	}
	keep(pod, peersKey, func(pod *corev1.Pod) etcdconf.ShownPeers {
		if !etcdconf.RunsEtcd(pod) {
			return etcdconf.ShownPeers{Unknown: "the pod itself shows no etcd"}
		}
		shown := etcdconf.PeersOfPod(pod)
		if !fits(shown) {
			return etcdconf.ShownPeers{Unknown: fmt.Sprintf("its list of members has %d entries, and is too long", len(shown.Listed))}
		}
		return shown
	})
}
