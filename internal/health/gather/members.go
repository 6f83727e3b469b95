// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/etcdlog"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// members asks the members themselves.
func (g *gatherer) members(ctx context.Context) {
	g.Survey.Err, g.Hashes.Err = health.ErrNotGathered, health.ErrNotGathered
	if !g.needs(health.NeedMembers) {
		return
	}
	if g.Survey.Err = g.refusal("pods", "statefulsets.apps"); g.Survey.Err != nil {
		return // the members are not known
	}
	if g.cluster == nil {
		if g.cluster, g.Survey.Err = g.Access.Cluster(ctx, g.Reader, g.Owner); g.Survey.Err != nil {
			return
		}
	}
	// What was listed in advance may be from before the members were connected to.
	g.cluster.Beyond = g.Access.Beyond(cmp.Or(g.unlisted, g.Reader), g.Owner)
	endpoints := g.cluster.Endpoints
	g.progress("asking " + policy.Count(len(endpoints), "member") + " of " + g.Owner.String())
	g.Survey = got(g.cluster.Survey(ctx))
	if _, split := errors.AsType[*etcd.SplitBrainError](g.Survey.Err); split {
		g.Survey.Err = nil // Q005 reports it, and the members' answers still count
	}
	g.Barred = map[string]bool{}
	for i, e := range endpoints {
		g.Password = g.Password || e.Username != ""
		if i < len(g.Survey.Value.Members) {
			m := g.Survey.Value.Members[i]
			g.Barred[m.Pod] = e.Err != nil || etcd.Barred(m.Err)
		}
	}
	g.lastList(ctx)
	g.indices(ctx, g.cluster)
	together(
		func() { g.silences(ctx); g.fatalLogs(ctx) },
		func() { g.details(ctx, g.cluster) },
	)
}

// details asks each member that answers for what its status doesn't contain.
func (g *gatherer) details(ctx context.Context, cluster *etcd.Cluster) {
	var mu sync.Mutex
	g.Metrics, g.Clocks = map[string]health.Got[health.Metrics]{}, map[string]health.Got[etcd.ClockReading]{}
	var all []func()
	for _, m := range g.Responding() {
		if g.needs(health.NeedMetrics) || slices.Contains(m.Alarms, maintenance.NoSpace) {
			all = append(all, func() {
				families, err := cluster.Metrics(ctx, m.Pod)
				mu.Lock()
				defer mu.Unlock()
				g.Metrics[m.Pod] = got[health.Metrics](families, err)
			})
		}
		if g.needs(health.NeedClocks) {
			all = append(all, func() {
				reading, err := cluster.Clock(ctx, m.Pod, g.Clock)
				mu.Lock()
				defer mu.Unlock()
				g.Clocks[m.Pod] = got(reading, err)
			})
		}
	}
	together(all...)
	if g.needs(health.NeedHashes) {
		g.Hashes = got(g.hashes(ctx, cluster))
	}
}

// lastList finds the member list from when the members last had a quorum, which each member keeps: pods that are gone
// since then are still voters.
func (g *gatherer) lastList(ctx context.Context) {
	if g.Survey.Value.ListErr == nil {
		return
	}
	for _, m := range g.Responding() {
		list, err := g.cluster.OwnList(ctx, m.Pod)
		if err != nil {
			continue // the other members show it, or it stays unknown
		}
		voters := 0
		for _, l := range list {
			if !l.Learner {
				voters++
			}
		}
		if voters > g.LastVoters {
			g.LastList, g.LastVoters = list, voters
		}
	}
}

// silences finds out what is known of the members that no pod of the cluster runs, and of those that
// don't answer. A status doesn't wait for the latter: it is read again and again.
func (g *gatherer) silences(ctx context.Context) {
	// A kind that may not be listed, or that is in another namespace, is not known to be empty.
	how := memberlist.Removal{Reader: cmp.Or(g.unlisted, g.Reader), Owner: g.Owner, Members: g.cluster, Clock: g.Clock}
	g.Silences, g.MayRemove = map[uint64]rules.Silence{}, map[uint64]policy.Verdict{}
	peers := memberlist.Peers(g.Owner, g.Survey.Value)
	for _, p := range peers {
		g.MayRemove[p.ID] = rules.MayRemove(peers, p.ID)
	}
	survey := g.Survey.Value
	if len(survey.List) == 0 {
		survey.List = g.LastList
	}
	var mu sync.Mutex
	var all []func()
	for _, l := range survey.List {
		answers := func(m etcd.Member) bool { return m.Pod == l.Pod && m.Err == nil }
		if l.Pod != "" && (g.forStatus || slices.ContainsFunc(g.Survey.Value.Members, answers)) {
			continue
		}
		all = append(all, func() {
			s := how.Silence(ctx, survey, l)
			mu.Lock()
			defer mu.Unlock()
			g.Silences[l.ID] = s
		})
	}
	together(all...)
	g.elsewhere(ctx, how.Reader)
}

// elsewhere reads the pods of other workloads that run members. Without them, their names are shown.
func (g *gatherer) elsewhere(ctx context.Context, r *observe.Reader) {
	g.Elsewhere = nil
	for _, s := range g.Silences {
		for _, name := range s.Elsewhere {
			var pod corev1.Pod
			if found, err := r.Fetch(ctx, g.Owner.Namespace, name, &pod); err == nil && found {
				g.Elsewhere = append(g.Elsewhere, &pod)
			}
		}
	}
}

// fatalLogs reads the logs of the members that don't answer and have pods.
func (g *gatherer) fatalLogs(ctx context.Context) {
	g.FatalLogs, g.LastLines = map[string]string{}, map[string]string{}
	if g.Logs == nil {
		return
	}
	silent := g.silent()
	if len(silent) == 0 {
		return
	}
	logs, err := g.Logs(g.Owner.Namespace)
	if err != nil {
		return
	}
	pods, err := g.Reader.MemberPods(ctx, g.Owner)
	if err != nil {
		return
	}
	for _, pod := range pods {
		c := etcdconf.MemberOf(pod).Container
		if c == nil || !slices.Contains(silent, pod.Name) {
			continue
		}
		// A user without the permission to read logs sees the rest.
		if end, err := etcdlog.ReadEnd(ctx, logs, pod, c.Name, g.At); err == nil && end.Fatal != "" {
			g.FatalLogs[pod.Name] = end.Evidence()
		} else if err == nil && end.Last != "" {
			g.LastLines[pod.Name] = end.Last
		}
	}
}

// silent returns the pods whose members don't answer. A member from which the leader receives messages has
// its data, whatever its log has.
func (g *gatherer) silent() []string {
	var pods []string
	for _, m := range g.Survey.Value.Members {
		if m.Err != nil && !g.Barred[m.Pod] && g.ContactWith(m.Pod) < rules.ContactActive {
			pods = append(pods, m.Pod)
		}
	}
	return pods
}
