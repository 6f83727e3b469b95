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
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// checkState refuses where a cluster isn't healthy. replacing is the pod whose broken member the
// operation replaces, empty for none.
func (m *Members) checkState(ctx context.Context, s *observation, replacing string, f *operate.Findings) {
	m.checkMembers(s, replacing, f)
	for _, c := range m.Owner.MemberChanges {
		if c.Elsewhere {
			f.Warn("It is not known what %s does (%s). %s", c.Where(), c.Unread, unreadRisk(c))
		}
	}
	var w operate.Waiter
	m.poll(ctx, maxPolls, f, func(seen *operate.Findings) (transient bool) {
		cluster, err := m.Reader.Cluster(ctx, m.Owner)
		if err != nil {
			seen.Refuse("%s", cannotRead(err))
			return false
		}
		v := policy.Precondition(cluster, replacing)
		if v.Allowed || len(f.Refusals) > 0 {
			return false
		}
		seen.Refuse("%s", v.Message)
		if transient = v.Reason == policy.OperationUnderWay && s.allLatest(); transient {
			w.Await(m.Logf, "%s", rolloutIncomplete)
		}
		return transient
	})
}

// poll calls read up to polls times, a second apart, while it reports a transient problem, and adds
// the last findings.
func (m *Members) poll(ctx context.Context, polls int, f *operate.Findings, read func(*operate.Findings) (transient bool)) {
	for try := 1; ; try++ {
		seen := &operate.Findings{}
		if transient := read(seen); !transient || try == polls || operate.Pause(ctx, m.Clock, time.Second) != nil {
			f.Refusals = append(f.Refusals, seen.Refusals...)
			f.Warnings = append(f.Warnings, seen.Warnings...)
			return
		}
	}
}

// maxPolls is how many seconds the StatefulSet's controller gets to report a rollout as complete where
// all pods are up to date: an operation that has just ended may have been interrupted before that.
const maxPolls = 30

// allLatest reports whether every pod exists with the latest template.
func (s *observation) allLatest() bool {
	return !slices.ContainsFunc(s.Ordinals[:s.Replicas], func(replica membership.Replica) bool { return replica.UID == "" || !replica.Updated })
}

// cannotRead returns what is unknown where Kubernetes' objects of a cluster can't be read.
func cannotRead(err error) string {
	text := fmt.Sprintf("cannot read the cluster's objects in Kubernetes (%v), so it is unknown whether client traffic is cut, backups fail or another change is under way", err)
	if apierrors.IsForbidden(err) {
		text += ": you need permission to read them"
	}
	return text
}

// checkUser refuses a user of etcd who may not change its members. It tries a request that changes
// nothing and that etcd also allows to root only.
func (m *Members) checkUser(ctx context.Context, s *observation, f *operate.Findings) {
	pod, err := s.leader()
	if err != nil {
		return // refused already
	}
	c, err := m.cluster.Client(ctx, pod)
	if err == nil {
		_, err = c.UserList(ctx)
	}
	if etcd.Denied(err) {
		f.Refuse("etcd lets only its user root change members (%v): use --etcd-user or --user-secret", err)
	}
}

// checkConnected refuses while etcd would add no member because its leader counts one as disconnected.
// replacing is the pod that is replaced, whose member doesn't matter.
func (m *Members) checkConnected(ctx context.Context, s *observation, replacing string, f *operate.Findings) {
	pod, err := s.leader()
	if err != nil {
		return // refused already
	}
	m.poll(ctx, maxConnectionPolls, f, func(seen *operate.Findings) (transient bool) {
		away, err := m.cluster.InactivePeers(ctx, pod)
		if err != nil {
			seen.Warn("It is unknown whether the leader is connected to every member (%v); etcd adds no member while it isn't.", err)
			return false
		}
		m.judgeConnected(s, pod, away, replacing, seen)
		return len(seen.Refusals) > 0
	})
}

