// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

func guardChecks() []Check {
	return []Check{
		{
			ID: "G001", Category: Guard, Title: "etcd-webhook is installed",
			Doc:  "With it members are spread at admission, budgets follow the members' health, and a cut of client traffic ends by itself. This is information: a cluster lives without it.",
			Cure: "Install it from manifests/.",
			run:  installed, needs: needGuard,
		},
		{
			ID: "G002", Category: Guard, Title: "one topology policy governs the cluster",
			Doc:  "Which EtcdTopologyPolicy applies. Of two with the same priority neither does.",
			Cure: "Give one of the policies another priority, or narrow its selectors.",
			run:  governed,
		},
		{
			ID: "G003", Category: Guard, Title: "no operation is under way",
			Doc:  "A scale, a rollout, or an operation of kubectl etcd by somebody else, which holds the cluster's lock. Findings above may be passing then. A lock that nobody renews was left by a program that died.",
			Cure: "Wait for it to end. The operation that was interrupted goes on where it stopped when the same command is run again.",
			run:  quiet,
		},
	}
}

func installed(f *Facts) []Finding {
	switch {
	case f.Installed.Err != nil:
		return []Finding{unknown("the webhook configurations", f.Installed.Err)}
	case !f.Installed.Value:
		return []Finding{info("", "it isn't: members are not spread at admission, and budgets stay as they are")}
	}
	return nil
}

func governed(f *Facts) []Finding {
	m := f.Policy.Value
	switch {
	case f.Policy.Err != nil:
		return []Finding{unknown("the EtcdTopologyPolicies", f.Policy.Err)}
	case len(m.Conflict) > 0:
		return []Finding{warning("kubectl patch etcdtopologypolicy "+m.Conflict[0]+` --type=merge -p '{"spec":{"priority":1}}'`+f.Flags,
			"policies %s have the same priority, so that none applies", list(m.Conflict))}
	case m.OptedOut:
		return []Finding{info("", "the annotation %s=%s takes the cluster out of every policy", v1alpha1.TopologyPolicyAnnotation, v1alpha1.OptOut)}
	case m.Policy == nil && !f.Installed.Value:
		return notApplicable("no EtcdTopologyPolicy selects the cluster")
	case m.Policy == nil:
		return []Finding{info("", "no EtcdTopologyPolicy selects the cluster: etcd-webhook leaves it alone")}
	}
	return ok("%s, mode %s", m.Policy.Name, or(string(m.Policy.Spec.Mode), string(v1alpha1.ModeEnforce)))
}

func quiet(f *Facts) []Finding {
	var found []Finding
	if op := f.operation(); op != "" {
		found = append(found, info("", "%s", op))
	}
	if f.Cluster.Err != nil {
		found = append(found, unknown("the workload", f.Cluster.Err))
	}
	if f.Leases.Err != nil {
		return append(found, unknown("the cluster's lock", f.Leases.Err))
	}
	i := slices.IndexFunc(f.Leases.Value, func(l coordinationv1.Lease) bool { return l.Name == f.LockName })
	if i < 0 {
		return found
	}
	lease := f.Leases.Value[i].Spec
	if lease.HolderIdentity == nil || *lease.HolderIdentity == "" {
		return found
	}
	what := or(f.Leases.Value[i].Annotations[f.OperationKey], "an operation")
	age, _ := f.renewal(f.LockName)
	// Two machines' clocks: only an age beyond any skew says that the holder died.
	if age > time.Minute {
		return append(found, warning(f.cmd("status"), "%s by %s stopped %s ago without an end", what, *lease.HolderIdentity, ago(age)))
	}
	return append(found, info("", "%s by %s", what, *lease.HolderIdentity))
}
