// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Need is a permission that an operation will use.
type Need struct {
	Verb, Group, Resource, Subresource string
	// Namespace is empty for what belongs to no namespace, and for all of them.
	Namespace string
	// Name is empty for any object.
	Name string
}

// String is the need as an administrator writes it into a Role:
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

// asked at once: enough for one round trip, and no flood.
const reviewsAtOnce = 16

// Missing asks the API server which of the needs the user has no right to, in
// their order. An empty result is no promise: admission may still refuse.
func Missing(ctx context.Context, kube client.Client, needs []Need) ([]Need, error) {
	denied := make([]bool, len(needs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(reviewsAtOnce)
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
		return false, fmt.Errorf("ask whether you have %s: %w", n, err)
	}
	return review.Status.Allowed, nil
}

// MissingError is the needs that stop an operation before its first act.
type MissingError struct {
	// User is whom the API server takes the user for, empty where it doesn't say.
	User  string
	Needs []Need
}

func (e *MissingError) Error() string {
	who := "you have"
	if e.User != "" {
		who = fmt.Sprintf("user %q has", e.User)
	}
	lines := make([]string, 0, len(e.Needs)+1)
	lines = append(lines, fmt.Sprintf("%s no permission for %d of the things that this needs; nothing was changed. Missing:", who, len(e.Needs)))
	for _, n := range e.Needs {
		lines = append(lines, "  "+n.String())
	}
	return strings.Join(lines, "\n")
}
