// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RetainedNamespace is one that carries the manifests' label and stays: an overlay can
// put that on a namespace of somebody's, and all that lives there would go with it.
type RetainedNamespace struct {
	Object
	// Unowned are what lives in it and isn't of etcd-webhook; Unseen is why that can't
	// be told. One of them is set.
	Unowned   []Object
	UnreadErr error
}

// String is the whole sentence, with the way to be rid of it.
func (s RetainedNamespace) String() string {
	why := sampleOf(s.Unowned)
	if s.UnreadErr != nil {
		why = fmt.Sprintf("whether all in it is of etcd-webhook can't be seen (%v)", s.UnreadErr)
	}
	return fmt.Sprintf("%s stays, with the labels that the manifests put on it: %s; where nobody needs what lives there: kubectl delete namespace %s", s.Object, why, s.Name)
}

// sampleOf says of a few objects of one namespace what they aren't.
func sampleOf(pieces []Object) string {
	const most = 3
	var all []string
	for _, p := range pieces {
		p.Namespace = ""
		all = append(all, p.String())
	}
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	verb := "are"
	if len(all) == 1 {
		verb = "is"
	}
	return strings.Join(all, ", ") + " in it " + verb + " not etcd-webhook's"
}

// splitNamespaces parts the namespaces that go from those that stay. What lives in the
// first goes with them; in the others, and where no namespace is labelled, every piece
// goes by itself, also those without the label.
func (i *Installation) splitNamespaces(ctx context.Context, kube client.Client, census NamespaceInventory) error {
	var going []string
	pieces := i.namespaced()
	i.Rest = slices.DeleteFunc(i.Rest, func(p Object) bool {
		if p.Kind != "Namespace" {
			return false
		}
		if s, spared := census.retains(ctx, p, pieces); spared {
			i.Retained = append(i.Retained, s)
			return true
		}
		going = append(going, p.Name)
		return false
	})
	with := func(p Object) bool { return slices.Contains(going, p.Namespace) }
	i.Rights, i.Rest = slices.DeleteFunc(i.Rights, with), slices.DeleteFunc(i.Rest, with)
	for _, namespace := range i.namespaces() {
		if slices.Contains(going, namespace) {
			continue
		}
		if err := i.addUnlabelled(ctx, kube, namespace); err != nil {
			return err
		}
	}
	return nil
}

// retains says whether a namespace stays. One that is going already is beyond it.
func (c NamespaceInventory) retains(ctx context.Context, namespace Object, pieces []Object) (RetainedNamespace, bool) {
	s := RetainedNamespace{Object: namespace}
	if namespace.DeletionTimestamp != nil {
		return s, false
	}
	s.Unowned, s.UnreadErr = c.unownedObjects(ctx, namespace.Name, pieces)
	return s, len(s.Unowned) > 0 || s.UnreadErr != nil
}

// namespaced are the pieces that belong to a namespace.
func (i *Installation) namespaced() []Object {
	return slices.DeleteFunc(slices.Concat(i.Rights, i.Programs, i.Rest), func(p Object) bool { return p.Namespace == "" })
}

// namespaces are the namespaces that have something of it.
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

// addUnlabelled takes in what a namespace that stays has without the label, each at its
// kind's turn: cert-manager would make a Secret again as long as its Certificate is there.
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

// order is the place of its kind among kinds.
func (p Object) order() int {
	return slices.IndexFunc(kinds, func(k kind) bool { return k.Kind == p.Kind })
}

// recheckNamespaces makes sure, right before namespaces are deleted, that nobody has put
// anything into one since it was found to hold nothing of others.
func (u *Uninstall) recheckNamespaces(ctx context.Context, found *Installation) error {
	for _, p := range found.Rest {
		if p.Kind != "Namespace" {
			continue
		}
		if s, spared := u.Inventory.retains(ctx, p, found.namespaced()); spared {
			return fmt.Errorf("delete namespace %s: since it was looked at, this has changed: %s", p.Name, s)
		}
	}
	return nil
}
