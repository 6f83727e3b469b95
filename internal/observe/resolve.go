// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// NotFoundError is returned for a target that names no etcd cluster.
type NotFoundError struct {
	Namespace string
	Target    owner.Target
	// Reason is what was found instead, empty for nothing.
	Reason string
	// Candidates are the clusters of the namespace, each as a target.
	Candidates []string
	// Hinted are the workloads that the target names, or those of the namespace where it names
	// none, that may run etcd.
	Hinted []Candidate
}

func (e *NotFoundError) Error() string {
	if len(e.Hinted) > 0 {
		return e.hinted()
	}
	text := fmt.Sprintf("no etcd cluster in namespace %s", e.Namespace)
	if e.Target.Name != "" {
		text = fmt.Sprintf("%s is no etcd cluster in namespace %s", e.Target, e.Namespace)
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if len(e.Candidates) > 0 {
		return text + "; there is " + strings.Join(e.Candidates, ", ")
	}
	return text + "; kubectl etcd list -A shows those of all namespaces"
}

// AmbiguousError is returned for a target that names several etcd clusters.
type AmbiguousError struct {
	Namespace string
	Target    owner.Target
	// Candidates are the clusters, each as a target.
	Candidates []string
}

func (e *AmbiguousError) Error() string {
	if e.Target.Name == "" {
		return fmt.Sprintf("namespace %s has %d etcd clusters; name one of %s", e.Namespace, len(e.Candidates), strings.Join(e.Candidates, ", "))
	}
	return fmt.Sprintf("%s may be any of %d etcd clusters in namespace %s; name one of %s", e.Target, len(e.Candidates), e.Namespace, strings.Join(e.Candidates, ", "))
}

// Resolve returns the cluster that a target names. The error may be a *NotFoundError or an
// *AmbiguousError, which list the clusters that exist. An Etcd and its StatefulSet are one cluster,
// which belongs to the Etcd. A name without a type is that of a cluster, and where there is no such
// cluster, that of a Service or pod.
func (r *Reader) Resolve(ctx context.Context, namespace string, t owner.Target) (owner.Owner, error) {
	if t.Name == "" {
		return r.onlyCluster(ctx, namespace, t)
	}
	var why string
	var refused error
	for _, finders := range r.finders(t.Kind) {
		var found []owner.Owner
		for _, one := range finders {
			owners, reported, err := one(ctx, types.NamespacedName{Namespace: namespace, Name: t.Name})
			if err != nil {
				// A user may have permission to read one kind and not another.
				refused = errors.Join(refused, err)
			}
			if reported != "" {
				why = reported
			}
			found = append(found, owners...)
		}
		found = distinct(found)
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		return owner.Owner{}, &AmbiguousError{Namespace: namespace, Target: t, Candidates: targets(found)}
	}
	if refused != nil {
		return owner.Owner{}, refused
	}
	// This is only for the names in the error. A user who may not list gets none.
	all, err := r.Clusters(ctx, client.InNamespace(namespace))
	if err != nil {
		all = nil
	}
	if why == "" {
		why = r.claimsLeft(ctx, namespace, t)
	}
	return owner.Owner{}, &NotFoundError{Namespace: namespace, Target: t, Reason: why, Candidates: targets(all), Hinted: r.hinted(ctx, namespace, t)}
}

// onlyCluster returns the only cluster of a namespace.
func (r *Reader) onlyCluster(ctx context.Context, namespace string, t owner.Target) (owner.Owner, error) {
	all, err := r.Clusters(ctx, client.InNamespace(namespace))
	if err != nil {
		return owner.Owner{}, err
	}
	// With one that is not known, the one that is known need not be the only one.
	if err := r.unread(namespace, func(string) bool { return len(all) < 2 }); err != nil {
		return owner.Owner{}, err
	}
	switch len(all) {
	case 0:
		return owner.Owner{}, &NotFoundError{Namespace: namespace, Target: t, Hinted: r.hinted(ctx, namespace, t)}
	case 1:
		return all[0], nil
	}
	return owner.Owner{}, &AmbiguousError{Namespace: namespace, Target: t, Candidates: targets(all)}
}

// Clusters lists all etcd clusters: those of Owners, and those of pods without a StatefulSet.
func (r *Reader) Clusters(ctx context.Context, opts ...client.ListOption) ([]owner.Owner, error) {
	owners, err := r.Owners(ctx, opts...)
	if err != nil {
		return nil, err
	}
	pods, err := r.podsAsDeclared(ctx, opts...)
	if err != nil {
		return nil, err
	}
	mixed, err := r.mixed(ctx, pods, opts...)
	return owner.WithPods(append(owners, owner.OfPods(pods)...), mixed), err
}

// finder returns the clusters of a name, or what it found instead.
type finder func(ctx context.Context, key types.NamespacedName) (owners []owner.Owner, why string, err error)

// finders returns the finders for a kind of target, in steps. A later step counts only where all
// before found nothing.
func (r *Reader) finders(kind string) [][]finder {
	switch kind {
	case "etcd":
		return [][]finder{{r.findEtcd}}
	case "statefulset":
		return [][]finder{{r.findStatefulSet}}
	case "service":
		return [][]finder{{r.findByService}}
	case "pod":
		return [][]finder{{r.findByPod}}
	case "etcdcluster":
		return [][]finder{{r.findEtcdCluster}}
	case "deployment", "daemonset", "replicaset":
		return [][]finder{{r.findByController(kind)}}
	}
	return [][]finder{{r.findEtcd, r.findStatefulSet}, {r.findPods}, {r.findByService, r.findByPod}}
}

func (r *Reader) findEtcd(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	owner, found, err := r.OwnerOfEtcd(ctx, key)
	if err != nil {
		return nil, "", fmt.Errorf("observe Etcd %s: %w", key, err)
	}
	return atMostOne(owner, found), "", nil
}

func (r *Reader) findStatefulSet(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
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
		return nil, "its StatefulSet has no container that is known to run etcd", r.unread(key.Namespace, func(name string) bool { return name == key.Name })
	}
	return atMostOne(owner, runs), "", err
}

