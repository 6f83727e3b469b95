// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RetainedNamespace is a namespace that has the labels of the manifests but is not deleted. An
// overlay can add the labels to a namespace with other objects, which would be deleted with it.
type RetainedNamespace struct {
	Object
	// Unowned are the objects in it that don't belong to etcd-webhook. UnreadErr is the reason
	// if they can't be listed. One of them is set.
	Unowned   []Object
	UnreadErr error
}

// String returns why the namespace is not deleted, and the command that deletes it.
func (s RetainedNamespace) String() string {
	why := sampleOf(s.Unowned)
	if s.UnreadErr != nil {
		why = fmt.Sprintf("its objects can't all be listed (%v)", s.UnreadErr)
	}
	return fmt.Sprintf("%s is not deleted, and keeps the labels of the manifests: %s. To delete it with all its objects: kubectl delete namespace %s", s.Object, why, s.Name)
}

// sampleOf returns a text with at most three objects that don't belong to etcd-webhook.
func sampleOf(objects []Object) string {
	const most = 3
	var all []string
	for _, p := range objects {
		p.Namespace = ""
		all = append(all, p.String())
	}
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	verb := "do"
	if len(all) == 1 {
		verb = "does"
	}
	return strings.Join(all, ", ") + " in it " + verb + " not belong to etcd-webhook"
}

// splitNamespaces separates the namespaces to delete from those to retain. Objects in a deleted
// namespace need no own deletion. In a retained namespace, and if no namespace has the labels,
// every object is deleted by itself, including those without the labels.
func (i *Installation) splitNamespaces(ctx context.Context, kube client.Client, inventory NamespaceInventory) error {
	var deleted []string
	objects := i.namespaced()
	i.Rest = slices.DeleteFunc(i.Rest, func(p Object) bool {
		if p.Kind != "Namespace" {
			return false
		}
		if s, retained := inventory.retains(ctx, p, objects); retained {
			i.Retained = append(i.Retained, s)
			return true
		}
		deleted = append(deleted, p.Name)
		return false
	})
	with := func(p Object) bool { return slices.Contains(deleted, p.Namespace) }
	i.Rights, i.Rest = slices.DeleteFunc(i.Rights, with), slices.DeleteFunc(i.Rest, with)
	for _, namespace := range i.namespaces() {
		if slices.Contains(deleted, namespace) {
			continue
		}
		if err := i.addUnlabelled(ctx, kube, namespace); err != nil {
			return err
		}
	}
	return nil
}

// retains reports whether a namespace must be retained. It is false for a namespace that is
// already being deleted.
func (c NamespaceInventory) retains(ctx context.Context, namespace Object, objects []Object) (RetainedNamespace, bool) {
	s := RetainedNamespace{Object: namespace}
	if namespace.DeletionTimestamp != nil {
		return s, false
	}
	s.Unowned, s.UnreadErr = c.unownedObjects(ctx, namespace.Name, objects)
	return s, len(s.Unowned) > 0 || s.UnreadErr != nil
}

// namespaced returns the objects that are in a namespace.
func (i *Installation) namespaced() []Object {
	return slices.DeleteFunc(slices.Concat(i.Rights, i.Programs, i.Rest), func(p Object) bool { return p.Namespace == "" })
}

// namespaces returns the namespaces with objects of the installation.
func (i *Installation) namespaces() []string {
	var all []string
	for _, p := range i.namespaced() {
		all = append(all, p.Namespace)
	}
	for _, s := range i.Retained {
		all = append(all, s.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// addUnlabelled adds the objects without labels in a retained namespace, in the order of their
// kinds. cert-manager would create a Secret again while its Certificate exists.
func (i *Installation) addUnlabelled(ctx context.Context, kube client.Client, namespace string) error {
	for _, k := range kinds {
		if len(unlabelled[k.Resource]) == 0 {
			continue
		}
		found, err := k.find(ctx, kube, client.InNamespace(namespace))
		if err != nil {
			return err
		}
		for _, p := range found {
			if p.unlabelled() && !slices.ContainsFunc(i.Rest, func(have Object) bool { return have.UID == p.UID }) {
				i.Rest = append(i.Rest, p)
			}
		}
	}
	slices.SortStableFunc(i.Rest, func(a, b Object) int { return cmp.Compare(a.order(), b.order()) })
	return nil
}

// order returns the index of the object's kind in kinds.
func (p Object) order() int {
	return slices.IndexFunc(kinds, func(k kind) bool { return k.Kind == p.Kind })
}

// recheckNamespaces returns an error if a namespace to delete has got other objects since Find.
// It runs right before the deletion.
func (u *Uninstaller) recheckNamespaces(ctx context.Context, found *Installation) error {
	for _, p := range found.Rest {
		if p.Kind != "Namespace" {
			continue
		}
		if s, retained := u.Inventory.retains(ctx, p, found.namespaced()); retained {
			return fmt.Errorf("delete namespace %s: its content has changed since the plan: %s", p.Name, s)
		}
	}
	return nil
}
