// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kubeAs returns a client with a changed configuration, for example for another user or for an
// unreliable network.
func kubeAs(t *testing.T, change func(*rest.Config)) client.Client {
	t.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	made, err := client.New(config, client.Options{Scheme: kube.Scheme(), Mapper: kube.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// grant allows a user these verbs on a resource in one namespace.
func grant(t *testing.T, namespaceName, user, group, resource string, verbs ...string) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespaceName, Name: user + "-" + resource}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		},
	} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range verbs {
		awaitRight(t, namespaceName, user, group, resource, verb)
	}
}

// awaitRight waits until a granted permission is in effect. The API server's authorizer learns
// of a role through a watch.
func awaitRight(t *testing.T, namespaceName, user, group, resource, verb string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the permission of %s to %s %s", user, verb, resource), func(ctx context.Context) (string, bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespaceName, Verb: verb, Group: group, Resource: resource},
		}}
		err := kube.Create(ctx, review)
		return review.Status.Reason, review.Status.Allowed, err
	})
}