// findPods finds a cluster whose pods are no StatefulSet's.
func (r *Reader) findPods(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	pods, err := r.podsAsDeclared(ctx, client.InNamespace(key.Namespace))
	if err != nil {
		return nil, "", err
	}
	owners := slices.DeleteFunc(owner.OfPods(pods), func(o owner.Owner) bool { return o.Name != key.Name })
	owners, err = r.withMixed(ctx, key.Namespace, owners, pods)
	return owners, "", err
}

// findByController finds the clusters of the pods that a controller of a kind made.
func (r *Reader) findByController(kind string) finder {
	return func(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
		pods, err := r.podsAsDeclared(ctx, client.InNamespace(key.Namespace))
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
		owners, err = r.withMixed(ctx, key.Namespace, owners, pods)
		return owners, "", err
	}
}

// findEtcdCluster finds the cluster of any of the operators whose kind is so called.
func (r *Reader) findEtcdCluster(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	all, err := r.Clusters(ctx, client.InNamespace(key.Namespace))
	all = slices.DeleteFunc(all, func(o owner.Owner) bool {
		made := o.Controller != nil && o.Controller.Kind == owner.EtcdClusterKind && o.Controller.Name == key.Name
		return !made && (o.Kind != owner.EtcdClusterKind || o.Name != key.Name)
	})
	if err == nil && len(all) == 0 {
		err = r.unread(key.Namespace, func(string) bool { return true })
	}
	return all, "", err
}

func (r *Reader) findByPod(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
	var pod corev1.Pod
	found, err := r.Fetch(ctx, key.Namespace, key.Name, &pod)
	if err != nil {
		return nil, "", fmt.Errorf("observe pod %s: %w", key, err)
	}
	if !found {
		return nil, "", nil
	}
	owner, runs, err := r.clusterOfPod(ctx, &pod)
	if err == nil && !runs {
		ref := metav1.GetControllerOfNoCopy(&pod)
		return nil, "nothing shows that its pod runs a member of an etcd cluster",
			r.unread(key.Namespace, func(name string) bool { return ref != nil && ref.Kind == "StatefulSet" && ref.Name == name })
	}
	return atMostOne(owner, runs), "", err
}

// findByService finds the clusters of the pods behind a Service, also while
// client traffic is cut.
func (r *Reader) findByService(ctx context.Context, key types.NamespacedName) ([]owner.Owner, string, error) {
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
		w, err := r.workload(ctx, owner)
		if err != nil {
			return nil, "", err
		}
		if w.servedBy(&service) {
			owners = append(owners, owner)
		}
	}
	if len(owners) == 0 {
		return nil, "its Service selects no pod that is known to run etcd", r.unread(key.Namespace, func(string) bool { return true })
	}
	return owners, "", nil
}

// clusterOfPod returns the cluster of a pod, also of a pod without a StatefulSet.
func (r *Reader) clusterOfPod(ctx context.Context, pod *corev1.Pod) (owner.Owner, bool, error) {
	if owner, found, err := r.OwnerOfPod(ctx, pod); err != nil || found {
		return owner, found, err
	}
	pods, err := r.podsAsDeclared(ctx, client.InNamespace(pod.Namespace))
	if err != nil {
		return owner.Owner{}, false, err
	}
	for _, g := range owner.GroupPods(pods) {
		if slices.ContainsFunc(g.Pods, func(p *corev1.Pod) bool { return p.Name == pod.Name }) {
			owners, err := r.withMixed(ctx, pod.Namespace, []owner.Owner{g.Owner}, pods)
			if err != nil {
				return owner.Owner{}, false, err
			}
			return owners[0], true, nil
		}
	}
	return owner.Owner{}, false, nil
}

func atMostOne(o owner.Owner, found bool) []owner.Owner {
	if !found {
		return nil
	}
	return []owner.Owner{o}
}

func distinct(owners []owner.Owner) []owner.Owner {
	var out []owner.Owner
	for _, o := range owners {
		if !slices.ContainsFunc(out, func(have owner.Owner) bool { return have.Key() == o.Key() }) {
			out = append(out, o)
		}
	}
	return out
}

func targets(owners []owner.Owner) []string {
	var out []string
	for _, o := range owners {
		out = append(out, o.Target().String())
	}
	return out
}
