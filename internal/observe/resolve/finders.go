// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// finder returns the clusters of a name, or what it found instead.
type finder func(ctx context.Context, key types.NamespacedName) (owners []owner.Owner, why string, err error)

// finding finds clusters by what a reader reads.
type finding struct{ *observe.Reader }

// finders returns the finders for a kind of target, in steps. A later step counts only where all
// before found nothing.
func (r finding) finders(kind string) [][]finder {
	switch kind {
	case "etcd":
		return [][]finder{{r.findEtcd}}
	case "statefulset":
		return [][]finder{{r.findStatefulSet}}
	case "service":
		return [][]finder{{r.findByService}}
	case "pod":
		return [][]finder{{r.findByPod}}
	case "deployment", "daemonset", "replicaset":
		return [][]finder{{r.findByController(kind)}}
	case "":
		return [][]finder{{r.findEtcd, r.findStatefulSet}, {r.findPods}, {r.findByService, r.findByPod}}
	}
	return [][]finder{{r.findByOperatorsKind(kind)}}
}

func (r finding) findEtcd(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	owner, found, err := r.OwnerOfEtcd(ctx, key)
	if err != nil {
		return nil, "", fmt.Errorf("observe Etcd %s: %w", key, err)
	}
	return atMostOne(owner, found), "", nil
}

func (r finding) findStatefulSet(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	var sts appsv1.StatefulSet
	found, err := r.Fetch(ctx, key.Namespace, key.Name, &sts)
	if err != nil {
		return nil, "", fmt.Errorf("observe StatefulSet %s: %w", key, err)
	}
	if !found {
		return nil, "", nil
	}
	owner, runs, err := r.OwnerOfStatefulSet(ctx, &sts)
	if err == nil && !runs {
		return nil, "its StatefulSet has no container that is known to run etcd", unreadNamed(r.Scripts, key.Namespace, func(name string) bool { return name == key.Name })
	}
	return atMostOne(owner, runs), "", err
}

// findPods finds a cluster whose pods are no StatefulSet's.
func (r finding) findPods(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	pods, err := r.PodsAsDeclared(ctx, client.InNamespace(key.Namespace))
	if err != nil {
		return nil, "", err
	}
	owners := slices.DeleteFunc(owner.OfPods(pods), func(o owner.Owner) bool { return o.Name != key.Name })
	owners, err = r.WithMixed(ctx, key.Namespace, owners, pods)
	return owners, "", err
}

// findByController finds the clusters of the pods that a controller of a kind made.
func (r finding) findByController(kind string) finder {
	return func(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
		pods, err := r.PodsAsDeclared(ctx, client.InNamespace(key.Namespace))
		if err != nil {
			return nil, "", err
		}
		var owners []owner.Owner
		for _, g := range owner.GroupPods(pods) {
			if slices.ContainsFunc(g.Pods, func(pod *corev1.Pod) bool {
				o := owner.OfPod(pod)
				return strings.EqualFold(o.Kind, kind) && o.Name == key.Name
			}) {
				owners = append(owners, g.Owner)
			}
		}
		if len(owners) == 0 {
			return nil, "none of its pods shows that it runs etcd", nil
		}
		owners, err = r.WithMixed(ctx, key.Namespace, owners, pods)
		return owners, "", err
	}
}

// findByOperatorsKind finds the cluster of any of the operators whose objects have a kind of this name.
func (r finding) findByOperatorsKind(kind string) finder {
	return func(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
		all, err := r.Clusters(ctx, client.InNamespace(key.Namespace))
		all = slices.DeleteFunc(all, func(o owner.Owner) bool {
			made := o.Controller != nil && strings.EqualFold(o.Controller.Kind, kind) && o.Controller.Name == key.Name
			return !made && (!strings.EqualFold(o.Kind, kind) || o.Name != key.Name)
		})
		if err == nil && len(all) == 0 {
			err = unreadNamed(r.Scripts, key.Namespace, func(string) bool { return true })
		}
		return all, "", err
	}
}

func (r finding) findByPod(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	var pod corev1.Pod
	found, err := r.Fetch(ctx, key.Namespace, key.Name, &pod)
	if err != nil {
		return nil, "", fmt.Errorf("observe pod %s: %w", key, err)
	}
	if !found {
		return nil, "", nil
	}
	owner, runs, err := r.ClusterOfPod(ctx, &pod)
	if err == nil && !runs {
		ref := metav1.GetControllerOfNoCopy(&pod)
		return nil, "nothing shows that its pod runs a member of an etcd cluster",
			unreadNamed(r.Scripts, key.Namespace, func(name string) bool { return ref != nil && ref.Kind == "StatefulSet" && ref.Name == name })
	}
	return atMostOne(owner, runs), "", err
}

// findByService finds the clusters of the pods behind a Service, also while
// client traffic is cut.
func (r finding) findByService(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	var service corev1.Service
	found, err := r.Fetch(ctx, key.Namespace, key.Name, &service)
	if err != nil {
		return nil, "", fmt.Errorf("observe Service %s: %w", key, err)
	}
	if !found {
		return nil, "", nil
	}
	all, err := r.Clusters(ctx, client.InNamespace(key.Namespace))
	if err != nil {
		return nil, "", err
	}
	var owners []owner.Owner
	for _, owner := range all {
		w, err := r.Workload(ctx, owner)
		if err != nil {
			return nil, "", err
		}
		if w.ServedBy(&service) {
			owners = append(owners, owner)
		}
	}
	if len(owners) == 0 {
		return nil, "its Service selects no pod that is known to run etcd", unreadNamed(r.Scripts, key.Namespace, func(string) bool { return true })
	}
	return owners, "", nil
}

func atMostOne(o owner.Owner, found bool) []owner.Owner {
	if !found {
		return nil
	}
	return []owner.Owner{o}
}
