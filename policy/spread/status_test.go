// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Members are written as the nodes they run on, nodes as zone and number: "a1
// b1 -" are one in zone a, one in zone b, one not scheduled. A node without a
// zone is "?1".
func TestStatusOf(t *testing.T) {
	t.Parallel()
	const three = "a1 a2 b1 b2 c1 c2"
	for _, row := range []struct {
		name     string
		size     int
		topology Topology
		nodes    string
		members  string
		kept     policy.Status
		reason   policy.Reason
	}{
		{"one in each zone", 3, TopologyZone, three, "a1 b1 c1", policy.True, SpreadKept},
		{"2-2-1", 5, TopologyZone, three, "a1 b1 c1 a2 b2", policy.True, SpreadKept},
		{"four over three", 4, TopologyZone, three, "a1 b1 c1 a2", policy.True, ZoneHoldsQuorum},
		{"one member", 1, TopologyZone, three, "a1", policy.True, SpreadKept},
		{"no member", 0, TopologyZone, three, "", policy.True, SpreadKept},
		{"two in one zone", 3, TopologyZone, three, "a1 a2 b1", policy.False, ZonesUneven},
		{"3-1-1", 5, TopologyZone, "a1 a2 a3 b1 c1", "a1 a2 a3 b1 c1", policy.False, ZonesUneven},
		{"2-2-0", 4, TopologyZone, three, "a1 a2 b1 b2", policy.False, ZonesUneven},
		{"two on one node", 3, TopologyZone, three, "a1 b1 b1", policy.False, NodeShared},
		{"two in one zone, the third on its way", 3, TopologyZone, three, "a1 a2 -", policy.False, ZonesUneven},
		{"on its way", 3, TopologyZone, three, "a1 b1 -", policy.Unknown, NotScheduled},
		{"yet to be made", 3, TopologyZone, three, "a1 b1", policy.Unknown, NotScheduled},
		{"scaled in, the last still there", 3, TopologyZone, three, "a1 b1 c1 a2", policy.True, ZoneHoldsQuorum},
		{"a zone that the pods may not use does not count", 3, TopologyZone, "a1 a2 b1 b2", "a1 b1 b2", policy.True, ZoneHoldsQuorum},
		{"in a zone that they might not use now", 3, TopologyZone, "a1 b1", "a1 b1 c1", policy.True, SpreadKept},
		{"a node without a zone", 3, TopologyZone, three + " ?1", "a1 b1 ?1", policy.Unknown, NodesWithoutZone},
		{"no zones", 3, TopologyZone, "?1 ?2 ?3", "-", policy.False, NoZones},
		{"no node yet", 3, TopologyZone, "", "- - -", policy.Unknown, NotScheduled},
		{"one zone", 3, TopologyZone, "a1 a2 a3", "a1 a2 a3", policy.False, OneZone},
		{"nodes", 3, TopologyHostname, three, "a1 c1 b1", policy.True, SpreadKept},
		{"nodes, and a zone has the quorum", 3, TopologyHostname, three, "a1 a2 b1", policy.True, ZoneHoldsQuorum},
		{"nodes, and a zone has two of five", 5, TopologyHostname, three, "a1 a2 b1 b2 c1", policy.True, SpreadKept},
		{"nodes in the only zone", 3, TopologyHostname, "a1 a2 a3", "a1 a2 a3", policy.True, ZoneHoldsQuorum},
		{"nodes without zones", 3, TopologyHostname, "?1 ?2 ?3", "?1 ?2 ?3", policy.True, SpreadKept},
		{"a node shared", 3, TopologyHostname, three, "a1 a1 b1", policy.False, NodeShared},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			zone := func(node string) string { return strings.TrimSuffix(node[:1], "?") }
			var nodes []Node
			for n := range strings.FieldsSeq(row.nodes) {
				nodes = append(nodes, Node{Name: n, Zone: zone(n)})
			}
			var members []policy.Member
			for i, n := range strings.Fields(row.members) {
				m := policy.Member{Pod: fmt.Sprintf("etcd-%d", i)}
				if n != "-" {
					m.Node, m.Zone = n, zone(n)
				}
				members = append(members, m)
			}
			got := StatusOf(row.size, members, row.topology, nodes)
			if got.Kept != row.kept || got.Reason != row.reason || got.Message == "" {
				t.Errorf("StatusOf = %s %s (%s), want %s %s", got.Kept, got.Reason, got.Message, row.kept, row.reason)
			}
		})
	}
}
