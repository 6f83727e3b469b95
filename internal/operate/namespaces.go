// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SparedNamespace is one that carries the manifests' label and stays: an overlay can
// put that on a namespace of somebody's, and all that lives there would go with it.
type SparedNamespace struct {
	Piece
	// Foreign are what lives in it and isn't of etcd-webhook; Unseen is why that can't
	// be told. One of them is set.
	Foreign []Piece
	Unseen  error
}

// String is the whole sentence, with the way to be rid of it.
func (s SparedNamespace) String() string {
	why := someOf(s.Foreign)
	if s.Unseen != nil {
		why = fmt.Sprintf("whether all in it is of etcd-webhook can't be seen (%v)", s.Unseen)
	}
	return fmt.Sprintf("%s stays, with the labels that the manifests put on it: %s; where nobody needs what lives there: kubectl delete namespace %s", s.Piece, why, s.Name)
}

// someOf says of a few objects of one namespace what they aren't.
func someOf(pieces []Piece) string {
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

// settleNamespaces parts the namespaces that go from those that stay. What lives in the
// first goes with them; in the others, and where no namespace is labelled, every piece
// goes by itself, also those without the label.
func (i *Installation) settleNamespaces(ctx context.Context, kube client.Client, census Census) error {
	var going []string
	pieces := i.namespaced()
	i.Rest = slices.DeleteFunc(i.Rest, func(p Piece) bool {
		if p.Kind != "Namespace" {
			return false
		}
		if s, spared := census.spares(ctx, p, pieces); spared {
			i.Spared = append(i.Spared, s)
			return true
		}
		going = append(going, p.Name)
		return false
	})
	with := func(p Piece) bool { return slices.Contains(going, p.Namespace) }
	i.Rights, i.Rest = slices.DeleteFunc(i.Rights, with), slices.DeleteFunc(i.Rest, with)
	for _, namespace := range i.spaces() {
		if slices.Contains(going, namespace) {
			continue
		}
		if err := i.addUnlabelled(ctx, kube, namespace); err != nil {
			return err
		}
	}
	return nil
}

// spares says whether a namespace stays. One that is going already is beyond it.
func (c Census) spares(ctx context.Context, namespace Piece, pieces []Piece) (SparedNamespace, bool) {
	s := SparedNamespace{Piece: namespace}
	if namespace.DeletionTimestamp != nil {
		return s, false
	}
	s.Foreign, s.Unseen = c.foreigners(ctx, namespace.Name, pieces)
	return s, len(s.Foreign) > 0 || s.Unseen != nil
}

// namespaced are the pieces that belong to a namespace.
func (i *Installation) namespaced() []Piece {
	return slices.DeleteFunc(slices.Concat(i.Rights, i.Programs, i.Rest), func(p Piece) bool { return p.Namespace == "" })
}

// spaces are the namespaces that have something of it.
func (i *Installation) spaces() []string {
	var all []string
	for _, p := range i.namespaced() {
		all = append(all, p.Namespace)
	}
	for _, s := range i.Spared {
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
			if p.unlabelled() && !slices.ContainsFunc(i.Rest, func(have Piece) bool { return have.UID == p.UID }) {
				i.Rest = append(i.Rest, p)
			}
		}
	}
	slices.SortStableFunc(i.Rest, func(a, b Piece) int { return cmp.Compare(a.turn(), b.turn()) })
	return nil
}

// turn is the place of its kind among kinds.
func (p Piece) turn() int {
	return slices.IndexFunc(kinds, func(k kind) bool { return k.Kind == p.Kind })
}

// stillAlone makes sure, right before namespaces are deleted, that nobody has put
// anything into one since it was found to hold nothing of others.
func (u *Uninstall) stillAlone(ctx context.Context, found *Installation) error {
	for _, p := range found.Rest {
		if p.Kind != "Namespace" {
			continue
		}
		if s, spared := u.Census.spares(ctx, p, found.namespaced()); spared {
			return fmt.Errorf("delete namespace %s: since it was looked at, this has changed: %s", p.Name, s)
		}
	}
	return nil
}
