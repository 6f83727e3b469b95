// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// judge finds how one cluster stands under its policy, and what to say to its
// owner.
func (t *TopologyPolicy) judge(ctx context.Context, o observe.Owner, p *v1alpha1.EtcdTopologyPolicy) (v1alpha1.ClusterStatus, []policy.Note) {
	status := v1alpha1.ClusterStatus{Namespace: o.Namespace, Kind: o.Kind, Name: o.Name, Budget: t.budget(o, p)}
	if p.Spec.Mode == v1alpha1.ModeOff {
		status.Spread = off()
		return status, nil
	}
	verdict, standing, err := t.spread(ctx, o, p)
	if err != nil {
		status.Spread = v1alpha1.Finding{Verdict: v1alpha1.Unknown, Reason: reasonUnobserved, Message: cut(err.Error())}
		return status, nil
	}
	status.Spread = v1alpha1.Finding{Verdict: verdictOf(standing.Kept), Reason: standing.Reason, Message: cut(standing.Message)}
	if p.Spec.Mode != v1alpha1.ModeWarn {
		return status, nil
	}
	would := fmt.Sprintf("EtcdTopologyPolicy %s (mode Warn): new members would go to %s", p.Name, observe.DescribeTerms(verdict.Terms))
	if standing.Kept == policy.False {
		would += "; now " + standing.Message
	}
	return status, append([]policy.Note{{Reason: reasonPolicyWarns, Message: would}}, verdict.Notes...)
}

// spread asks the rule about the cluster's next member, and where those that
// run stand. A workload that isn't there yet has nobody anywhere.
func (t *TopologyPolicy) spread(ctx context.Context, o observe.Owner, p *v1alpha1.EtcdTopologyPolicy) (policy.SpreadVerdict, policy.Standing, error) {
	pod, found, err := t.Reader.MemberPod(ctx, o)
	if err != nil {
		return policy.SpreadVerdict{}, policy.Standing{}, err
	}
	if !found {
		return policy.SpreadVerdict{}, policy.Standing{Kept: policy.Unknown, Reason: policy.NotScheduled, Message: "its workload is gone"}, nil
	}
	settings := observe.SpreadSettings(p)
	facts, err := t.Reader.SpreadOutlook(ctx, o, pod, settings.ZoneKey)
	if err != nil {
		return policy.SpreadVerdict{}, policy.Standing{}, err
	}
	members, err := t.Reader.Placement(ctx, o, settings.ZoneKey)
	if err != nil {
		return policy.SpreadVerdict{}, policy.Standing{}, err
	}
	verdict := policy.Spread(facts, settings)
	return verdict, policy.Stand(int(o.Replicas), members, verdict.Topology, facts.Places), nil
}

func (t *TopologyPolicy) budget(o observe.Owner, p *v1alpha1.EtcdTopologyPolicy) v1alpha1.Finding {
	if p.Spec.Mode == v1alpha1.ModeOff || !p.Spec.Disruption.On() {
		return off()
	}
	if finding, ok := t.Findings.Of(o.Key()); ok {
		finding.Message = cut(finding.Message)
		return finding
	}
	return v1alpha1.Finding{Verdict: v1alpha1.Unknown, Reason: reasonNotYet}
}

func off() v1alpha1.Finding {
	return v1alpha1.Finding{Verdict: v1alpha1.Off, Reason: reasonPolicyOff}
}

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
