// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// Denial is a kind of object that the user may not read.
type Denial struct {
	// Resource is the plural that a Role names, such as pods.
	Resource string
	// Err is the API server's answer.
	Err error
}

// Preload lists all objects that facts are made of, in parallel, and returns a reader over
// the result. It is for commands about many clusters, and for users who may not read every
// kind. An empty namespace means all namespaces. A kind that the user may not list reads as
// if there were none of it, and is among the denials, which have a fixed order. Nodes are
// listed only with withNodes, or when many are asked for: there may be thousands. One that is not in a list is read by
// its name, once, until the user may not.
//
// Over all namespaces it keeps the pods of Deployments and DaemonSets, which are most, only if
// they may run etcd, or if these declare it.
// The reader reads kinds that aren't preloaded when it is asked for them.
func Preload(ctx context.Context, from client.Reader, namespace string, withNodes bool) (client.Reader, []Denial, error) {
	kinds := preloadedKinds(namespace)
	store := &preloaded{fallback: from, nodes: &nodesOnce{Reader: Once(from)}, objects: map[reflect.Type][]client.Object{}, forbidden: map[reflect.Type]bool{}}
	refusals := make([]error, len(kinds))
	var missing []corev1.Pod
	group, within := errgroup.WithContext(ctx)
	for i, k := range kinds {
		store.objects[elementOf(k.list)] = nil
		if k.resource == resourceNodes && !withNodes {
			continue
		}
		group.Go(func() (err error) {
			refusals[i], err = k.read(within, from, namespace)
			return err
		})
	}
	if namespace == "" {
		group.Go(func() (err error) {
			missing, err = declaredPods(within, from)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	var denials []Denial
	for i, k := range kinds {
		if refusals[i] != nil {
			denials = append(denials, Denial{k.resource, refusals[i]})
			store.forbidden[elementOf(k.list)] = true
		}
		if err := store.add(k.list); err != nil {
			return nil, nil, err
		}
	}
	store.addPods(missing)
	return store, denials, nil
}

// preloadedKind is a kind of objects that Preload lists.
type preloadedKind struct {
	resource string
	list     client.ObjectList
	opts     []client.ListOption
}

// The resources that are listed in their own way.
const (
	resourceNodes = "nodes"
	resourcePods  = "pods"
)

// preloadedKinds returns the kinds of objects that facts are made of.
func preloadedKinds(namespace string) []preloadedKind {
	return []preloadedKind{
		{"etcds." + druidv1alpha1.GroupName, &druidv1alpha1.EtcdList{}, nil},
		{"statefulsets.apps", &appsv1.StatefulSetList{}, nil},
		{resourcePods, &corev1.PodList{}, nil},
		{"services", &corev1.ServiceList{}, nil},
		{"poddisruptionbudgets.policy", &policyv1.PodDisruptionBudgetList{}, nil},
		{"leases.coordination.k8s.io", &coordinationv1.LeaseList{}, leasesOf(namespace)},
		{resourceNodes, &corev1.NodeList{}, nil},
	}
}

// read fills in the list. It returns a refusal if the user may not list the kind, and lists nothing of one that the
// API server doesn't serve.
func (k preloadedKind) read(ctx context.Context, from client.Reader, namespace string) (refusal, err error) {
	list, opts := from.List, k.opts
	if k.resource != resourceNodes {
		opts = append(opts, client.InNamespace(namespace))
	}
	if k.resource == resourcePods && namespace == "" {
		list = memberPods{from}.List
	}
	switch err := list(ctx, k.list, opts...); {
	case apierrors.IsForbidden(err):
		return err, nil
	case err != nil && !meta.IsNoMatchError(err):
		return nil, fmt.Errorf("list %s: %w", k.resource, err)
	}
	return nil, nil
}

// podsAtOnce is how many pods of all namespaces are read at once.
const podsAtOnce = 500

// memberPods lists pods in portions, and keeps those that may be members or counted by a
// member's budget.
type memberPods struct{ from client.Reader }

// List fills in list, which must be of pods.
func (m memberPods) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	kept, others := list.(*corev1.PodList), memberCandidates() //nolint:forcetypeassert // as documented
	for next := ""; ; {
		var portion corev1.PodList
		if err := m.from.List(ctx, &portion, append(opts, client.Limit(podsAtOnce), client.Continue(next))...); err != nil {
			return err
		}
		for i := range portion.Items {
			pod := &portion.Items[i]
			if others.Matches(labels.Set(pod.Labels)) || etcdconf.MayRunEtcd(pod) {
				kept.Items = append(kept.Items, *pod)
			}
		}
		if next = portion.Continue; next == "" {
			return nil
		}
	}
}

// leasesOf returns options that, over all namespaces, leave out the leases of nodes and
// controllers.
func leasesOf(namespace string) []client.ListOption {
	if namespace != "" {
		return nil
	}
	return []client.ListOption{client.MatchingLabels{druidv1alpha1.LabelManagedByKey: druidv1alpha1.LabelManagedByValue}}
}

// preloaded is a client.Reader over objects in memory. Kinds that it doesn't hold it reads
// from fallback.
type preloaded struct {
	fallback client.Reader
	// nodes gets those that it doesn't hold. A node may be newer than the list.
	nodes   client.Reader
	objects map[reflect.Type][]client.Object
	// forbidden are the kinds that the user may not list.
	forbidden map[reflect.Type]bool
}

func (p *preloaded) add(list client.ObjectList) error {
	objects, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	kind := elementOf(list)
	for _, o := range objects {
		if object, ok := o.(client.Object); ok {
			p.objects[kind] = append(p.objects[kind], object)
		}
	}
	return nil
}

// addPods adds the pods that it doesn't hold yet.
func (p *preloaded) addPods(pods []corev1.Pod) {
	kind := reflect.TypeFor[*corev1.Pod]()
	held := map[types.UID]bool{}
	for _, o := range p.objects[kind] {
		held[o.GetUID()] = true
	}
	for i := range pods {
		if !p.forbidden[kind] && !held[pods[i].UID] {
			held[pods[i].UID] = true
			p.objects[kind] = append(p.objects[kind], &pods[i])
		}
	}
}

// Get implements client.Reader.
func (p *preloaded) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	kind := reflect.TypeOf(obj)
	objects, has := p.objects[kind]
	at := slices.IndexFunc(objects, func(o client.Object) bool { return o.GetName() == key.Name && o.GetNamespace() == key.Namespace })
	if at >= 0 {
		reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(objects[at].DeepCopyObject()).Elem())
		return nil
	}
	if _, node := obj.(*corev1.Node); node {
		return p.nodes.Get(ctx, key, obj, opts...)
	}
	_, lease := obj.(*coordinationv1.Lease)
	if !has {
		return p.fallback.Get(ctx, key, obj, opts...)
	}
	if lease && !p.forbidden[kind] {
		// Over all namespaces only druid's leases were listed.
		return p.fallback.Get(ctx, key, obj, opts...)
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: kind.Elem().Name()}, key.Name)
}

// List implements client.Reader. The objects in the list are shared and must not be changed.
func (p *preloaded) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	objects, has := p.objects[elementOf(list)]
	if !has {
		return p.fallback.List(ctx, list, opts...)
	}
	var by client.ListOptions
	by.ApplyOptions(opts)
	var found []runtime.Object
	for _, o := range objects {
		if (by.Namespace == "" || by.Namespace == o.GetNamespace()) &&
			(by.LabelSelector == nil || by.LabelSelector.Matches(labels.Set(o.GetLabels()))) {
			found = append(found, o)
		}
	}
	return meta.SetList(list, found)
}

// elementOf returns the pointer type of a list's objects.
func elementOf(list client.ObjectList) reflect.Type {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		panic(err) // callers pass lists only
	}
	return reflect.PointerTo(reflect.TypeOf(items).Elem().Elem())
}
