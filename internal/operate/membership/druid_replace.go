// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// DruidReplaceNeeds returns the permissions to replace a pod's member by its sidecar.
func (m *Members) DruidReplaceNeeds(pod string) []operate.Need {
	o := m.Owner
	need := operate.NeedIn(o.Namespace)
	return slices.Concat(memberlist.Needs(o), druidViewNeeds(o), []operate.Need{
		need("get", "", "persistentvolumeclaims", "", ""), need("delete", "", "persistentvolumeclaims", "", ""),
		need("delete", "", "pods", "", pod),
	})
}

// PlanDruidReplace checks whether a pod's member may be replaced by its sidecar, and returns the plan.
func (m *Members) PlanDruidReplace(ctx context.Context, pod string, force bool) (*DruidReplacement, operate.Plan, error) {
	what := fmt.Sprintf("replace %s of %s", pod, m.Owner)
	s, err := m.observeDruid(ctx, pod)
	if none, ok := err.(*noQuorumError); ok { //nolint:errorlint // survey returns it as it is
		return nil, operate.Plan{}, &operate.RefusedError{What: what, Why: []string{memberlist.NoQuorum(none.survey, m.Owner)}}
	}
	if err != nil {
		return nil, operate.Plan{}, err
	}
	r := &DruidReplacement{pod: s.pods[pod], claims: s.claims[pod], members: len(s.survey.List)}
	s.Members = m.druidPeers(s)
	for at := range max(int(m.Owner.Replicas), len(s.pods), highest(s.Members)+1) {
		s.Ordinals = append(s.Ordinals, membership.Replica{Pod: m.Owner.PodName(at)})
	}
	j := &Change{Record: membership.Record{Ordinal: m.Owner.Ordinal(pod)}}
	f := &operate.Findings{}
	if len(s.Ordinals) > j.Ordinal && j.Ordinal >= 0 {
		if err := m.checkReplaced(ctx, s, j, force, f); err != nil {
			return nil, operate.Plan{}, err
		}
	} else {
		f.Refuse("it is not one of the cluster's pods")
	}
	if len(m.Owner.Claims) == 0 {
		f.Refuse("it has no volume claim to delete")
	}
	if r.Member = j.Member; r.Member == 0 {
		r.members++ // it is not in the list that was counted
	}
	return r, operate.Plan{
		Title: fmt.Sprintf("replace the member of %s with an empty one", pod), Facts: f.Facts, Warnings: f.Warnings, Subject: r.subject(),
		Steps: []string{"delete its volume claim, then its pod", "watch until its sidecar has removed the old member and added the new one, and it votes"},
	}, f.Refused(what)
}

// druidPeers returns the members of the list. One whose pod doesn't exist at the moment has the ordinal
// of the pod that will run it again.
func (m *Members) druidPeers(s *observation) []membership.Peer {
	peers := memberlist.Peers(m.Owner, s.survey)
	for i, l := range s.survey.List {
		if due := l.DuePod(m.Owner, s.survey.List); due != "" {
			peers[i].Ordinal = m.Owner.Ordinal(due)
		}
	}
	return peers
}

// observeDruid reads what a replacement needs.
func (m *Members) observeDruid(ctx context.Context, pod string) (*observation, error) {
	s := &observation{pods: map[string]*corev1.Pod{}, container: "etcd"}
	if err := m.survey(ctx, s); err != nil {
		return nil, err
	}
	var err error
	s.claims, err = m.Reader.MemberClaims(ctx, m.Owner, append(slices.Sorted(maps.Keys(s.pods)), pod)...)
	return s, err
}

// DruidReplacement is a replacement of a member of an Etcd.
type DruidReplacement struct {
	// Member is the ID of the member that is removed.
	Member uint64
	// Deleted is true when the claims and the pod are deleted, so that the sidecar continues.
	Deleted bool

	pod     *corev1.Pod
	claims  []*corev1.PersistentVolumeClaim
	members int
}

// subject identifies the member, its pod and its volumes.
func (r *DruidReplacement) subject() string {
	var of []types.UID
	if r.pod != nil {
		of = append(of, r.pod.UID)
	}
	for _, claim := range r.claims {
		of = append(of, claim.UID)
	}
	return fmt.Sprint(r.Member, of)
}

// ReplaceDruid deletes the pod and the claims of the plan, by UID, and waits until a new member votes.
func (m *Members) ReplaceDruid(ctx context.Context, r *DruidReplacement, dry bool) error {
	var options []client.DeleteOption
	if dry {
		options = append(options, client.DryRunAll)
	}
	if err := m.checkLock(); err != nil {
		return err
	}
	for _, claim := range r.claims {
		if err := m.Kube.Delete(ctx, claim, append(options, client.Preconditions{UID: &claim.UID})...); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete PersistentVolumeClaim %s: %w", claim.Name, err)
		}
	}
	if r.pod != nil {
		if err := m.Kube.Delete(ctx, r.pod, append(options, client.Preconditions{UID: &r.pod.UID})...); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete pod %s: %w", r.pod.Name, err)
		}
	}
	if dry {
		return nil
	}
	r.Deleted = true
	m.Logf("deleted the volume claim and the pod")
	var w operate.Waiter
	for {
		now, done, err := m.allVote(ctx, r.members)
		if err != nil {
			now, done = err.Error(), false
		}
		if done && !m.isListed(r.Member) {
			return nil
		}
		if ctx.Err() == nil {
			w.Await(m.Logf, "%s", now)
		}
		if err := w.Pause(ctx, m.Clock, 2*pollInterval); err != nil {
			return err
		}
	}
}

// isListed reports whether the last survey had a member.
func (m *Members) isListed(id uint64) bool { return m.listed[id] }

func highest(peers []membership.Peer) int {
	last := -1
	for _, p := range peers {
		last = max(last, p.Ordinal)
	}
	return last
}
