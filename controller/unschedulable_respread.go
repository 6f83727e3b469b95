// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Why admission would not require a term now.
const (
	byVolume = "its volume doesn't allow that. The new pod requires only what its volume allows"
	byNodes  = "by the nodes and the policy of now that is not required. The new pod gets the terms that they require"
	byPolicy = "no policy requires that any more"
)

// obsolete is a required term of a pod that admission would not require now, and why.
type obsolete struct {
	term spread.Term
	why  string
}

// respread deletes a pod that would get other terms from admission now. It reads the pod
// from the API server: the cache doesn't hold its spec, and the scheduler may have found a
// node meanwhile. It returns when to evaluate the pod again.
func (u *Unschedulable) respread(ctx context.Context, key client.ObjectKey, owner owner.Owner) (time.Duration, error) {
	var pod corev1.Pod
	if err := u.Reader.Live.Get(ctx, key, &pod); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	record, ok := annotation.SpreadRecordOf(&pod)
	if _, waits := unschedulableSince(&pod); !ok || !waits || pod.DeletionTimestamp != nil {
		return 0, nil
	}
	found, err := u.obsolete(ctx, &pod, owner, record)
	if err != nil || found == nil {
		return unschedulableRecheck, err
	}
	// Only the version that was evaluated may be deleted.
	err = u.Client.Delete(ctx, &pod, client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return batchWindow, nil
	}
	if err != nil {
		return 0, fmt.Errorf("delete unschedulable pod %s: %w", key, err)
	}
	warn(u.Recorder, owner, policy.Note{Reason: reasons.MemberRespread, Message: fmt.Sprintf(
		"deleted pod %s, which found no node for %s: it was required to run in %s, and %s",
		pod.Name, unschedulableFor, terms.DescribeOne(found.term), found.why)}, actionRespread)
	return 0, nil
}

// obsolete returns a required term of the pod that admission would not require now, nil for none.
func (u *Unschedulable) obsolete(ctx context.Context, pod *corev1.Pod, owner owner.Owner, record annotation.SpreadRecord) (*obsolete, error) {
	match, err := u.Reader.PolicyFor(ctx, owner)
	if err != nil {
		return nil, err
	}
	if u.released(client.ObjectKeyFromObject(pod), match, record) {
		return firstObsolete(pod, owner, record, nil, byPolicy), nil
	}
	if !match.In(v1alpha1.ModeEnforce) {
		// A policy that only warns, or one of several, deletes no pods.
		return nil, nil
	}
	settings := observe.SpreadSettings(match.Policy)
	facts, err := u.Reader.SpreadFacts(ctx, owner, pod, settings.ZoneKey)
	if err != nil {
		return nil, err
	}
	found := firstObsolete(pod, owner, record, spread.Evaluate(facts, settings).Terms, byNodes)
	// The rule evaluates volumes only for terms that it would require. The pod's terms were
	// required, so evaluate them as required even if the policy has changed since.
	settings.Enforcement = spread.Required
	if found != nil && volumePrevents(spread.Evaluate(facts, settings).Notes, found.term) {
		found.why = byVolume
	}
	return found, nil
}

// released reports whether no policy has required terms of a pod for as long as a cluster is held after
// its policy is gone. A record without a time may come from the pod's template, and would come back.
func (u *Unschedulable) released(key client.ObjectKey, match observe.Match, record annotation.SpreadRecord) bool {
	none := match.Policy == nil && len(match.Conflict) == 0 && match.Unrecognised == ""
	if !none && !match.In(v1alpha1.ModeOff) || record.At.IsZero() {
		u.unruled.remove(key)
		return false
	}
	now := u.Clock.Now()
	since := u.unruled.update(key, func(since time.Time) time.Time {
		if since.IsZero() {
			return now
		}
		return since
	})
	return now.Sub(since) >= max(settingsOf(match).Settle, unschedulableRecheck)
}

// firstObsolete returns the first required term of the record that the pod carries and that the terms of
// now don't require, nil for none.
func firstObsolete(pod *corev1.Pod, o owner.Owner, record annotation.SpreadRecord, now []spread.Term, why string) *obsolete {
	for _, t := range record.Terms {
		if t.Hard && terms.Has(pod, t, o) && !slices.ContainsFunc(now, func(n spread.Term) bool { return requires(n, t) }) {
			return &obsolete{term: t, why: why}
		}
	}
	return nil
}

// requires reports whether a term of now requires all that an earlier one requires.
func requires(now, before spread.Term) bool {
	if !now.Hard || now.TopologyKey != before.TopologyKey {
		return false
	}
	return now.Kind == spread.PodAntiAffinity || now.Kind == before.Kind && now.MinDomains >= before.MinDomains
}

// volumePrevents reports whether a term can't be met where the member's volume is.
func volumePrevents(notes []policy.Note, t spread.Term) bool {
	taken := spread.VolumeZoneTaken
	if t.TopologyKey == spread.HostnameKey {
		taken = spread.VolumeNodeTaken
	}
	return slices.ContainsFunc(notes, func(n policy.Note) bool {
		return n.Reason == taken || n.Reason == spread.VolumeNowhere
	})
}
