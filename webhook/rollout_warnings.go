// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// warnSeveral adds a warning if a rollout of the StatefulSet restarts several members of a cluster at once that
// a policy selects. A write that changes nothing of rollouts has none.
func (h *rolloutHandler) warnSeveral(ctx context.Context, req admission.Request, w *rolloutWrite, d Decision) Decision {
	author, replicas := w.author(), w.asked()
	n := annotation.RestartsAtOnce(&author, replicas)
	if n <= 1 || d.Outcome == FailedOpen || !w.concernsRollouts() {
		return d
	}
	o, found, err := h.reader.OwnerOfStatefulSet(ctx, w.before)
	if err != nil || !found {
		return d
	}
	by, _ := guarding(ctx, h.reader, o, req, req.Kind.Kind, (*v1alpha1.EtcdTopologyPolicySpec).GuardRollouts)
	if by == nil {
		return d
	}
	if len(d.Patch) == 0 && len(d.Warnings) == 0 {
		d.Outcome, d.Reason, d.Policy = Warned, rollout.RestartsSeveral, by.Name
	}
	sts := w.after
	what := fmt.Sprintf("maxUnavailable %s lets a rollout restart %d of the %d pods of StatefulSet %s/%s at once", author.RollingUpdate.MaxUnavailable, n, replicas, sts.Namespace, sts.Name)
	one := ". To restart one at a time:"
	if w.admission.Held && len(d.Patch) > 0 || w.record != nil {
		one = ", but not the one that is held. To restart one at a time after that, too, when it is complete:"
	}
	d.Warnings = append(d.Warnings, what+one, fmt.Sprintf(`kubectl patch statefulset %s -n %s --type merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}}'`, sts.Name, sts.Namespace))
	return d
}

// overwritten returns a warning if a client writes another strategy while the rollout is held.
func (r *rolloutReview) overwritten(reason policy.Reason) []string {
	w := &r.write
	wrote := annotation.RolloutValueOf(&w.after.Spec.UpdateStrategy)
	if !w.admission.Held || w.admission.Begins || wrote == w.admission.Value {
		return nil
	}
	when := "when it is complete"
	if r.unguarded {
		when = "then"
	}
	return []string{fmt.Sprintf("%s (%s), so the strategy that you wrote applies %s", r.holds(true), reason, when)}
}

// holds returns the clause that the rollout is held, or would be.
func (r *rolloutReview) holds(enforced bool) string {
	set := fmt.Sprintf("the rollout of StatefulSet %s/%s", r.write.before.Namespace, r.write.before.Name)
	switch {
	case r.unguarded:
		return set + " is held until etcd-webhook releases it"
	case !enforced:
		return fmt.Sprintf("EtcdTopologyPolicy %s only warns: it would hold %s", r.policy.Name, set)
	}
	return fmt.Sprintf("EtcdTopologyPolicy %s holds %s", r.policy.Name, set)
}

// warnings returns why the template of a client waits, and how to release it.
func (r *rolloutReview) warnings(enforced bool) []string {
	if r.well.Reason == rollout.PeersMove {
		return r.peersWarnings(enforced)
	}
	then := "The members restart one at a time when the cluster is well"
	if r.unguarded {
		then = "The members restart by its author's strategy after the settle time"
	}
	why := fmt.Sprintf("%s: %s. %s", r.holds(enforced), r.well.Message, then)
	if !enforced {
		return []string{why}
	}
	return []string{why + ". To restart them now in any case, with your REASON:",
		fmt.Sprintf(`kubectl annotate %s -n %s --overwrite %s="%s REASON"`, r.owner.Target(), r.owner.Namespace, v1alpha1.RolloutAnnotation, v1alpha1.ReleasePrefix)}
}

// peersWarnings returns how all members restart at once, or how to do without where no write stops them all.
func (r *rolloutReview) peersWarnings(enforced bool) []string {
	sts := r.write.before
	if r.owner.InParts() {
		return []string{fmt.Sprintf("%s: %s. Restore the previous scheme and port: members that %s runs can't be restarted at once", r.holds(enforced), r.well.Message, r.owner.WorkloadNames())}
	}
	return []string{
		fmt.Sprintf("%s: %s. To restart all at once, which also writes --initial-advertise-peer-urls of the template into etcd's member list (it must have the new scheme and port):", r.holds(enforced), r.well.Message),
		fmt.Sprintf(`kubectl patch statefulset %s -n %s --type merge -p '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}'`, sts.Name, sts.Namespace),
		fmt.Sprintf("kubectl etcd restart %s -n %s --strategy coordinated", r.owner.Target(), r.owner.Namespace),
	}
}
