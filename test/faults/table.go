// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
)

// fault is one way to disturb a cluster.
type fault struct {
	name string
	// weight is how often the fault is drawn, compared with the others.
	weight int
	// lasts is set if the fault has an end. It begins once until then, or once for each member if
	// it stops members.
	lasts bool
	// stops is set if the fault stops the step's member until it ends.
	stops bool
	// kinds are the clusters on which the fault is possible, nil for all.
	kinds []Kind
	// scales is set if the fault writes the replicas.
	scales bool
	// may reports whether the fault is possible. Nil means always. A fault with stops needs none.
	may func(*model) bool
	// do begins the fault. It returns what happened. end is nil if nothing has to be undone. An
	// error means that the test can't continue; a refusal is no error.
	do func(context.Context, *world, Step) (outcome string, end func(context.Context) error, err error)
}

// The faults on which the generator's conditions depend.
const (
	policyDeleted = "delete the policy"
	policyOff     = "switch the policy off"
	webhookKilled = "kill all replicas of etcd-webhook"
	webhookPaused = "freeze all replicas of etcd-webhook"
)

// ofStatefulSets are the clusters whose budget and backups are not etcd-druid's.
//
//nolint:gochecknoglobals // a constant
var ofStatefulSets = []Kind{Plain, Scaled}

// on reports whether the fault is possible on a cluster of a kind.
func (f *fault) on(k Kind) bool { return f.kinds == nil || slices.Contains(f.kinds, k) }

// table lists all faults. An eviction needs a policy in force. All other dangerous requests also
// need etcd-webhook: its absence leaves only the budget, which covers only evictions.
//
//nolint:gochecknoglobals // a table
var table = []fault{
	{name: "kill etcd", weight: 3, lasts: true, stops: true, do: killMember},
	{name: "freeze etcd", weight: 4, lasts: true, stops: true, do: freezeMember},
	{name: "isolate the node", weight: 3, lasts: true, stops: true, do: isolateNode},

	{name: "evict", weight: 5, may: (*model).guarded, do: evict},
	{name: "evict two at once", weight: 4, may: (*model).guarded, do: evictTwo},
	{name: "drain the node", weight: 3, lasts: true, may: (*model).guarded, do: drain},
	{name: "delete the pod", weight: 3, may: (*model).reviewed, do: deletePod},
	{name: "scale", weight: 3, lasts: true, scales: true, may: (*model).reviewed, kinds: []Kind{Plain}, do: scale},
	{name: "change the template", weight: 4, may: (*model).reviewed, kinds: []Kind{Plain}, do: changeTemplate},
	{name: "scale with kubectl etcd", weight: 6, lasts: true, may: (*model).reviewed, kinds: []Kind{Scaled}, do: scaleByPlugin},

	{name: "fail the backups", weight: 2, lasts: true, kinds: ofStatefulSets, do: failBackups},
	{name: policyDeleted, weight: 1, lasts: true, may: (*model).guarded, do: deletePolicy},
	{name: policyOff, weight: 1, lasts: true, may: (*model).guarded, do: switchPolicyOff},
	{name: "create a foreign budget", weight: 2, lasts: true, may: (*model).reviewed, kinds: ofStatefulSets, do: createForeignBudget},
	{name: "delete the budget", weight: 1, may: (*model).reviewed, kinds: ofStatefulSets, do: deleteBudget},
	{name: "loosen the budget", weight: 2, may: (*model).reviewed, do: loosenBudget},

	{name: "kill a replica of etcd-webhook", weight: 2, do: killReplica},
	{name: webhookKilled, weight: 1, lasts: true, do: killReplicas},
	{name: "freeze a replica of etcd-webhook", weight: 2, lasts: true, do: freezeReplica},
	{name: webhookPaused, weight: 1, lasts: true, do: freezeReplicas},
	{name: "restart the API server", weight: 1, do: restartAPIServer},
}

// faultOf returns the fault of that name. It panics for a name that is not in the table.
func faultOf(name string) *fault {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	panic(fmt.Sprintf("no fault is called %q", name))
}
