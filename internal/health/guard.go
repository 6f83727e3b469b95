// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func guardChecks() []Check {
	return []Check{
		{
			ID: "G001", Category: Guard, Title: "etcd-webhook is installed",
			Doc:  "With etcd-webhook, members are spread at admission, budgets follow the members' health, and a cut of client traffic ends automatically. The result is information, because a cluster works without it.",
			Cure: "Install it as docs/install.md describes: kubectl apply --server-side -f with the manifest of a release.",
			run:  installed, needs: NeedWebhook,
		},
		{
			ID: "G002", Category: Guard, Title: "one topology policy governs the cluster",
			Doc:  "The check reads which EtcdTopologyPolicy applies. If two policies have the same priority, neither applies. If only mounted files or envFrom show that the pods run etcd, etcd-webhook doesn't recognise the cluster, and no policy applies.",
			Cure: "If two policies have the same priority, give one another priority, or narrow its selectors. If the cluster isn't recognised, declare with the annotation kubectl-etcd.dev/etcd which container runs etcd.",
			run:  governed,
		},
		{
			ID: "G003", Category: Guard, Title: "no operation is under way",
			Doc:  "The check reports a scale, a rollout, or another operation of kubectl etcd, which holds the cluster's lock. Until it ends, other findings may be temporary. If a lock has not been renewed for a minute, the process that held it has died.",
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
		return []Finding{info("", "etcd-webhook is not installed: members are not spread at admission, and budgets stay as they are")}
	}
	return nil
}

func governed(f *Facts) []Finding {
	m := f.Policy.Value
	switch {
	case f.Policy.Err != nil:
		return []Finding{unknown("the EtcdTopologyPolicies", f.Policy.Err)}
	case len(m.Conflict) > 0:
		higher := int32(1)
		if len(m.Tied) > 0 {
			higher += m.Tied[0].Spec.Priority
		}
		return []Finding{warning(fmt.Sprintf(`kubectl patch etcdtopologypolicy %s --type=merge -p '{"spec":{"priority":%d}}'%s`, m.Conflict[0], higher, f.Flags),
			"policies %s have the same priority, so none applies", policy.List(m.Conflict))}
	case m.OptedOut:
		return []Finding{info("", "the annotation %s=%s excludes the cluster from every policy", v1alpha1.TopologyPolicyAnnotation, v1alpha1.OptOut)}
	case m.Separate != "":
		return []Finding{info("", "policy %s does not apply, because each pod lists only itself: it is an etcd of its own, and no member of one cluster", m.Separate)}
	case m.Unrecognised != "":
		return []Finding{warning(f.kubectl("annotate", "statefulset", f.Owner.StatefulSet, v1alpha1.EtcdAnnotation+"="+f.Owner.Mounted),
			"policy %s does not apply, because only mounted ConfigMaps or envFrom show that the pods run etcd, and etcd-webhook does not read them", m.Unrecognised)}
	case m.Policy == nil && !f.Installed.Value:
		return notApplicable("no EtcdTopologyPolicy selects the cluster")
	case m.Policy == nil:
		return []Finding{info("", "no EtcdTopologyPolicy selects the cluster: etcd-webhook does not act on it")}
	}
	return ok("%s, mode %s", m.Policy.Name, cmp.Or(string(m.Policy.Spec.Mode), string(v1alpha1.ModeEnforce)))
}

// StoppedHalfWay reports whether an operation of this program that starts the members again has stopped all of them,
// and was interrupted.
func (f *Facts) StoppedHalfWay() bool {
	return f.Size() == 0 && f.KeepsClientsAway && f.UnderWay.Value != nil && f.UnderWay.Value.Interrupted
}

// leavesNothing are the operations that leave nothing to continue without a journal if all members are healthy. Others,
// as volume grow, also change objects that the members' health doesn't show.
var leavesNothing = []string{"member replace", "scale", "defrag", "move-leader", "snapshot save"}

// ended reports whether nothing is left of an operation that stopped: it has no journal, it is one of which the members'
// health shows the end, and all members are healthy voters and have their volumes. A sidecar may have completed it.
func (f *Facts) ended() bool {
	u, v := f.UnderWay.Value, f.voters()
	return u != nil && u.Interrupted && f.Unrecorded && slices.Contains(leavesNothing, u.Operation) && f.UnderWay.Err == nil &&
		f.Cluster.Err == nil && !f.Cluster.Value.Cluster.TrafficCut && !f.suspendedByCut() &&
		f.listKnown() && !f.hasLearner() && len(v.following) == v.total && v.total == f.desired() && f.nothingLeaves()
}

// suspendedByCut reports whether a traffic cut has suspended etcd-druid, also before it has cut a Service.
func (f *Facts) suspendedByCut() bool {
	e := f.Etcd.Value
	return f.Etcd.Err != nil || e != nil && e.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation] == v1alpha1.ClientTrafficKey
}

// nothingLeaves reports whether no pod and no volume claim of the members is being deleted. It returns false for unknown.
func (f *Facts) nothingLeaves() bool {
	return f.Pods.Err == nil && f.Claims.Err == nil &&
		!slices.ContainsFunc(f.Pods.Value, func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }) &&
		!slices.ContainsFunc(f.Claims.Value, func(c corev1.PersistentVolumeClaim) bool { return c.DeletionTimestamp != nil })
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
	case f.ended():
		found = append(found, info("", "%s by %s stopped before it ended. All members are healthy, and it left nothing to continue", u.Operation, u.Holder))
	case !u.Interrupted:
		found = append(found, info("", "%s by %s", u.Operation, u.Holder))
	case f.StoppedHalfWay():
		down := failure(f.Command("status"), "kubectl etcd %s was interrupted, and has stopped all members: continue it or end it, and do not scale the workload yourself", u.Operation)
		down.Reason = policy.NoQuorum
		found = append(found, down)
	case u.Change != "":
		found = append(found, warning(f.Command("status"), "kubectl etcd %s was interrupted and is half done: resume it or abort it before any other change", u.Operation))
	case u.Holder == "":
		found = append(found, warning(f.Command("status"), "kubectl etcd %s was interrupted: continue it or end it before any other change", u.Operation))
	case u.Renewed != nil:
		found = append(found, warning(f.Command("status"), "%s by %s stopped %s ago before it ended", u.Operation, u.Holder, format.Age(f.At.Sub(u.Renewed.Time))))
	default:
		found = append(found, warning(f.Command("status"), "%s by %s stopped before it ended", u.Operation, u.Holder))
	}
	return found
}
