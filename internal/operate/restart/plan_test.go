// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// TestCheckHooks holds that a restart is refused for a command that takes a member out of etcd when its
// pod stops, and for no other one.
func TestCheckHooks(t *testing.T) {
	t.Parallel()
	const stop = etcdconf.PreStop
	for _, row := range []struct {
		id            string
		changes       []etcdconf.MemberChange
		refused, warn string
	}{
		{"CH-1 none", nil, "", ""},
		{"CH-2 a removal", []etcdconf.MemberChange{{Hook: stop, Verb: "remove"}}, "etcdctl member remove", ""},
		{"CH-3 a removal of the data", []etcdconf.MemberChange{{Hook: stop}}, "removal of the data directory", ""},
		{"CH-4 a removal, and one that adds", []etcdconf.MemberChange{{Verb: "add"}, {Hook: stop, Verb: "remove"}}, "", "until its start script adds it again"},
		{"CH-5 an update", []etcdconf.MemberChange{{Hook: stop, Verb: "update"}}, "", ""},
		{"CH-6 a promotion", []etcdconf.MemberChange{{Hook: stop, Verb: "promote"}}, "", ""},
		{"CH-7 an addition", []etcdconf.MemberChange{{Hook: stop, Verb: "add"}}, "", ""},
		{"CH-8 a removal at the start", []etcdconf.MemberChange{{Hook: "postStart", Verb: "remove"}, {Verb: "remove"}}, "", ""},
		{"CH-9 a hook that can't be read", []etcdconf.MemberChange{{Hook: stop, Unread: "/x: forbidden"}}, "", "/x: forbidden"},
		{"CH-10 a start script that can't be read", []etcdconf.MemberChange{{Unread: "/x: forbidden"}}, "", ""},
		{"CH-11 a removal, and another StatefulSet adds", []etcdconf.MemberChange{{Verb: "add", Workload: "a"}, {Hook: stop, Verb: "remove", Workload: "b"}}, "nothing adds the member again", ""},
		{"CH-12 a StatefulSet removes and adds", []etcdconf.MemberChange{{Verb: "add", Workload: "b"}, {Hook: stop, Verb: "remove", Workload: "b", Container: "etcd"}}, "", "of container etcd of b has"},
	} {
		f := &operate.Findings{}
		j := &Job{}
		j.Owner = owner.Owner{MemberChanges: row.changes}
		j.checkHooks(f)
		refused, warned := strings.Join(f.Refusals, ""), strings.Join(f.Warnings, "")
		if (row.refused == "") != (refused == "") || !strings.Contains(refused, row.refused) || (row.warn == "") != (warned == "") || !strings.Contains(warned, row.warn) {
			t.Errorf("%s: refused %q, warned %q", row.id, refused, warned)
		}
	}
}
