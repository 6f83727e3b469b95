// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// claimsLeft returns what a person must know of a StatefulSet that is gone: the claims that its pods had, by
// their names. It is empty where there are none, and where the user may not list them. It is for messages.
func claimsLeft(ctx context.Context, r *observe.Reader, namespace string, t owner.Target) string {
	if t.Name == "" || t.Kind != "" && t.Kind != "statefulset" && t.Kind != "etcd" {
		return ""
	}
	var claims corev1.PersistentVolumeClaimList
	var sets appsv1.StatefulSetList
	for _, list := range []client.ObjectList{&claims, &sets} {
		if err := r.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return ""
		}
	}
	if slices.ContainsFunc(sets.Items, func(s appsv1.StatefulSet) bool { return s.Name == t.Name }) {
		return ""
	}
	ofName := regexp.MustCompile("-" + regexp.QuoteMeta(t.Name) + "-(?:0|[1-9][0-9]*)$")
	var names []string
	for i := range claims.Items {
		c := &claims.Items[i]
		if ofName.MatchString(c.Name) && c.DeletionTimestamp == nil && !ofAny(sets.Items, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("there is no StatefulSet %s, and the volume claims %s have the names of the claims of its pods. If it was deleted, "+
		"do not delete the claims: apply the same manifest again, and the pods start with their data", t.Name, policy.List(names))
}

// ofAny reports whether a claim has the name of one of any of some StatefulSets: data-b-a-0 is of b-a, and not of a.
func ofAny(sets []appsv1.StatefulSet, claim string) bool {
	return slices.ContainsFunc(sets, func(s appsv1.StatefulSet) bool {
		o := owner.OfStatefulSet(&s)
		return slices.ContainsFunc(o.Claims, func(c owner.Claim) bool {
			pod, is := strings.CutPrefix(claim, c.Template+"-")
			return is && o.Ordinal(pod) >= 0
		})
	})
}