// maxConnectionPolls is how many seconds a member gets that has just come back.
const maxConnectionPolls = 10

func (m *Members) judgeConnected(s *observation, leader string, away []uint64, replacing string, f *operate.Findings) {
	if leader == replacing {
		return // it transfers leadership and is removed before a member is added
	}
	for _, p := range s.Members {
		if p.Healthy && slices.Contains(away, p.ID) && s.Ordinals[p.Ordinal].Pod != replacing {
			f.Refuse("the leader %s counts %s as disconnected, though it is healthy, and etcd adds no member then: transfer leadership with kubectl etcd move-leader %s -n %s",
				leader, s.Ordinals[p.Ordinal].Pod, m.Owner.Target(), m.Owner.Namespace)
		}
	}
}

// checkMembers refuses by what the members themselves report.
func (m *Members) checkMembers(s *observation, replacing string, f *operate.Findings) {
	voters, healthy := 0, 0
	for _, p := range s.Members {
		switch {
		case p.Learner:
			id := fmt.Sprintf("%016x", p.ID)
			f.Refuse("member %s is a learner: first promote it with %s, or remove it with %s", id, m.Owner.Command("member promote", id), m.Owner.Command("member remove", id))
			continue
		case p.Ordinal < 0:
			f.Refuse("etcd lists member %016x with peer URL %s, which no pod of the StatefulSet has. If it is dead, remove it first: kubectl etcd member remove %s %016x -n %s", p.ID, p.URL, m.Owner.Target(), p.ID, m.Owner.Namespace)
		case !p.Healthy && s.Ordinals[p.Ordinal].Pod != replacing:
			f.Refuse("%s is not healthy: %s%s", s.Ordinals[p.Ordinal].Pod, s.unhealthyReason(s.Ordinals[p.Ordinal].Pod), m.anotherBrokenHint(replacing, p.ID))
		}
		voters++
		if p.Healthy {
			healthy++
		}
	}
	f.Fact("%d of %d voters healthy, quorum is %d", healthy, voters, policy.Quorum(voters))
	checkAlarms(s.survey, m.Owner, replacing, f)
}

// checkAlarms refuses while an alarm is raised, except where a broken member is replaced: alarms are
// disarmed when all members are healthy, and etcd changes its member list also while it takes no
// writes.
func checkAlarms(s etcd.Survey, o owner.Owner, replacing string, f *operate.Findings) {
	judge := func(where string, types []string) {
		switch {
		case len(types) == 0:
		case replacing == "":
			f.Refuse("%s has an alarm: %s (%s)", where, strings.Join(types, ", "), o.Command("alarm list"))
		case slices.Contains(types, maintenance.NoSpace):
			f.Warn("%s has the alarm %s: etcd accepts no writes until %s has run, which needs every member.", where, maintenance.NoSpace, o.Command("defrag"))
		case slices.Contains(types, maintenance.Corrupt):
			f.Warn("%s has the alarm %s: etcd accepts no writes until %s has run, which needs every member.", where, maintenance.Corrupt, o.Command("alarm disarm"))
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

// anotherBrokenHint returns what to do with a second broken member where one is replaced: etcd adds no
// member while any voter is missing.
func (m *Members) anotherBrokenHint(replacing string, another uint64) string {
	if replacing == "" {
		return ""
	}
	return fmt.Sprintf("; etcd adds no member while another voter is missing: bring it back, or remove it with %s and replace it after this one",
		m.Owner.Command("member remove", fmt.Sprintf("%016x", another)))
}

// unhealthyReason returns why a pod's member is not healthy.
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

// unreadRisk returns what a program of the pods that can't be read may do to a change of members.
func unreadRisk(c etcdconf.MemberChange) string {
	if c.Hook == etcdconf.PreStop {
		return "If it removes the member from etcd, each pod that restarts takes a voter out."
	}
	return "If it adds members to etcd or removes them, it works against this change. Read it first."
}
