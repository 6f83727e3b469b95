// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package resolve finds the cluster that a target names, and the workloads that may run etcd although nothing shows that
// they do. Its errors contain what was found instead. It writes nothing.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
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
		text = fmt.Sprintf("%s is not an etcd cluster in namespace %s", e.Target, e.Namespace)
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

// Target returns the cluster that a target names. The error may be a *NotFoundError or an
// *AmbiguousError, which list the clusters that exist. An Etcd and its StatefulSet are one cluster,
// which belongs to the Etcd. A name without a type is that of a cluster, and where there is no such
// cluster, that of a Service or pod.
func Target(ctx context.Context, r *observe.Reader, namespace string, t owner.Target) (owner.Owner, error) {
	if t.Name == "" {
		return onlyCluster(ctx, r, namespace, t)
	}
	var why string
	var refused error
	for _, finders := range (finding{r}).finders(t.Kind) {
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
		why = claimsLeft(ctx, r, namespace, t)
	}
	return owner.Owner{}, &NotFoundError{Namespace: namespace, Target: t, Reason: why, Candidates: targets(all), Hinted: hinted(ctx, r, namespace, t)}
}

// onlyCluster returns the only cluster of a namespace.
func onlyCluster(ctx context.Context, r *observe.Reader, namespace string, t owner.Target) (owner.Owner, error) {
	all, err := r.Clusters(ctx, client.InNamespace(namespace))
	if err != nil {
		return owner.Owner{}, err
	}
	// With one that is not known, the one that is known need not be the only one.
	if err := unreadNamed(r.Scripts, namespace, func(string) bool { return len(all) < 2 }); err != nil {
		return owner.Owner{}, err
	}
	switch len(all) {
	case 0:
		return owner.Owner{}, &NotFoundError{Namespace: namespace, Target: t, Hinted: hinted(ctx, r, namespace, t)}
	case 1:
		return all[0], nil
	}
	return owner.Owner{}, &AmbiguousError{Namespace: namespace, Target: t, Candidates: targets(all)}
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
