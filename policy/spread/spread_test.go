// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// spreadRows are the rows of docs/rules/spread.md; see nodes_test.go for how
// nodes, volumes and terms are written.
var spreadRows = []struct {
	row      string
	topology Topology // Zone unless given
	required Enforcement
	form     Form
	size     int
	nodes    string
	cluster  int // zones of the cluster
	volumes  string
	ordinal  int
	ordered  bool
	own      []string
	soft     []string
	want     string
	notes    string
}{
	{row: "SP-1 one member", size: 1, nodes: "aabbcc"},
	{row: "SP-1 none", size: 0, nodes: "aabbcc"},
	{row: "SP-1 one member, no node", size: 1, nodes: ""},
	{row: "SP-2 three on six", topology: TopologyHostname, size: 3, nodes: "aabbcc", want: "host!"},
	{row: "SP-2 as many as nodes", topology: TopologyHostname, size: 3, nodes: "...", want: "host!"},
	{row: "SP-3 three in three", size: 3, nodes: "aabbcc", want: "host! zone!3"},
	{row: "SP-3 three in four", size: 3, nodes: "abcd", want: "host! zone!3"},
	{row: "SP-3 two in three", size: 2, nodes: "aabbcc", want: "host! zone!2"},
	{row: "SP-3 one node each", size: 3, nodes: "abc", want: "host! zone!3"},
	{row: "SP-4 five in three", size: 5, nodes: "aabbcc", want: "host! zone!"},
	{row: "SP-26 three in two", size: 3, nodes: "aabb", want: "host! zone!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-26 four in three", size: 4, nodes: "aabbcc", want: "host! zone!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-26 two in two", size: 2, nodes: "aabb", want: "host! zone!2"},
	{row: "SP-31 three of five volumes in one zone", size: 5, nodes: "aaabbbccc", volumes: "a a a b c", ordinal: 4, want: "host! zone!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-31 hostname", topology: TopologyHostname, size: 5, nodes: "aaabbbccc", volumes: "a a a b c", want: "host!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-31 hostname, preferred", topology: TopologyHostname, required: Preferred, size: 3, nodes: "aabb", volumes: "a a b", want: "host?", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-31 two of five volumes in one zone", topology: TopologyHostname, size: 5, nodes: "aaabbbccc", volumes: "a a b b c", want: "host!"},
	{row: "SP-31 volumes that reach two zones", topology: TopologyHostname, size: 2, nodes: "aabb", volumes: "a,b a,b", want: "host!"},
	{row: "SP-31 one zone", topology: TopologyHostname, size: 3, nodes: "aaa", volumes: "a a a", want: "host!"},
	{row: "SP-4 seven in three", size: 7, nodes: "aaabbbccc", want: "host! zone!"},
	{row: "SP-5 three in three", form: FormAntiAffinity, size: 3, nodes: "aabbcc", want: "anti-zone!"},
	{row: "SP-5 a node without a zone", form: FormAntiAffinity, size: 3, nodes: "aabbcc.", want: "host! anti-zone!"},
	{row: "SP-5 a volume where another may be", form: FormAntiAffinity, size: 3, nodes: "aabbcc", volumes: "a a b", want: "host! anti-zone?", notes: VolumeZoneTaken.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-5 a volume of its own", form: FormAntiAffinity, size: 3, nodes: "aabbcc", volumes: "a a b", ordinal: 2, want: "anti-zone!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-6 five in three", form: FormAntiAffinity, size: 5, nodes: "aabbcc", want: "host! zone!", notes: MembersExceedZones.Name()},
	{row: "SP-6 preferred", required: Preferred, form: FormAntiAffinity, size: 5, nodes: "aabbcc", want: "host? zone?", notes: MembersExceedZones.Name()},
	{row: "SP-7 three zones", topology: TopologyAuto, size: 3, nodes: "aabbcc", want: "host! zone!3"},
	{row: "SP-7 two zones", topology: TopologyAuto, size: 3, nodes: "aabb", want: "host! zone!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-7 one zone", topology: TopologyAuto, size: 3, nodes: "aaa", want: "host!", notes: OneZone.Name()},
	{row: "SP-7 no zones", topology: TopologyAuto, size: 3, nodes: "...", want: "host!"},
	{row: "SP-7 no node, and no zone in the cluster", topology: TopologyAuto, size: 3, nodes: "", want: "host!", notes: NoMatchingNode.Name()},
	{row: "SP-7 no node, and one zone in the cluster", topology: TopologyAuto, size: 3, nodes: "", cluster: 1, want: "host!", notes: NoMatchingNode.Name()},
	{row: "SP-7 no node, and two zones in the cluster", topology: TopologyAuto, size: 3, nodes: "", cluster: 2, want: "host! zone!", notes: NoMatchingNode.Name()},
	{row: "SP-7 nodes, and two zones in the cluster", topology: TopologyAuto, size: 3, nodes: "aaa", cluster: 2, want: "host!", notes: OneZone.Name()},
	{row: "SP-7 nothing set", topology: "Elsewhere", size: 3, nodes: "aabbcc", want: "host! zone!3"},
	{row: "SP-8 three in three", required: Preferred, size: 3, nodes: "aabbcc", want: "host? zone?"},
	{row: "SP-8 five in three", required: Preferred, size: 5, nodes: "aabbcc", want: "host? zone?"},
	{row: "SP-8 hostname", required: Preferred, topology: TopologyHostname, size: 3, nodes: "aabbcc", want: "host?"},
	{row: "SP-8 anti-affinity", required: Preferred, form: FormAntiAffinity, size: 3, nodes: "aabbcc", want: "host? anti-zone?"},
	{row: "SP-8 volumes don't matter", required: Preferred, size: 3, nodes: "aabbcc", volumes: "a a !", ordinal: 2, want: "host? zone?", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-9 three on two", topology: TopologyHostname, size: 3, nodes: "ab", want: "host?", notes: MembersExceedHosts.Name()},
	{row: "SP-9 three on two in two zones", size: 3, nodes: "ab", want: "host? zone!", notes: MembersExceedHosts.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-9 a node seen twice is one", topology: TopologyHostname, size: 3, nodes: "ab", want: "host?", notes: MembersExceedHosts.Name()},
	{row: "SP-10 four in two of one and three", size: 4, nodes: "abbb", want: "host! zone?", notes: ZonesTooSmall.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-10 six in three of one, three, three", size: 6, nodes: "abbbccc", want: "host! zone?", notes: ZonesTooSmall.Name()},
	{row: "SP-10 five in three of one, two, two fit", size: 5, nodes: "abbcc", want: "host! zone!"},
	{row: "SP-10 six in three of two, two, one", size: 6, nodes: "aabbc.", want: "host! zone?", notes: ZonesTooSmall.Name()},
	{row: "SP-11 no labels", size: 3, nodes: "...", want: "host!", notes: NoZones.Name()},
	{row: "SP-11 anti-affinity", form: FormAntiAffinity, size: 3, nodes: "...", want: "host!", notes: NoZones.Name()},
	{row: "SP-12 Auto, a single member", topology: TopologyAuto, size: 1, nodes: "aaa", want: ""},
	{row: "SP-12 one zone", size: 3, nodes: "aaa", want: "host! zone!", notes: OneZone.Name()},
	{row: "SP-13 no node", size: 3, nodes: "", cluster: 3, want: "host! zone!", notes: NoMatchingNode.Name()},
	{row: "SP-13 no node, hostname", topology: TopologyHostname, size: 3, nodes: "", cluster: 3, want: "host!", notes: NoMatchingNode.Name()},
	{row: "SP-13 no node, auto", topology: TopologyAuto, size: 3, nodes: "", cluster: 3, want: "host! zone!", notes: NoMatchingNode.Name()},
	{row: "SP-13 no node, anti-affinity", form: FormAntiAffinity, size: 3, nodes: "", cluster: 3, want: "host! zone!", notes: NoMatchingNode.Name()},
	{row: "SP-13 no node, preferred", required: Preferred, topology: TopologyAuto, size: 3, nodes: "", cluster: 3, want: "host? zone?", notes: NoMatchingNode.Name()},
	{row: "SP-13 no node, waiting volumes", topology: TopologyAuto, size: 3, nodes: "", cluster: 3, volumes: "? ? ?", want: "host! zone!", notes: NoMatchingNode.Name()},
	{row: "SP-13 no node, own terms", size: 3, nodes: "", cluster: 3, own: []string{ZoneKey}, soft: []string{HostnameKey}, want: "host!", notes: NoMatchingNode.Name() + " " + OwnTerm.Name()},
	{row: "SP-30 bound volumes", topology: TopologyAuto, size: 3, nodes: "", cluster: 3, volumes: "gone gone gone", want: "host? zone?", notes: NoMatchingNode.Name()},
	{row: "SP-30 volumes placed at once", size: 3, nodes: "", cluster: 3, volumes: "! ! !", want: "host! zone?", notes: NoMatchingNode.Name()},
	{row: "SP-30 waiting beside bound ones", size: 3, nodes: "", cluster: 3, volumes: "gone gone ?", ordinal: 2, want: "host? zone!", notes: NoMatchingNode.Name()},
	{row: "SP-30 bound volumes, hostname", topology: TopologyHostname, size: 3, nodes: "", cluster: 3, volumes: "gone gone gone", want: "host?", notes: NoMatchingNode.Name()},
	{row: "SP-30 no volume beside a bound one", size: 3, nodes: "", cluster: 3, volumes: "gone - -", ordinal: 1, want: "host? zone!", notes: NoMatchingNode.Name()},
	{row: "SP-30 beyond the size", size: 3, nodes: "", cluster: 3, volumes: "? ? ? gone", want: "host! zone!", notes: NoMatchingNode.Name()},
	{row: "SP-30 bound volumes without node affinity", size: 3, nodes: "", cluster: 3, volumes: "any any any", want: "host! zone!", notes: NoMatchingNode.Name()},
	{row: "SP-32 no zone in the cluster", size: 3, nodes: "", want: "host! zone?", notes: NoMatchingNode.Name() + " " + NoZones.Name()},
	{row: "SP-32 anti-affinity", form: FormAntiAffinity, size: 3, nodes: "", want: "host! zone?", notes: NoMatchingNode.Name() + " " + NoZones.Name()},
	{row: "SP-32 one zone", size: 3, nodes: "", cluster: 1, want: "host! zone!", notes: NoMatchingNode.Name()},
	{row: "SP-14 one of seven", size: 3, nodes: "aabbcc.", want: "host! zone!3", notes: NodesWithoutZone.Name()},
	{row: "SP-14 too few with the label", size: 3, nodes: "ab..", want: "host! zone?", notes: ZonesTooSmall.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-15 own hostname term", size: 3, nodes: "aabbcc", own: []string{HostnameKey}, want: "zone!3", notes: OwnTerm.Name()},
	{row: "SP-15 own zone term", size: 3, nodes: "aabbcc", own: []string{ZoneKey}, want: "host!", notes: OwnTerm.Name()},
	{row: "SP-15 both", size: 3, nodes: "aabbcc", own: []string{ZoneKey, HostnameKey}, want: "", notes: OwnTerm.Name() + " " + OwnTerm.Name()},
	{row: "SP-15 another key", size: 3, nodes: "aabbcc", own: []string{"rack"}, want: "host! zone!3"},
	{row: "SP-25 own preferred terms", size: 3, nodes: "aabbcc", soft: []string{ZoneKey, HostnameKey}, want: "host! zone!3"},
	{row: "SP-25 beside a required one of its own", size: 3, nodes: "aabbcc", own: []string{ZoneKey}, soft: []string{HostnameKey}, want: "host!", notes: OwnTerm.Name()},
	{row: "SP-25 more members than hosts", size: 3, nodes: "ab", soft: []string{HostnameKey}, want: "zone!", notes: MembersExceedHosts.Name() + " " + OwnTerm.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-25 the policy prefers, too", size: 3, nodes: "aabbcc", required: Preferred, soft: []string{ZoneKey, HostnameKey}, want: "", notes: OwnTerm.Name() + " " + OwnTerm.Name()},
	{row: "SP-16 no volumes", size: 3, nodes: "aabbcc", volumes: "- - -", want: "host! zone!3"},
	{row: "SP-16 waiting", size: 3, nodes: "aabbcc", volumes: "? ? ?", want: "host! zone!3"},
	{row: "SP-16 waiting, two others in one zone", size: 3, nodes: "aabbcc", volumes: "a a ?", ordinal: 2, want: "host! zone!3", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-16 waiting, four others in one zone", size: 5, nodes: "aaaabbcc", volumes: "a a a a ?", ordinal: 4, want: "host! zone!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-17 one in each zone", size: 3, nodes: "aabbcc", volumes: "a b c", ordinal: 1, want: "host! zone!3"},
	{row: "SP-17 on a node each", size: 3, nodes: "aabbcc", volumes: "a1 b2 c1", ordinal: 2, want: "host! zone!3"},
	{row: "SP-17 2-2-1", size: 5, nodes: "aabbcc", volumes: "a b c a b", ordinal: 3, want: "host! zone!"},
	{row: "SP-17 2-2-1 on a node each", size: 5, nodes: "aabbcc", volumes: "a1 b1 c1 a2 b2", ordinal: 3, want: "host! zone!"},
	{row: "SP-17 growing from three to five", size: 5, nodes: "aabbcc", volumes: "a b c ? ?", want: "host! zone!"},
	{row: "SP-17 reached from everywhere", size: 3, nodes: "aabbcc", volumes: "a,b,c a,b,c a,b,c", want: "host! zone!3"},
	{row: "SP-17 reached from everywhere, more members than zones", size: 3, nodes: "aabb", volumes: "a,b a,b a,b", want: "host! zone!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-17 two zones for two members", size: 2, nodes: "aabbcc", volumes: "a,b a,b", want: "host! zone!2"},
	{row: "SP-17 on nodes that are too few anyway", size: 5, nodes: "ab", volumes: "a a b b b", ordinal: 2, want: "host? zone!", notes: MembersExceedHosts.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-17 without node affinity", size: 3, nodes: "aabbcc", volumes: "any any any", want: "host! zone!3"},
	{row: "SP-18 two in one zone", size: 3, nodes: "aabbcc", volumes: "a a b", want: "host! zone?", notes: VolumeZoneTaken.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-18 the third of them", size: 3, nodes: "aabbcc", volumes: "a a b", ordinal: 2, want: "host! zone!3", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-18 3-1-1", size: 5, nodes: "aaabbbccc", volumes: "a a a b c", want: "host! zone?", notes: VolumeZoneTaken.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-18 alone in a zone", size: 5, nodes: "aaabbbccc", volumes: "a a a b c", ordinal: 3, want: "host! zone!", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-18 two zones that the others may hold", size: 3, nodes: "aabbcc", volumes: "a,b b,c a,c", want: "host! zone?", notes: VolumeZoneTaken.Name()},
	{row: "SP-18 on nodes without a zone", size: 3, nodes: "aabbcc.", volumes: ".1 b c", want: "host! zone?", notes: VolumeZoneTaken.Name()},
	{row: "SP-18 members that may be anywhere", size: 3, nodes: "aabbcc", volumes: "a - -", want: "host! zone?", notes: VolumeZoneTaken.Name()},
	{row: "SP-18 members that may be anywhere, more than zones", size: 4, nodes: "aabbcc", volumes: "a - - -", want: "host! zone?", notes: VolumeZoneTaken.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-18 members that may be on its nodes", size: 3, nodes: "aabb", volumes: "a1,b1 - -", want: "host! zone?", notes: VolumeZoneTaken.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-18 beside one that can't run", size: 5, nodes: "aabbcc", volumes: "a a b gone b", want: "host! zone?", notes: VolumeZoneTaken.Name()},
	{row: "SP-19 two on one node", size: 3, nodes: "aabbcc", volumes: "a1 a1 b1", want: "host? zone?", notes: VolumeZoneTaken.Name() + " " + VolumeNodeTaken.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-19 two on one node, the third", size: 3, nodes: "aabbcc", volumes: "a1 a1 b1", ordinal: 2, want: "host! zone!3", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-19 three in a zone of two", size: 3, nodes: "aabbcc", volumes: "a a a", want: "host? zone?", notes: VolumeZoneTaken.Name() + " " + VolumeNodeTaken.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-19 the zones can be met", size: 4, nodes: "aabb", volumes: "a1 a1 b1 b1", want: "host? zone!", notes: VolumeNodeTaken.Name() + " " + ZoneHoldsQuorum.Name()},
	{row: "SP-19 who may be in the way", topology: TopologyHostname, size: 2, nodes: "aa", volumes: "a1 a", ordinal: 1, want: "host?", notes: VolumeNodeTaken.Name()},
	{row: "SP-20 alone", size: 3, nodes: "aabbcc", volumes: "! ! !", want: "host! zone?", notes: VolumeUnplaced.Name()},
	{row: "SP-20 beside bound ones", size: 3, nodes: "aabbcc", volumes: "a b !", ordinal: 2, want: "host! zone?", notes: VolumeUnplaced.Name()},
	{row: "SP-20 hostname", topology: TopologyHostname, size: 3, nodes: "aabbcc", volumes: "! ! !", want: "host!"},
	{row: "SP-21 no node that matches", size: 3, nodes: "aabbcc", volumes: "gone b c", want: "host? zone?", notes: VolumeNowhere.Name()},
	{row: "SP-21 hostname", topology: TopologyHostname, size: 3, nodes: "aabbcc", volumes: "gone b c", want: "host?", notes: VolumeNowhere.Name()},
	{row: "SP-22 0 and 1 in one zone", size: 5, nodes: "aabbcc", volumes: "a a b b c", ordinal: 1, ordered: true, want: "host! zone?", notes: VolumeZoneTaken.Name()},
	{row: "SP-22 the same, all at once", size: 5, nodes: "aabbcc", volumes: "a a b b c", ordinal: 1, want: "host! zone!"},
	{row: "SP-22 in the order that it began", size: 5, nodes: "aabbcc", volumes: "a b c a b", ordinal: 3, ordered: true, want: "host! zone!"},
	{row: "SP-23 eleven", size: 11, nodes: "aaaabbbbcccc", volumes: "a b c", want: "host? zone?", notes: VolumeZoneTaken.Name() + " " + VolumeNodeTaken.Name()},
	{row: "SP-23 eleven, evenly", size: 11, nodes: "aaaabbbbcccc", volumes: "a b c a b c a b c a b", want: "host? zone?", notes: VolumeZoneTaken.Name() + " " + VolumeNodeTaken.Name()},
	{row: "SP-23 eleven in ten zones", size: 11, nodes: "aabcdefghij", volumes: "a b c d e f g h i j a", want: "host? zone?", notes: VolumeZoneTaken.Name() + " " + VolumeNodeTaken.Name()},
	{row: "SP-23 eleven, waiting", size: 11, nodes: "aaaabbbbcccc", volumes: "a b c ?", ordinal: 3, want: "host! zone!"},
	{row: "SP-24 no ordinal", size: 3, nodes: "aabbcc", volumes: "a a b", ordinal: -1, want: "host! zone!3", notes: ZoneHoldsQuorum.Name()},
	{row: "SP-24 beyond the size", size: 3, nodes: "aabbcc", volumes: "a a b a", ordinal: 3, want: "host! zone!3", notes: ZoneHoldsQuorum.Name()},
}

// TestSpreadNamesRunning holds that the members are named that keep new ones away.
func TestSpreadNamesRunning(t *testing.T) {
	t.Parallel()
	three := []string{"etcd-0", "etcd-1", "etcd-2"}
	for _, r := range []struct {
		row, nodes, want string
		form             Form
		running          map[string][]string
		own              []string
	}{
		{row: "SP-9 the pods' own terms", nodes: "abc", own: []string{HostnameKey}, want: "the pods' own terms require different nodes, so 2 members will wait; add"},
		{row: "SP-9 the pods' own terms, and three run", nodes: "abc", own: []string{HostnameKey}, running: map[string][]string{HostnameKey: three},
			want: "the pods' own terms require different nodes, etcd-0, etcd-1 and etcd-2 have one each, so other members wait; add"},
		{row: "SP-9 none runs with a required term", nodes: "abc", want: "5 members but 3 nodes that match: some must share a node; add"},
		{row: "SP-9 three do", nodes: "abc", running: map[string][]string{HostnameKey: three},
			want: "etcd-0, etcd-1 and etcd-2 require their own nodes until recreated, so other members may wait; add"},
		{row: "SP-9 one does", nodes: "abc", running: map[string][]string{HostnameKey: three[:1]}, want: "etcd-0 requires its own node until recreated"},
		{row: "SP-6 none runs with a required term", nodes: "aabbcc", form: FormAntiAffinity, want: "so a spread constraint is used instead"},
		{row: "SP-6 three do", nodes: "aabbcc", form: FormAntiAffinity, running: map[string][]string{ZoneKey: three, HostnameKey: three[:1]},
			want: "is used instead; etcd-0, etcd-1 and etcd-2 require their own zones until recreated, so other members may wait"},
	} {
		f := Facts{Size: 5, Ordinal: 4, Nodes: nodesIn(r.nodes), RequiredBy: r.running, OwnKeys: r.own}
		v := Evaluate(f, Settings{Topology: TopologyZone, Form: r.form})
		if got := v.Notes[0].Message; !strings.Contains(got, r.want) || r.running == nil && strings.Contains(got, "recreated") {
			t.Errorf("%s: %q, want %q", r.row, got, r.want)
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	for _, r := range spreadRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			at := nodesIn(r.nodes)
			f := Facts{
				Size: r.size, Ordinal: r.ordinal, Nodes: append(at, at...), ClusterZones: r.cluster,
				Volumes: volumes(r.volumes, at), Ordered: r.ordered, OwnKeys: r.own, OwnSoftKeys: r.soft,
			}
			s := Settings{Topology: r.topology, Enforcement: r.required, Form: r.form, ZoneKey: ZoneKey}
			if s.Topology == "" {
				s.Topology = TopologyZone
			}
			v := Evaluate(f, s)
			if got, notes := inShort(v.Terms), policytest.ReasonsOf(v.Notes); got != r.want || notes != r.notes {
				t.Errorf("got %q %q, want %q %q\n%v", got, notes, r.want, r.notes, v.Notes)
			}
			if v.Topology != TopologyZone && v.Topology != TopologyHostname {
				t.Errorf("topology %s", v.Topology)
			}
		})
	}
}
