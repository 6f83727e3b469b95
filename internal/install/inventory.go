// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

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
)

// listsAtOnce is how many kinds are listed at the same time.
const listsAtOnce = 16

// NamespaceInventory sees what lives in a namespace, of every kind that the API server has: who
// deletes a namespace deletes all of that. Both are needed.
type NamespaceInventory struct {
	Served  discovery.ServerResourcesInterface
	Objects metadata.Interface
}

// unownedObjects are what lives in a namespace and is neither ours, the pieces among it,
// nor Kubernetes' own. Where not everything can be seen, that is an error.
func (c NamespaceInventory) unownedObjects(ctx context.Context, namespace string, pieces []Object) ([]Object, error) {
	all, err := c.listAll(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return unowned(all, pieces), nil
}

// listAll are all that goes with a namespace.
func (c NamespaceInventory) listAll(ctx context.Context, namespace string) ([]Object, error) {
	served, err := c.Served.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("ask which kinds there are: %w", err)
	}
	// What can't be deleted is no object, such as metrics.
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
	group.SetLimit(listsAtOnce)
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
	if apierrors.IsNotFound(err) { // its definition went meanwhile
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", k.GroupResource(), err)
	}
	var pieces []Object
	for _, o := range list.Items {
		o.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind))
		pieces = append(pieces, Object{PartialObjectMetadata: o, Resource: k.Resource})
	}
	return pieces, nil
}

// unowned are those of a namespace's residents that are neither ours nor Kubernetes'.
// What belongs to ours is ours; what has another owner besides isn't.
func unowned(all, pieces []Object) []Object {
	ours := map[types.UID]bool{}
	for _, p := range pieces {
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
	case "pods", "replicasets": // whose Deployment may be gone already
		return (group == "" || group == "apps") && p.Labels["app.kubernetes.io/name"] == programName
	case "leases": // and the locks of clusters, which stay behind where nobody may delete them
		return group == "coordination.k8s.io" && (p.unlabelled() || p.lock())
	}
	return p.unlabelled()
}

// belongsTo says that somebody owns it, and nobody but those.
func (p Object) belongsTo(owners map[types.UID]bool) bool {
	return len(p.OwnerReferences) > 0 && !slices.ContainsFunc(p.OwnerReferences, func(r metav1.OwnerReference) bool { return !owners[r.UID] })
}

// kubernetes says that every namespace has it, or that it only tells of others.
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
