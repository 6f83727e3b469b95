// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/words"
)

func guardChecks() []Check {
	return []Check{
		{
			ID: "G001", Category: Guard, Title: "etcd-webhook is installed",
			Doc:  "With it members are spread at admission, budgets follow the members' health, and a cut of client traffic ends automatically. This is information: a cluster works without it.",
			Cure: "Install it from manifests/.",
			run:  installed, needs: NeedWebhook,
		},
		{
			ID: "G002", Category: Guard, Title: "one topology policy governs the cluster",
			Doc:  "Which EtcdTopologyPolicy applies. Of two with the same priority neither does. None applies to a cluster that etcd-webhook does not recognise, because only what its pods mount shows that they run etcd.",
			Cure: "Give one of the policies another priority, or narrow its selectors. Declare with the annotation kubectl-etcd.dev/etcd which container runs etcd.",
			run:  governed,
		},
		{
			ID: "G003", Category: Guard, Title: "no operation is under way",
			Doc:  "A scale, a rollout, or another operation of kubectl etcd, which holds the cluster's lock. Other findings may be temporary meanwhile. A lock that has not been renewed for a minute was left by a process that died.",
			Cure: "Wait until it ends. To resume an interrupted operation, run the same command again.",
			run:  noOperation,
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
			"policies %s have the same priority, so that none applies", words.List(m.Conflict))}
	case m.OptedOut:
		return []Finding{info("", "the annotation %s=%s takes the cluster out of every policy", v1alpha1.TopologyPolicyAnnotation, v1alpha1.OptOut)}
	case m.Unrecognised != "":
		return []Finding{warning(f.kubectl("annotate", "statefulset", f.Owner.StatefulSet, v1alpha1.EtcdAnnotation+"="+f.Owner.Mounted),
			"policy %s does not apply, because only mounted ConfigMaps or envFrom show that the pods run etcd, and etcd-webhook does not read them", m.Unrecognised)}
	case m.Policy == nil && !f.Installed.Value:
		return notApplicable("no EtcdTopologyPolicy selects the cluster")
	case m.Policy == nil:
		return []Finding{info("", "no EtcdTopologyPolicy selects the cluster: etcd-webhook leaves it alone")}
	}
	return ok("%s, mode %s", m.Policy.Name, cmp.Or(string(m.Policy.Spec.Mode), string(v1alpha1.ModeEnforce)))
}

func noOperation(f *Facts) []Finding {
	var found []Finding
	if op := f.operation(); op != "" {
		found = append(found, info("", "%s", op))
	}
	if f.Cluster.Err != nil {
		found = append(found, unknown("the workload", f.Cluster.Err))
	}
	if f.UnderWay.Err != nil {
		found = append(found, unknown("operations of kubectl etcd", f.UnderWay.Err))
	}
	u := f.UnderWay.Value
	switch {
	case u == nil:
	case !u.Interrupted:
		found = append(found, info("", "%s by %s", u.Operation, u.Holder))
	case u.Change != "":
		found = append(found, warning(f.Command("status"), "kubectl etcd %s was interrupted and is half done: resume it or abort it before any other change", u.Operation))
	case u.Renewed != nil:
		found = append(found, warning(f.Command("status"), "%s by %s stopped %s ago without an end", u.Operation, u.Holder, ago(f.At.Sub(u.Renewed.Time))))
	default:
		found = append(found, warning(f.Command("status"), "%s by %s stopped without an end", u.Operation, u.Holder))
	}
	return found
}
