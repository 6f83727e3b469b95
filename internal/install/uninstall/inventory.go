// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// maxLists is the maximum number of concurrent list requests.
const maxLists = 16

// NamespaceInventory lists all objects in a namespace, of every kind that the API server has.
// The deletion of a namespace deletes all of them. Both fields are required.
type NamespaceInventory struct {
	Served  discovery.ServerResourcesInterface
	Objects metadata.Interface
}

// NewNamespaceInventory returns an inventory of the API server of a configuration.
func NewNamespaceInventory(config *rest.Config) (NamespaceInventory, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // it reads all kinds, deprecated ones too
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return NamespaceInventory{}, err
	}
	objects, err := metadata.NewForConfig(config)
	return NamespaceInventory{Served: served, Objects: objects}, err
}

// unownedObjects returns the objects in a namespace that belong neither to etcd-webhook nor to
// Kubernetes itself. objects are known to be etcd-webhook's. It returns an error if it can't
// list all objects.
func (c NamespaceInventory) unownedObjects(ctx context.Context, namespace string, objects []Object) ([]Object, error) {
	all, err := c.listAll(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return unowned(all, objects), nil
}

// listAll returns all objects in a namespace.
func (c NamespaceInventory) listAll(ctx context.Context, namespace string) ([]Object, error) {
	served, err := c.Served.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("list the kinds of the API server: %w", err)
	}
	// A resource without delete, such as a metric, has no stored objects.
	served = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, served)
	var kinds []kind
	for _, group := range served {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range group.APIResources {
			kinds = append(kinds, kind{GroupVersionResource: gv.WithResource(r.Name), Kind: r.Kind})
		}
	}
	lists := make([][]Object, len(kinds))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxLists)
	for i, k := range kinds {
		group.Go(func() (err error) {
			lists[i], err = c.list(ctx, k, namespace)
			return err
		})
	}
	err = group.Wait()
	return slices.Concat(lists...), err
}

func (c NamespaceInventory) list(ctx context.Context, k kind, namespace string) ([]Object, error) {
	list, err := c.Objects.Resource(k.GroupVersionResource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) { // its definition was deleted meanwhile
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", k.GroupResource(), err)
	}
	var objects []Object
	for _, o := range list.Items {
		o.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind))
		objects = append(objects, Object{PartialObjectMetadata: o, Resource: k.Resource})
	}
	return objects, nil
}

// unowned returns the objects in a namespace that are neither ours nor Kubernetes'. An object
// whose owners are all ours is also ours.
func unowned(all, objects []Object) []Object {
	ours := map[types.UID]bool{}
	for _, p := range objects {
		ours[p.UID] = true
	}
	for more := true; more; {
		more = false
		for _, p := range all {
			if !ours[p.UID] && (p.ours() || p.belongsTo(ours)) {
				ours[p.UID], more = true, true
			}
		}
	}
	left := slices.DeleteFunc(all, func(p Object) bool { return ours[p.UID] || p.kubernetes() })
	slices.SortFunc(left, func(a, b Object) int { return cmp.Compare(a.String(), b.String()) })
	return left
}

func (p Object) ours() bool {
	if labels.SelectorFromSet(labels.Set(installed)).Matches(labels.Set(p.Labels)) {
		return true
	}
	group := p.GroupVersionKind().Group
	switch p.Resource {
	case "pods", "replicasets": // their Deployment may already be deleted
		return (group == "" || group == "apps") && p.Labels["app.kubernetes.io/name"] == programName
	case "leases": // a lock of a cluster stays if no user may delete it
		return group == "coordination.k8s.io" && (p.unlabelled() || p.lock())
	}
	return p.unlabelled()
}

// belongsTo reports whether the object has owners and all of them are among the given ones.
func (p Object) belongsTo(owners map[types.UID]bool) bool {
	return len(p.OwnerReferences) > 0 && !slices.ContainsFunc(p.OwnerReferences, func(r metav1.OwnerReference) bool { return !owners[r.UID] })
}

// kubernetes reports whether Kubernetes creates the object in every namespace, or for other
// objects.
func (p Object) kubernetes() bool {
	switch gr := (schema.GroupResource{Group: p.GroupVersionKind().Group, Resource: p.Resource}); gr.String() {
	case "serviceaccounts":
		return p.Name == "default"
	case "configmaps":
		return p.Name == "kube-root-ca.crt"
	case "events", "events.events.k8s.io":
		return true
	}
	return false
}
