// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Needs returns the permissions that Run needs.
func (u *Uninstaller) Needs(found *Installation) []operate.Need {
	var needs []operate.Need
	for _, p := range u.toDelete(found) {
		for _, verb := range []string{"get", "delete"} {
			needs = append(needs, operate.Need{Verb: verb, Group: p.GroupVersionKind().Group, Resource: p.Resource, Namespace: p.Namespace, Name: p.Name})
		}
	}
	for _, p := range u.retainedPolicies(found) {
		needs = append(needs, operate.Need{Verb: "patch", Group: p.GroupVersionKind().Group, Resource: p.Resource, Subresource: "status", Name: p.Name})
	}
	for _, s := range found.Cut {
		for _, verb := range []string{"get", "patch"} {
			needs = append(needs, operate.Need{Verb: verb, Resource: "services", Namespace: s.Namespace, Name: s.Name})
		}
	}
	for i := range found.Budgets {
		pdb, verb := &found.Budgets[i], "patch"
		if observe.NotCopied(pdb) {
			verb = "delete"
		}
		for _, verb := range []string{"get", verb} {
			needs = append(needs, operate.Need{Verb: verb, Group: policyv1.GroupName, Resource: "poddisruptionbudgets", Namespace: pdb.Namespace, Name: pdb.Name})
		}
	}
	written := slices.Concat(found.Rollouts, found.Recorded)
	for i := range found.Held {
		if found.Held[i].Recorded != "" {
			written = append(written, found.Held[i].StatefulSet)
		}
	}
	for _, sts := range written {
		for _, verb := range []string{"get", "patch"} {
			needs = append(needs, operate.Need{Verb: verb, Group: appsv1.GroupName, Resource: "statefulsets", Namespace: sts.Namespace, Name: sts.Name})
		}
	}
	return needs
}
