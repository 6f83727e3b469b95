// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

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
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Denial is a kind of object that the user may not read.
type Denial struct {
	// Resource is the plural that a Role names, such as pods.
	Resource string
	// Err is the API server's refusal.
	Err error
}

// Preload reads everything that facts are made of, at once, and returns a Reader
// over what it got: for one who wants to know of many clusters, or who may not
// read all of it. namespace is empty for all of them. A kind that the user may
// not read is as if there were none of it, and is among the denials, which are
// in a fixed order. Nodes are only read when withNodes says so: there may be
// thousands, and only zones come of them.
//
// In all namespaces pods of Deployments and DaemonSets, which are most, are
// left out. What isn't preloaded the Reader reads when it is asked.
func (r *Reader) Preload(ctx context.Context, namespace string, withNodes bool) (*Reader, []Denial, error) {
	lists := []struct {
		resource string
		list     client.ObjectList
		opts     []client.ListOption
	}{
		{"etcds.druid.gardener.cloud", &druidv1alpha1.EtcdList{}, nil},
		{"statefulsets.apps", &appsv1.StatefulSetList{}, nil},
		{"pods", &corev1.PodList{}, podsOf(namespace)},
		{"services", &corev1.ServiceList{}, nil},
		{"poddisruptionbudgets.policy", &policyv1.PodDisruptionBudgetList{}, nil},
		{"leases.coordination.k8s.io", &coordinationv1.LeaseList{}, leasesOf(namespace)},
		{"nodes", &corev1.NodeList{}, nil},
	}
	store := &preloaded{fallback: r.Reader, objects: map[reflect.Type][]client.Object{}, forbidden: map[reflect.Type]bool{}}
	refusals := make([]error, len(lists))
	group, within := errgroup.WithContext(ctx)
	for i, l := range lists {
		store.objects[elementOf(l.list)] = nil
		if l.resource == "nodes" && !withNodes {
			continue
		}
		opts := l.opts
		if l.resource != "nodes" {
			opts = append(opts, client.InNamespace(namespace))
		}
		group.Go(func() error {
			err := r.List(within, l.list, opts...)
			if apierrors.IsForbidden(err) {
				refusals[i] = err
				return nil
			}
			if meta.IsNoMatchError(err) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("list %s: %w", l.resource, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	var denials []Denial
	for i, l := range lists {
		if refusals[i] != nil {
			denials = append(denials, Denial{l.resource, refusals[i]})
			store.forbidden[elementOf(l.list)] = true
		}
		if err := store.add(l.list); err != nil {
			return nil, nil, err
		}
	}
	return &Reader{Reader: store, Leases: r.Leases}, denials, nil
}

func podsOf(namespace string) []client.ListOption {
	if namespace != "" {
		return nil
	}
	return []client.ListOption{client.MatchingLabelsSelector{Selector: memberCandidates()}}
}

// leasesOf leaves out, over all namespaces, the leases of nodes and controllers.
func leasesOf(namespace string) []client.ListOption {
	if namespace != "" {
		return nil
	}
	return []client.ListOption{client.MatchingLabels{druidv1alpha1.LabelManagedByKey: druidv1alpha1.LabelManagedByValue}}
}

// preloaded is a client.Reader over objects in memory, and beyond for kinds that
// it doesn't hold.
type preloaded struct {
	fallback client.Reader
	objects   map[reflect.Type][]client.Object
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

// Get implements client.Reader.
func (p *preloaded) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	kind := reflect.TypeOf(obj)
	objects, has := p.objects[kind]
	at := slices.IndexFunc(objects, func(o client.Object) bool { return o.GetName() == key.Name && o.GetNamespace() == key.Namespace })
	if at >= 0 {
		reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(objects[at].DeepCopyObject()).Elem())
		return nil
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

// List implements client.Reader. Objects in the list are shared: nothing may
// change them.
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

// elementOf is the type of a list's objects, as a pointer.
func elementOf(list client.ObjectList) reflect.Type {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		panic(err) // only lists come here
	}
	return reflect.PointerTo(reflect.TypeOf(items).Elem().Elem())
}
