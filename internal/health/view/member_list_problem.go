// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// MemberListProblem returns the first problem that a member list shows. It is empty for a list on which all members
// agree, in which each member has a pod, and each pod a member.
func MemberListProblem(l *v1alpha1.EtcdMemberList) string {
	name := l.Cluster.Target + " in namespace " + l.Cluster.Namespace
	switch {
	case l.Authority == "":
		return name + ": no member answered with its member list"
	case l.Authority == v1alpha1.AuthorityMember:
		return name + " has no quorum: the list is the one of a single member"
	case len(l.Disagreements) > 0:
		return "the members of " + name + " have different member lists"
	}
	for i := range l.Items {
		if m := &l.Items[i]; m.Pod == "" || m.ID == "" {
			return fmt.Sprintf("%s: %s: %s", name, cmp.Or(m.Pod, m.Name, m.ID), m.Note)
		}
	}
	return ""
}
