// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

func TestAssign(t *testing.T) {
	pods := func(names ...string) []access.Endpoint {
		var all []access.Endpoint
		for _, n := range names {
			all = append(all, access.Endpoint{Pod: n})
		}
		return all
	}
	for _, c := range []struct {
		row       string
		list      []Listed
		endpoints []access.Endpoint
		members   []Member
		want      string // the pods of the entries, - for none
	}{
		{
			row:       "first label of the peer URL",
			list:      []Listed{{ID: 1, PeerURLs: []string{"https://a-1.a.ns.svc:2380"}}, {ID: 2, PeerURLs: []string{"https://a-0.a.ns.svc:2380"}}},
			endpoints: pods("a-0", "a-1"),
			want:      "a-1 a-0",
		},
		{
			row:       "a name before others' labels: a peer URL that all share is ambiguous",
			list:      []Listed{{ID: 1, Name: "a-0", PeerURLs: []string{"http://a:2380"}}, {ID: 2, Name: "a-1", PeerURLs: []string{"http://a:2380"}}},
			endpoints: []access.Endpoint{{Pod: "a-0", PeerURLs: []string{"http://a:2380"}}, {Pod: "a-1", PeerURLs: []string{"http://a:2380"}}},
			want:      "a-0 a-1",
		},
		{
			row:       "names that are not the pods'",
			list:      []Listed{{ID: 1, Name: "infra0", PeerURLs: []string{"http://10.0.0.1:2380"}}},
			endpoints: []access.Endpoint{{Pod: "a-0", Name: "infra1"}, {Pod: "a-1", Name: "infra0"}},
			want:      "a-1",
		},
		{
			row:       "the configured peer URL before the label: a pod's name may be another's host",
			list:      []Listed{{ID: 1, PeerURLs: []string{"http://a-0.x:2380"}}},
			endpoints: []access.Endpoint{{Pod: "a-0", PeerURLs: []string{"http://a-0.y:2380"}}, {Pod: "a-1", PeerURLs: []string{"http://a-0.x:2380"}}},
			want:      "a-1",
		},
		{
			row:       "only the ID is left",
			list:      []Listed{{ID: 7, Name: "m", PeerURLs: []string{"http://10.0.0.1:2380"}}},
			endpoints: pods("a-0", "a-1"),
			members:   []Member{{Pod: "a-0", Err: errors.New("down")}, {Pod: "a-1", ID: 7}},
			want:      "a-1",
		},
		{
			row: "the peer URL of one has the host of another",
			list: []Listed{
				{ID: 2, Name: "a-2", PeerURLs: []string{"http://a-1.a:2381"}}, {ID: 3, Name: "a-1", PeerURLs: []string{"http://a-1.a:2380"}},
			},
			endpoints: pods("a-1", "a-2"),
			want:      "a-2 a-1",
		},
		{
			row:       "a member that never started has no pod",
			list:      []Listed{{ID: 7, PeerURLs: []string{"http://a-9.a:2380"}}},
			endpoints: pods("a-0"),
			want:      "-",
		},
	} {
		t.Run(c.row, func(t *testing.T) {
			assign(c.list, c.endpoints, c.members)
			var got []string
			for _, l := range c.list {
				if l.Pod == "" {
					l.Pod = "-"
				}
				got = append(got, l.Pod)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("pods %v, want %s", got, c.want)
			}
		})
	}
}

func TestIdentify(t *testing.T) {
	members := []Member{{Pod: "a-0", ID: 1}, {Pod: "a-1", ID: 0xbad}, {Pod: "a-2", ID: 3}}
	identify(members, []Listed{{ID: 1, Name: "zero", Pod: "a-0"}, {ID: 2, Pod: "a-1"}})
	if members[0].Err != nil || members[0].Name != "zero" {
		t.Errorf("the listed member: %+v", members[0])
	}
	for i, want := range map[int]string{
		1: "runs member 0000000000000bad, and the member list has 0000000000000002 for it",
		2: "runs member 0000000000000003, which the member list doesn't have",
	} {
		if got := Reason(members[i].Err); got != want {
			t.Errorf("%s: %q, want %q", members[i].Pod, got, want)
		}
	}
}

