// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Need is a permission that an operation needs.
type Need struct {
	Verb, Group, Resource, Subresource string
	// Namespace is empty for cluster-scoped objects and for all namespaces.
	Namespace string
	// Name is empty for any object.
	Name string
}

// NeedIn returns a function that returns needs in a namespace.
func NeedIn(namespace string) func(verb, group, resource, subresource, name string) Need {
	return func(verb, group, resource, subresource, name string) Need {
		return Need{Verb: verb, Group: group, Resource: resource, Subresource: subresource, Namespace: namespace, Name: name}
	}
}

// String returns the need in the terms of a Role:
// verb "update" on "statefulsets.apps/scale" named "main" in namespace "team".
func (n Need) String() string {
	resource := n.Resource
	if n.Group != "" {
		resource += "." + n.Group
	}
	if n.Subresource != "" {
		resource += "/" + n.Subresource
	}
	text := fmt.Sprintf("verb %q on %q", n.Verb, resource)
	if n.Name != "" {
		text += fmt.Sprintf(" named %q", n.Name)
	}
	if n.Namespace == "" {
		return text + " in the whole cluster"
	}
	return text + fmt.Sprintf(" in namespace %q", n.Namespace)
}

// maxReviews is the maximum number of concurrent access reviews.
const maxReviews = 16

// Missing returns the permissions that the user lacks, in their order. Admission may refuse a
// write even if no permission is missing.
func Missing(ctx context.Context, kube client.Client, needs []Need) ([]Need, error) {
	denied := make([]bool, len(needs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxReviews)
	for i, need := range needs {
		group.Go(func() error {
			allowed, err := may(ctx, kube, need)
			denied[i] = !allowed
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var missing []Need
	for i, need := range needs {
		if denied[i] {
			missing = append(missing, need)
		}
	}
	return missing, nil
}

func may(ctx context.Context, kube client.Client, n Need) (bool, error) {
	review := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: n.Verb, Group: n.Group, Resource: n.Resource, Subresource: n.Subresource, Namespace: n.Namespace, Name: n.Name,
		},
	}}
	if err := kube.Create(ctx, &review); err != nil {
		return false, fmt.Errorf("check the permission %s: %w", n, err)
	}
	return review.Status.Allowed, nil
}

// MissingError are the missing permissions that stop an operation before it changes anything.
type MissingError struct {
	// User is the user's name according to the API server. It is empty if unknown.
	User  string
	Needs []Need
}

// Add adds missing permissions, each once.
func (e *MissingError) Add(needs []Need) {
	for _, n := range needs {
		if !slices.Contains(e.Needs, n) {
			e.Needs = append(e.Needs, n)
		}
	}
}

func (e *MissingError) Error() string {
	who := "you lack"
	if e.User != "" {
		who = fmt.Sprintf("user %q lacks", e.User)
	}
	permissions := "permissions"
	if len(e.Needs) == 1 {
		permissions = "permission"
	}
	lines := make([]string, 0, len(e.Needs)+1)
	lines = append(lines, fmt.Sprintf("%s %d %s that this command needs; nothing was changed. Missing:", who, len(e.Needs), permissions))
	for _, n := range e.Needs {
		lines = append(lines, "  "+n.String())
	}
	return strings.Join(lines, "\n")
}
