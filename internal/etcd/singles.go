// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"slices"
)

// singles reports whether the members, two or more, are etcds of their own: each leads, and its own list has no other
// member. A member that doesn't answer may be in the cluster of another one, so then it is not known. Cluster IDs don't
// show it: without a list, etcd's default gives every pod the same one.
func (c *Cluster) singles(ctx context.Context, members []Member) bool {
	if !eachLeads(members) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, apartLimit)
	defer cancel()
	lists, err := c.OwnLists(ctx, members)
	return err == nil && eachAlone(members, lists)
}

// eachLeads reports whether members, two or more, all answer as leaders.
func eachLeads(members []Member) bool {
	return len(members) > 1 && !slices.ContainsFunc(members, func(m Member) bool { return m.Err != nil || m.ID == 0 || !m.Leader })
}

// eachAlone reports whether the list of each member, by pod, has that member alone.
func eachAlone(members []Member, lists map[string][]Listed) bool {
	return !slices.ContainsFunc(members, func(m Member) bool {
		own := lists[m.Pod]
		return len(own) != 1 || own[0].ID != m.ID
	})
}
