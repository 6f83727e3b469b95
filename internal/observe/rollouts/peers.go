// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

// PeersMove reports whether a template has the members of a cluster listen for peers on other schemes or ports
// than a pod, or the template from before. It is false where either doesn't show them, and where a program
// manages the members: it may update etcd's member list itself.
func PeersMove(o owner.Owner, before, after *corev1.Pod) bool {
	if m := o.Membership().Manager; m != flavour.Unmanaged && m != flavour.BySets {
		return false // members of several StatefulSets have no program that would follow them
	}
	old, shown := etcdconf.PeerConfigOfPod(before)
	next, both := etcdconf.PeerConfigOfPod(after)
	return shown && both && etcdconf.PeersMove(old, next)
}

// addPeers adds which outdated pods listen for peers on others than the newest template.
func (o *State) addPeers(of owner.Owner) {
	for i, set := range o.Sets {
		if set.Record == nil {
			continue
		}
		pods := o.Facts.Sets[i].Pods
		for at := range pods {
			pod := o.Pods[pods[at].Pod]
			pods[at].PeersMove = pod != nil && !pods[at].Updated && PeersMove(of, pod, etcdconf.PodOfTemplate(set.StatefulSet))
		}
	}
}

// readyPods returns the pods of a StatefulSet that are Ready, from the API server: a cache has no flags of pods.
func readyPods(ctx context.Context, r *observe.Reader, o owner.Owner, sts *appsv1.StatefulSet) ([]*corev1.Pod, error) {
	w, err := r.ByName().Workload(ctx, o)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(w.Pods, func(pod *corev1.Pod) bool {
		ref := metav1.GetControllerOfNoCopy(pod)
		return ref == nil || ref.UID != sts.UID || pod.DeletionTimestamp != nil || !podstate.Ready(pod)
	}), nil
}

// PeersStay reports whether every pod of a StatefulSet that is Ready shows that it listens for peers as in the
// template, as after the template from before was restored.
func PeersStay(ctx context.Context, r *observe.Reader, o owner.Owner, sts *appsv1.StatefulSet) (bool, error) {
	pods, err := readyPods(ctx, r, o, sts)
	if err != nil {
		return false, err
	}
	template := etcdconf.PodOfTemplate(sts)
	return !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		_, shown := etcdconf.PeerConfigOfPod(pod)
		return !shown || PeersMove(o, pod, template)
	}), nil
}

// anyPeersMove reports whether a pod of a StatefulSet that is Ready listens for peers on others than its template
// in the API server.
func anyPeersMove(ctx context.Context, r *observe.Reader, o owner.Owner, sts *appsv1.StatefulSet) (bool, error) {
	var now appsv1.StatefulSet
	if err := r.Uncached().Get(ctx, client.ObjectKeyFromObject(sts), &now); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	pods, err := readyPods(ctx, r, o, &now)
	if err != nil {
		return false, err
	}
	template := etcdconf.PodOfTemplate(&now)
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return PeersMove(o, pod, template) }), nil
}
