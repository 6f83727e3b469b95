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
	removes := map[flavour.Name]bool{flavour.Bitnami: true, flavour.Cozystack: true, flavour.EtcdOperator: true, flavour.Improbable: true}
	for _, p := range flavour.All() {
		if p.Name == flavour.Druid {
			continue
		}
		w := workload{owner: owner.Owner{Distribution: p.Name, WorkloadKind: owner.StatefulSet, Name: "main", Namespace: "team", StatefulSet: "main"}}
		var f scale.Facts
		w.membership(&f, ScaleWrite{Name: "main", Now: 3, Asked: 1})
		if (f.Manager != "") != removes[p.Name] {
			t.Errorf("%s: manager %q", p.Name, f.Manager)
		}
		if managed := p.Membership.Manager != flavour.Unmanaged; managed != (f.How != "") {
			t.Errorf("%s: how %q", p.Name, f.How)
		}
	}
	for verb, hook := range map[string]string{"add": "", "remove": "preStop"} {
		w := workload{owner: owner.Owner{Distribution: flavour.Plain, MemberChanges: []etcdconf.MemberChange{{Container: "etcd", Hook: hook, Verb: verb}}}}
		var f scale.Facts
		w.membership(&f, ScaleWrite{Name: "main", Now: 3, Asked: 1})
		if (f.Manager != "") != (verb == "remove") {
			t.Errorf("a script that runs member %s: manager %q", verb, f.Manager)
		}
	}
}
