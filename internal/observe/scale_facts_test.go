// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
)

// TestScaleManager holds that a manager takes part in the scale rule only if it removes members.
// For the others a smaller StatefulSet is a loss of voters.
func TestScaleManager(t *testing.T) {
	t.Parallel()
	removes := map[flavour.Name]bool{flavour.Cozystack: true, flavour.EtcdOperator: true, flavour.Improbable: true}
	for _, p := range flavour.All() {
		w := Workload{owner: owner.Owner{Distribution: p.Name, WorkloadKind: owner.StatefulSet, Name: "main", Namespace: "team", StatefulSet: "main"}}
		var f scale.Facts
		w.membership(&f, ScaleWrite{Name: "main", Now: 3, Asked: 1})
		if (f.Manager != "") != removes[p.Name] {
			t.Errorf("%s: the scale rule gets the manager %q; add the product to removes if its manager removes members from etcd", p.Name, f.Manager)
		}
		if p.Membership.AddsOnly != (f.Adder != "") {
			t.Errorf("%s: the scale rule gets %q as an operator that adds members and removes none", p.Name, f.Adder)
		}
		if sets := p.Membership.Manager == flavour.ByOperator && !removes[p.Name] && !p.Membership.AddsOnly; sets != (f.Operator != "") {
			t.Errorf("%s: the scale rule gets %q as an operator that only sets the replicas", p.Name, f.Operator)
		}
		if managed := p.Membership.Manager != flavour.Unmanaged; managed != (f.How != "") {
			t.Errorf("%s: how %q", p.Name, f.How)
		}
	}
	// Only a hook that removes the member of each pod that stops counts as a manager that removes
	// members.
	for _, hook := range []string{"", "postStart", etcdconf.PreStop} {
		for _, m := range []etcdconf.MemberChange{
			{Verb: "add"}, {Verb: "remove"}, {Verb: "update"}, {Verb: "promote"}, {}, {Verb: "remove", Unclear: true}, {Verb: "remove", Perhaps: true}, {Unread: "/start.sh: forbidden"},
		} {
			m.Container, m.Hook = "etcd", hook
			w := Workload{owner: owner.Owner{Distribution: flavour.Plain, MemberChanges: []etcdconf.MemberChange{m}}}
			var f scale.Facts
			w.membership(&f, ScaleWrite{Name: "main", Now: 3, Asked: 1})
			if want := hook == etcdconf.PreStop && m.Verb == "remove" && !m.Unclear && !m.Perhaps; (f.Manager != "") != want {
				t.Errorf("%+v: manager %q, want one: %t", m, f.Manager, want)
			}
		}
	}
}
