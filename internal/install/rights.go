// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// KeyRights returns the most important permissions of the program, from its ClusterRole and the
// Role of its leader. Without them, the program continues to answer from old data.
func KeyRights(namespace string) []operate.Need {
	return []operate.Need{
		{Verb: "list", Resource: "pods"},
		{Verb: "list", Group: "apps", Resource: "statefulsets"},
		{Verb: "list", Group: "policy.kubectl-etcd.dev", Resource: "etcdtopologypolicies"},
		{Verb: "patch", Group: "policy", Resource: "poddisruptionbudgets"},
		{Verb: "patch", Resource: "services"},
		{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: namespace, Name: webhookLease},
	}
}

// readPermissions checks whether the program still has its permissions.
func (l *Inspector) readPermissions(ctx context.Context) error {
	p := &l.st.Program
	if p.Deployment == "" {
		return nil
	}
	for _, right := range KeyRights(p.Namespace) {
		review := reviewOf(right, p.Namespace, cmp.Or(l.account, webhookName))
		if err := l.kube.Create(ctx, review); err != nil {
			return err
		}
		if !review.Status.Allowed {
			p.MissingRights = append(p.MissingRights, right.String())
		}
	}
	return nil
}

// reviewOf returns an access review of a ServiceAccount with its groups.
func reviewOf(right operate.Need, namespace, account string) *authorizationv1.SubjectAccessReview {
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:" + namespace + ":" + account,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: right.Verb, Group: right.Group, Resource: right.Resource, Namespace: right.Namespace, Name: right.Name,
		},
	}}
}
