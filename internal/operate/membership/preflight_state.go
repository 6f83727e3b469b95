// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// checkState refuses on a cluster that isn't well. cures is the pod whose broken
// member the operation is about, empty for none.
func (m *Members) checkState(ctx context.Context, s *observation, replacing string, f *findings) {
	checkMembers(s, replacing, f)
	awaited := ""
	m.poll(ctx, maxPolls, f, func(seen *findings) (transient bool) {
		cluster, err := m.Reader.WithoutNodes().Cluster(ctx, m.Owner)
		if err != nil {
			seen.refuse("%s", cannotRead(err))
			return false
		}
		v := policy.Precondition(cluster, replacing)
		if v.Allowed || len(f.refusals) > 0 {
			return false
		}
		seen.refuse("%s", v.Message)
		if transient = v.Reason == policy.OperationUnderWay && s.allLatest(); transient {
			awaited = m.await(awaited, rolloutIncomplete)
		}
		return transient
	})
}

// poll adds what a look finds, looking up to so many times, a second apart, while that
// may pass by itself.
func (m *Members) poll(ctx context.Context, polls int, f *findings, read func(*findings) (transient bool)) {
	for try := 1; ; try++ {
		seen := &findings{}
		if transient := read(seen); !transient || try == polls || ctx.Err() != nil {
			f.refusals = append(f.refusals, seen.refusals...)
			f.warnings = append(f.warnings, seen.warnings...)
			return
		}
		select {
		case <-ctx.Done():
		case <-m.Clock.After(time.Second):
		}
	}
}

// maxPolls are as many as the StatefulSet's controller gets, a second apart, where all
// pods are what it wants and it only has to say so: an operation that has just ended, and
// did not live to see it.
const maxPolls = 30

// allLatest says that every pod is there with the latest template.
func (s *observation) allLatest() bool {
	return !slices.ContainsFunc(s.Ordinals[:s.Replicas], func(replica membership.Replica) bool { return replica.UID == "" || !replica.Updated })
}

// cannotRead says what nobody knows where Kubernetes' own view of a cluster can't be read.
func cannotRead(err error) string {
	text := fmt.Sprintf("Kubernetes' own view of the cluster can't be read (%v), so nobody knows whether client traffic is cut, backups fail or another change is under way", err)
	if apierrors.IsForbidden(err) {
		text += ": ask for the right to read that"
	}
	return text
}

// checkUser refuses a user of etcd's who may not change its members, by a call that etcd
// keeps to the same user, root, and that changes nothing.
func (m *Members) checkUser(ctx context.Context, s *observation, f *findings) {
	pod, err := s.leader()
	if err != nil {
		return // refused already
	}
	c, err := m.cluster.Client(ctx, pod)
	if err == nil {
		_, err = c.UserList(ctx)
	}
	if etcd.Denied(err) {
		f.refuse("etcd changes its members for its user root alone (%v): give that one by --etcd-user or --user-secret", err)
	}
}

// checkConnected refuses while etcd would add nobody: its leader counts a member as
// disconnected. cures is the pod that is replaced, whose own doesn't count.
func (m *Members) checkConnected(ctx context.Context, s *observation, replacing string, f *findings) {
	pod, err := s.leader()
	if err != nil {
		return // refused already
	}
	m.poll(ctx, maxConnectionPolls, f, func(seen *findings) (transient bool) {
		away, err := m.cluster.InactivePeers(ctx, pod)
		if err != nil {
			seen.warn("Whether the leader is connected with everybody isn't known (%v); etcd adds nobody while it isn't.", err)
			return false
		}
		judgeConnected(s, pod, away, replacing, seen)
		return len(seen.refusals) > 0
	})
}

// maxConnectionPolls are as many as a member gets that has just come back, a second apart.
const maxConnectionPolls = 10

func judgeConnected(s *observation, leader string, away []uint64, replacing string, f *findings) {
	if leader == replacing {
		return // it hands over and goes before anybody is added
	}
	for _, p := range s.Members {
		if p.Healthy && slices.Contains(away, p.ID) && s.Ordinals[p.Ordinal].Pod != replacing {
			f.refuse("the leader %s counts %s as disconnected, though that is healthy, and etcd adds nobody then: have another lead, kubectl etcd move-leader statefulset/%s -n %s",
				leader, s.Ordinals[p.Ordinal].Pod, s.sts.Name, s.sts.Namespace)
		}
	}
}

// checkMembers is checkState as far as the members themselves say.
func checkMembers(s *observation, replacing string, f *findings) {
	voters, healthy := 0, 0
	for _, p := range s.Members {
		switch {
		case p.Learner:
			f.refuse("member %016x is a learner: kubectl etcd member promote or remove it first", p.ID)
			continue
		case p.Ordinal < 0:
			f.refuse("etcd lists member %016x with peer URL %s, which is no pod's: kubectl etcd member remove it first", p.ID, p.URL)
		case !p.Healthy && s.Ordinals[p.Ordinal].Pod != replacing:
			f.refuse("%s is not healthy: %s%s", s.Ordinals[p.Ordinal].Pod, s.unhealthyReason(s.Ordinals[p.Ordinal].Pod), anotherBrokenHint(replacing))
		}
		voters++
		if p.Healthy {
			healthy++
		}
	}
	f.fact("%d of %d voters healthy, quorum is %d", healthy, voters, policy.Quorum(voters))
	checkAlarms(s.survey, replacing, f)
}

// checkAlarms refuses while an alarm is raised. It is ended when all members are well, so
// that a broken one is replaced first: etcd changes its list of members also where it
// takes no writes.
func checkAlarms(s etcd.Survey, replacing string, f *findings) {
	judge := func(where string, types []string) {
		switch {
		case len(types) == 0:
		case replacing == "":
			f.refuse("%s has an alarm: %s (kubectl etcd alarm list)", where, strings.Join(types, ", "))
		case slices.Contains(types, maintenance.NoSpace):
			f.warn("%s has the alarm %s: etcd takes no writes before kubectl etcd defrag has run, which needs every member.", where, maintenance.NoSpace)
		case slices.Contains(types, maintenance.Corrupt):
			f.warn("%s has the alarm %s: etcd takes no writes before kubectl etcd alarm disarm has run, which needs every member.", where, maintenance.Corrupt)
		}
	}
	for _, m := range s.Members {
		if m.Err == nil {
			judge(m.Pod, m.Alarms)
		}
	}
	for _, a := range s.Strays {
		judge(a.Where(), []string{a.Type})
	}
}

// anotherBrokenHint says what is to be done with a second broken member, where one is
// replaced: etcd adds nobody while any voter is missing.
func anotherBrokenHint(replacing string) string {
	if replacing == "" {
		return ""
	}
	return "; etcd adds nobody while another voter is missing: bring it back, or take it out with kubectl etcd member remove and replace it after this one"
}

// unhealthyReason is what keeps a pod's member from being healthy.
func (s *observation) unhealthyReason(pod string) string {
	for _, m := range s.survey.Members {
		if m.Pod == pod && m.Err != nil {
			return strings.TrimPrefix(m.Err.Error(), "member "+pod+": ")
		}
	}
	if s.pods[pod] == nil {
		return "it has no pod"
	}
	return "it knows no leader"
}
