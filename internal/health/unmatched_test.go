// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestUnmatched: voters that only the lists of pods show are unknown, not down, until a member shows more.
func TestUnmatched(t *testing.T) {
	t.Parallel()
	down := func(f *Facts) { silent(0)(f); f.Survey.Value.List, f.Survey.Value.ListErr = nil, errRefused }
	notAsked := func(f *Facts) { f.Survey = Got[etcd.Survey]{Err: errRefused} }
	for _, r := range []struct {
		name      string
		size      int
		unmatched int
		with      func(*Facts)
		quorum    output.Quorum
		level     Level // of Q001
		message   string
	}{
		{"one of three, in a list", 1, 2, notAsked, output.Quorum{Voters: 3, Healthy: 1, Needed: 2, Slack: -1, Unknown: 2}, Unknown, ""},
		{"two of three, in a list", 2, 1, notAsked, output.Quorum{Voters: 3, Healthy: 2, Needed: 2, Unknown: 1}, Unknown, ""},
		{"three, and an old entry", 3, 1, notAsked, output.Quorum{Voters: 4, Healthy: 3, Needed: 3, Unknown: 1}, Unknown, ""},
		{"three", 3, 0, notAsked, output.Quorum{Voters: 3, Healthy: 3, Needed: 2, Slack: 1}, Unknown, ""},
		{"one of three, which is silent", 1, 2, down, output.Quorum{Voters: 3, Healthy: 1, Needed: 2, Slack: -1, Unknown: 2}, Failure, "0 of 3 voters answer and follow one leader, quorum is 2; the lists of its pods name 2 more, and it is not known whether anything runs them"},
		{"three, which are silent, and an old entry", 3, 1, func(f *Facts) { down(f); silent(1, 2)(f) }, output.Quorum{Voters: 4, Healthy: 3, Needed: 3, Unknown: 1}, Failure, "the quorum is lost and nothing can be written: 0 of 4 voters"},
		{"etcd's list decides", 3, 1, func(*Facts) {}, output.Quorum{FromEtcd: true, Voters: 3, Healthy: 3, Needed: 2, Slack: 1}, OK, "3 of 3 voters"},
		{"the list that a member keeps decides", 1, 4, func(f *Facts) { quorumLost(f); f.LastVoters = 3 }, output.Quorum{Voters: 3, Needed: 2, Slack: -2}, Failure, "0 of 3 voters"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			f := healthy(r.size)
			f.Owner.WorkloadKind, f.Owner.Kind, f.Owner.StatefulSet, f.Owner.Unmatched = owner.Pods, "Deployment", "", r.unmatched
			f.StatefulSet.Value = nil
			f.Cluster.Value.Cluster = policy.Cluster{Size: r.size}
			for _, pod := range f.Pods.Value {
				f.Cluster.Value.Cluster.Members = append(f.Cluster.Value.Cluster.Members, policy.Member{Pod: pod.Name, Exists: true, PodReady: true, Ready: true})
			}
			r.with(f)
			if got := f.Quorum(); got != r.quorum {
				t.Errorf("got %+v, want %+v", got, r.quorum)
			}
			f.Cluster.Value.Cluster.Members[0].PodReady = false // else nothing but the connection may be at fault
			found := quorumAnswers(f)
			level := NotApplicable
			for _, one := range found {
				if one.Level.Worse(level) {
					level = one.Level
				}
			}
			if level != r.level || !strings.Contains(found[0].Message, r.message) {
				t.Errorf("Q001 is %s: %+v, want %s: %s", level, found, r.level, r.message)
			}
			judged(t, All(), f)
		})
	}
}
