// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/budget"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// evaluate returns the status of one cluster under its policy, and the notes for its
// owner.
func (t *Reconciler) evaluate(ctx context.Context, o owner.Owner, p *v1alpha1.EtcdTopologyPolicy) (v1alpha1.ClusterStatus, []policy.Note) {
	status := v1alpha1.ClusterStatus{Namespace: o.Namespace, Kind: o.Kind, Name: o.Name, Budget: t.budgetFinding(o, p)}
	if p.Spec.Mode == v1alpha1.ModeOff {
		status.Spread = off()
		return status, nil
	}
	verdict, standing, err := t.spread(ctx, o, p)
	if err != nil {
		status.Spread = budget.NewFinding(v1alpha1.Unknown, reasons.Unobserved, format.Truncate(err.Error(), maxMessage))
		return status, nil
	}
	status.Spread = budget.NewFinding(verdictOf(standing.Kept), standing.Reason, format.Truncate(standing.Message, maxMessage))
	if p.Spec.Mode != v1alpha1.ModeWarn {
		return status, nil
	}
	preview := fmt.Sprintf("EtcdTopologyPolicy %s (mode Warn): new members would go to %s", p.Name, terms.Describe(verdict.Terms))
	if standing.Kept == policy.False {
		preview += "; now " + standing.Message
	}
	return status, append([]policy.Note{{Reason: reasons.PolicyWarns, Message: preview}}, verdict.Notes...)
}

// spread evaluates the rule for the cluster's next member, and where the running members
// are. The members of a workload that doesn't exist are nowhere.
func (t *Reconciler) spread(ctx context.Context, o owner.Owner, p *v1alpha1.EtcdTopologyPolicy) (spread.Result, spread.Status, error) {
	pod, found, err := scheduling.MemberPod(ctx, t.Reader, o)
	if err != nil {
		return spread.Result{}, spread.Status{}, err
	}
	if !found {
		return spread.Result{}, spread.Status{Kept: policy.Unknown, Reason: spread.NotScheduled, Message: "its workload does not exist"}, nil
	}
	settings := topologypolicy.SpreadSettings(p)
	facts, err := scheduling.FactsOfCluster(ctx, t.Reader, o, pod, settings.ZoneKey)
	if err != nil {
		return spread.Result{}, spread.Status{}, err
	}
	members, err := scheduling.Placement(ctx, t.Reader, o, settings.ZoneKey)
	if err != nil {
		return spread.Result{}, spread.Status{}, err
	}
	verdict := spread.Evaluate(facts, settings)
	return verdict, spread.StatusOf(o.Size(), members, verdict.Topology, facts.Nodes), nil
}

// budgetFinding returns what the Budget controller found of a cluster.
func (t *Reconciler) budgetFinding(o owner.Owner, p *v1alpha1.EtcdTopologyPolicy) v1alpha1.Finding {
	// Only the Budget controller knows which mode comes first. It may have found something
	// else before the policy changed.
	unkept := budget.Unkept(topologypolicy.Match{Policy: p})
	finding, ok := t.Findings.Get(o.Key())
	switch {
	case unkept != nil && (!ok || finding.Reason != unkept.Reason.Name()):
		return budget.NewFinding(v1alpha1.Off, unkept.Reason, format.Truncate(unkept.Message, maxMessage))
	case unkept == nil && ok && finding.Verdict == v1alpha1.Off:
		ok = false
	}
	if ok {
		finding.Message = format.Truncate(finding.Message, maxMessage)
		return finding
	}
	return budget.NewFinding(v1alpha1.Unknown, reasons.NotCheckedYet, "")
}

func off() v1alpha1.Finding { return budget.NewFinding(v1alpha1.Off, reasons.PolicyOff, "") }

func verdictOf(s policy.Status) v1alpha1.Verdict {
	switch s {
	case policy.True:
		return v1alpha1.Kept
	case policy.False:
		return v1alpha1.Broken
	case policy.Unknown, policy.Absent:
	}
	return v1alpha1.Unknown
}
