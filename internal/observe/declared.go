// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// declared returns a member's pod with the declaration that counts for it: the Etcd's, the
// StatefulSet's, its own. A template may have declared it after the pod was created. A pod that no StatefulSet
// made has its own alone.
func (w *Workload) declared(pod *corev1.Pod) *corev1.Pod {
	if w.StatefulSet == nil || w.owner.IsBeside(pod.Name) {
		return pod
	}
	var ofEtcd map[string]string
	if w.etcd != nil {
		ofEtcd = w.etcd.Annotations
	}
	sts := w.StatefulSet
	for _, set := range w.Sets() {
		if owner.Made(set, pod) {
			sts = set
		}
	}
	return etcdconf.AsDeclared(pod, ofEtcd, sts.Annotations, pod.Annotations, sts.Spec.Template.Annotations)
}

// declaredBySet returns a pod with its StatefulSet's declaration, and whether that StatefulSet
// exists.
func (r *Reader) declaredBySet(ctx context.Context, pod *corev1.Pod) (_ *corev1.Pod, standing bool, err error) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind != "StatefulSet" || owner.GroupOf(ref) != appsv1.GroupName {
		return pod, true, nil
	}
	var sts appsv1.StatefulSet
	found, err := r.Fetch(ctx, pod.Namespace, ref.Name, &sts)
	if err != nil || !found || sts.UID != ref.UID {
		return pod, false, err
	}
	return etcdconf.AsDeclared(pod, sts.Annotations, pod.Annotations, sts.Spec.Template.Annotations), true, nil
}

// PodsAsDeclared lists pods with the declarations of their Deployments, DaemonSets and ReplicaSets.
func (r *Reader) PodsAsDeclared(ctx context.Context, opts ...client.ListOption) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, opts...); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	var by client.ListOptions
	by.ApplyOptions(opts)
	free, err := r.withoutReleased(ctx, by.Namespace, pods.Items)
	if err != nil {
		return nil, err
	}
	return free, r.Declare(ctx, by.Namespace, free)
}

// withoutReleased returns the pods without those that a StatefulSet made and released. It lists StatefulSets only
// if such pods are there. Where the user may not list them, such a pod counts as one without a StatefulSet.
func (r *Reader) withoutReleased(ctx context.Context, namespace string, pods []corev1.Pod) ([]corev1.Pod, error) {
	if !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return owner.IsReleased(&pod) }) {
		return pods, nil
	}
	var sets appsv1.StatefulSetList
	err := r.List(ctx, &sets, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)
	if apierrors.IsForbidden(err) {
		return pods, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool {
		return owner.IsReleased(&pod) && slices.ContainsFunc(sets.Items, func(sts appsv1.StatefulSet) bool {
			return sts.Namespace == pod.Namespace && owner.Made(&sts, &pod)
		})
	}), nil
}

// declarers returns the kinds other than StatefulSets with an annotation that declares their pods.
func declarers() map[string]client.ObjectList {
	return map[string]client.ObjectList{
		"Deployment": &appsv1.DeploymentList{}, "DaemonSet": &appsv1.DaemonSetList{}, "ReplicaSet": &appsv1.ReplicaSetList{},
	}
}

// DeclaresPods reports whether an annotation of a workload of a kind other than StatefulSet declares its pods.
func DeclaresPods(kind string) bool { return declarers()[kind] != nil }

// Declare replaces pods by those with the declarations of their Deployments, DaemonSets and
// ReplicaSets. It lists a kind only if pods of it are there. Where the user may not list it, the
// pods' own annotations count. Only the plugin asks for them: the manager judges no such pods.
func (r *Reader) Declare(ctx context.Context, namespace string, pods []corev1.Pod) error {
	if r.Live != nil {
		return nil
	}
	type key struct{ kind, namespace, name string }
	made := map[key][]int{}
	kinds := declarers()
	lists := map[string]client.ObjectList{}
	for i := range pods {
		ref := metav1.GetControllerOfNoCopy(&pods[i])
		if ref == nil || owner.GroupOf(ref) != appsv1.GroupName {
			continue
		}
		top := owner.TopController(&pods[i], ref)
		if list := kinds[top.Kind]; list != nil {
			lists[top.Kind] = list
			made[key{top.Kind, pods[i].Namespace, top.Name}] = append(made[key{top.Kind, pods[i].Namespace, top.Name}], i)
		}
	}
	for kind, list := range lists {
		err := r.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)
		if apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("list %ss: %w", kind, err)
		}
		err = meta.EachListItem(list, func(o runtime.Object) error {
			owner, err := meta.Accessor(o)
			if err != nil {
				return err
			}
			for _, i := range made[key{kind, owner.GetNamespace(), owner.GetName()}] {
				pods[i] = *etcdconf.AsDeclared(&pods[i], owner.GetAnnotations())
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