// TestStrays checks that an alarm of a member that doesn't answer is in force.
func TestStrays(t *testing.T) {
	members := []Member{
		{Pod: "a-0", ID: 1, raised: map[uint64][]string{1: {"NOSPACE"}, 2: {"NOSPACE"}, 3: {"CORRUPT", "NOSPACE"}, 9: {"NOSPACE"}}},
		{Pod: "a-1", ID: 2, raised: map[uint64][]string{9: {"NOSPACE"}}},
		{Pod: "a-2", ID: 4, raised: map[uint64][]string{4: {"CORRUPT"}, 8: {"CORRUPT"}}, Err: errUnexpectedMember},
	}
	list := []Listed{{ID: 1, Pod: "a-0"}, {ID: 2, Pod: "a-1"}, {ID: 3, Name: "a-2", Pod: "a-2"}}
	var found []string
	for _, a := range unmappedAlarms(members, list) {
		found = append(found, a.Type+" of "+a.Where())
	}
	want := []string{"CORRUPT of a-2", "NOSPACE of a-2", "NOSPACE of member 0000000000000009 (no longer in the member list)"}
	if !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
	for want, a := range map[string]Alarm{
		"member 0000000000000009":         NewAlarm(9, "CORRUPT", nil), // the list is unknown
		"a member that etcd doesn't name": NewAlarm(0, "CORRUPT", list),
	} {
		if a.Where() != want || a.Gone {
			t.Errorf("%+v is of %q, want %q", a, a.Where(), want)
		}
	}
	members[0].raised, members[1].raised = nil, nil
	if found := unmappedAlarms(members, list); len(found) > 0 {
		t.Errorf("alarms that an unexpected member reports are used: %v", found)
	}
}

func TestAlarms(t *testing.T) {
	members := []Member{
		{ID: 1, raised: map[uint64][]string{1: {"NOSPACE"}, 2: {"NOSPACE"}}},
		{ID: 2, raised: map[uint64][]string{1: {"NOSPACE"}, 2: {"NOSPACE", "CORRUPT"}}},
		{ID: 3},
	}
	shareAlarms(members)
	for i, want := range []string{"NOSPACE", "CORRUPT NOSPACE", ""} {
		if got := strings.Join(members[i].Alarms, " "); got != want {
			t.Errorf("member %d: %q, want %q", members[i].ID, got, want)
		}
	}
	for text, want := range map[string]string{
		"memberID:123 alarm:NOSPACE ":   "NOSPACE", // etcd 3.5
		"memberID:123  alarm:CORRUPT":   "CORRUPT", // 3.7
		"alarm:CORRUPT":                 "CORRUPT", // of no particular member
		"etcdserver: no leader":         "",
		"memberID:123 alarm:x and more": "",
	} {
		if _, got, _ := alarmIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestDuePod: the pod of a member is due while the StatefulSet asks for it, whatever
// its member is called.
func TestDuePod(t *testing.T) {
	t.Parallel()
	owner := owner.Owner{StatefulSet: "a", Replicas: 3}
	for _, row := range []struct {
		name string
		l    Listed
		want string
	}{
		{"has it", Listed{Pod: "a-1", Name: "a-1"}, ""},
		{"by its name", Listed{Name: "a-2"}, "a-2"},
		{"by its peer URL", Listed{Name: "prefix-a-2", PeerURLs: []string{"https://a-2.a-peer.ns.svc:2380"}}, "a-2"},
		{"another member has its pod", Listed{Name: "a-0", PeerURLs: []string{"https://10.0.0.1:2380"}}, ""},
		{"beyond the replicas", Listed{Name: "a-3", PeerURLs: []string{"https://a-3.a-peer.ns.svc:2380"}}, ""},
		{"of another", Listed{Name: "b-0", PeerURLs: []string{"https://10.0.0.1:2380"}}, ""},
	} {
		if got := row.l.DuePod(owner, []Listed{row.l, {ID: 7, Pod: "a-0"}}); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
