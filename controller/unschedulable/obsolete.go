// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package unschedulable

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Why admission would not require a term now.
const (
	byVolume = "its volume doesn't allow that. The new pod requires only what its volume allows"
	byNodes  = "with the current nodes, that is not required. The new pod gets the terms that they require"
	byPolicy = "no policy requires that any more"
)

// obsolete is a required term of a pod that admission would not require now, why, and for how long the pod
// must still wait before it is deleted for that.
type obsolete struct {
	term spread.Term
	why  string
	rest time.Duration
}

// longest returns for how long the pod must still wait. Its next pod gets no term again, so every cause
// must be certain.
func longest(found []obsolete) time.Duration {
	var rest time.Duration
	for _, o := range found {
		rest = max(rest, o.rest)
	}
	return rest
}

// obsolete returns the required terms of the pod that admission would not require now.
func (u *Reconciler) obsolete(ctx context.Context, pod *corev1.Pod, owner owner.Owner, record annotation.SpreadRecord) ([]obsolete, error) {
	match, err := topologypolicy.For(ctx, u.Reader, owner)
	if err != nil {
		return nil, err
	}
	if u.released(client.ObjectKeyFromObject(pod), match) {
		return notRequired(pod, owner, record, nil), nil
	}
	if !match.In(v1alpha1.ModeEnforce) {
		// A policy that only warns, or one of several, deletes no pods.
		return nil, nil
	}
	settings := topologypolicy.SpreadSettings(match.Policy)
	facts, err := scheduling.Facts(ctx, u.Reader, owner, pod, settings.ZoneKey)
	if err != nil {
		return nil, err
	}
	rest := nodesSettle - u.Clock.Since(u.nodesSince(pod, facts))
	now := spread.Evaluate(facts, settings)
	found := notRequired(pod, owner, record, now.Terms)
	for i, o := range found {
		switch {
		case !asks(settings, o.term):
		case volumePrevents(now.Notes, o.term):
			found[i].why = byVolume
		default:
			found[i].why, found[i].rest = byNodes, rest
		}
	}
	return found, nil
}

// released reports whether no policy has required terms of a pod for as long as a cluster is held after
// its policy is gone.
func (u *Reconciler) released(key client.ObjectKey, match topologypolicy.Match) bool {
	none := match.Policy == nil && len(match.Conflict) == 0 && match.Unrecognised == ""
	if !none && !match.In(v1alpha1.ModeOff) {
		u.unruled.Remove(key)
		return false
	}
	now := u.Clock.Now()
	since := u.unruled.Update(key, func(since time.Time) time.Time {
		if since.IsZero() {
			return now
		}
		return since
	})
	return now.Sub(since) >= max(settle(match), unschedulableRecheck)
}

// settle returns for how long a cluster is held after its policy is gone, by the policy that selects it or
// by default.
func settle(match topologypolicy.Match) time.Duration {
	return topologypolicy.BudgetSettings(cmp.Or(match.Policy, &v1alpha1.EtcdTopologyPolicy{})).Settle
}

// notRequired returns the required terms of the record that the pod carries and that the current terms
// don't require.
func notRequired(pod *corev1.Pod, o owner.Owner, record annotation.SpreadRecord, now []spread.Term) []obsolete {
	var found []obsolete
	for _, t := range record.Terms {
		if t.Hard && terms.Has(pod, t, o) && !slices.ContainsFunc(now, func(n spread.Term) bool { return requires(n, t) }) {
			found = append(found, obsolete{term: t, why: byPolicy})
		}
	}
	return found
}

// requires reports whether a current term requires all that an earlier one requires.
func requires(now, before spread.Term) bool {
	if !now.Hard || now.TopologyKey != before.TopologyKey {
		return false
	}
	return now.Kind == spread.PodAntiAffinity || now.Kind == before.Kind && now.MinDomains >= before.MinDomains
}

// asks reports whether the settings of a policy ask for a required term, whatever the nodes and volumes are.
func asks(s spread.Settings, t spread.Term) bool {
	switch {
	case s.Enforcement == spread.Preferred:
		return false
	case t.TopologyKey == spread.HostnameKey:
		return true
	case s.Topology == spread.TopologyHostname || t.TopologyKey != s.ZoneKey:
		return false
	}
	return t.Kind == spread.TopologySpread || s.Form == spread.FormAntiAffinity
}

// volumePrevents reports whether a term can't be met where the member's volume is. A volume that no node
// allows is no such cause: its node may come back.
func volumePrevents(notes []policy.Note, t spread.Term) bool {
	taken := []policy.Reason{spread.VolumeZoneTaken, spread.VolumeUnplaced}
	if t.TopologyKey == spread.HostnameKey {
		taken = []policy.Reason{spread.VolumeNodeTaken}
	}
	return slices.ContainsFunc(notes, func(n policy.Note) bool { return slices.Contains(taken, n.Reason) })
}
