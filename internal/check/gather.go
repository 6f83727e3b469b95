// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Source is where facts come from.
type Source struct {
	Reader *observe.Reader
	// Config is for what the reader doesn't read: the way to the members and the
	// kubelets' measurements.
	Config      *rest.Config
	Credentials etcd.Credentials
	Clock       clock.WithTicker
	// Flags are those of Facts.
	Flags string
	// LockName and OperationKey are those of Facts.
	LockName     func(observe.Owner) string
	OperationKey string
	// HashLarge has databases above 2 GiB hashed, too.
	HashLarge bool
	// Say is told what is being done, for a person who waits. Nil for nobody.
	Say func(what string)
}

// Gather asks for everything that the checks judge of one cluster. What can't
// be had is part of the facts; it fails on nothing.
func (s Source) Gather(ctx context.Context, o observe.Owner, checks []Check) *Facts {
	f := &Facts{At: s.Clock.Now(), Owner: o, Flags: s.Flags, OperationKey: s.OperationKey, LockName: s.LockName(o)}
	var want need
	for _, c := range checks {
		want |= c.needs
	}
	s.say("reading the objects of " + o.String())
	g := gatherer{Source: s, Facts: f, want: want}
	// Each writes fields of its own.
	together(
		func() { g.workload(ctx) },
		func() { g.budgets(ctx) },
		func() { g.placement(ctx) },
		func() { g.network(ctx) },
		func() { g.guard(ctx) },
		func() { g.secrets(ctx) },
	)
	g.members(ctx)
	return f
}

func (s Source) say(what string) {
	if s.Say != nil {
		s.Say(what)
	}
}

func together(all ...func()) {
	var wait sync.WaitGroup
	for _, do := range all {
		wait.Go(do)
	}
	wait.Wait()
}

type gatherer struct {
	Source
	*Facts

	want need
}

func got[T any](value T, err error) Got[T] { return Got[T]{Value: value, Err: err} }

// wants says whether any selected check looks at a fact.
func (g *gatherer) wants(n need) bool { return g.want&n != 0 }

func (g *gatherer) workload(ctx context.Context) {
	g.Pods = got(g.Reader.MemberPods(ctx, g.Owner))
	g.StatefulSet = got(g.statefulSet(ctx))
	g.Etcd = got(g.etcd(ctx))
	g.Cluster = got(g.Reader.WithoutNodes().Facts(ctx, g.Owner))
	g.Claims = got(g.claims(ctx))
	g.Fill.Err = errNotAsked
	if g.wants(needVolumes) {
		g.Fill = got(g.fill(ctx))
	}
	g.Serving = map[string]Got[etcdconf.Config]{}
	files := g.Reader.Files(g.Owner.Namespace)
	for _, pod := range g.Pods.Value {
		g.Serving[pod.Name] = got(files.Config(ctx, pod))
	}
}

func (g *gatherer) network(ctx context.Context) {
	g.Services = got(g.Reader.ClientServices(ctx, g.Owner))
	g.Peer = got(g.Reader.PeerService(ctx, g.Owner))
	var slices discoveryv1.EndpointSliceList
	g.Slices.Err = g.Reader.List(ctx, &slices, client.InNamespace(g.Owner.Namespace))
	g.Slices.Value = slices.Items
	var leases coordinationv1.LeaseList
	g.Leases.Err = g.Reader.List(ctx, &leases, client.InNamespace(g.Owner.Namespace))
	g.Leases.Value = leases.Items
}

func (g *gatherer) guard(ctx context.Context) {
	g.Installed.Err = errNotAsked
	if g.wants(needGuard) {
		g.Installed = got(g.webhook(ctx))
	}
}

// members asks the members themselves. It comes last, since what was found
// about the pods says how.
func (g *gatherer) members(ctx context.Context) {
	g.Survey.Err, g.Hashes.Err = errNotAsked, errNotAsked
	if !g.wants(needMembers) {
		return
	}
	endpoints, err := etcd.Endpoints(ctx, g.Reader, g.Owner, g.Credentials)
	if err != nil {
		g.Survey.Err = err
		return
	}
	g.say("asking " + plural(len(endpoints), "member", "members") + " of " + g.Owner.String())
	cluster := &etcd.Cluster{Tunnel: tunnel.New(g.Config), Endpoints: endpoints}
	defer func() { _ = cluster.Close() }() // nothing was written
	g.Survey = got(cluster.Survey(ctx))
	if _, split := errors.AsType[*etcd.SplitBrainError](g.Survey.Err); split {
		g.Survey.Err = nil // Q005 says it, and what each member says still counts
	}
	g.Barred = map[string]bool{}
	for i, e := range endpoints {
		g.Password = g.Password || e.Username != ""
		if i < len(g.Survey.Value.Members) {
			m := g.Survey.Value.Members[i]
			g.Barred[m.Pod] = e.Err != nil || etcd.Barred(m.Err)
		}
	}
	g.indices(ctx, cluster)
	g.details(ctx, cluster)
}

// details asks each member that answers for what its status doesn't say.
func (g *gatherer) details(ctx context.Context, cluster *etcd.Cluster) {
	var mu sync.Mutex
	g.Metrics, g.Clocks = map[string]Got[metrics]{}, map[string]Got[etcd.ClockReading]{}
	var all []func()
	for _, m := range g.answering() {
		if g.wants(needMetrics) {
			all = append(all, func() {
				families, err := cluster.Metrics(ctx, m.Pod)
				mu.Lock()
				defer mu.Unlock()
				g.Metrics[m.Pod] = got[metrics](families, err)
			})
		}
		if g.wants(needClocks) {
			all = append(all, func() {
				reading, err := cluster.Clock(ctx, m.Pod, g.Clock)
				mu.Lock()
				defer mu.Unlock()
				g.Clocks[m.Pod] = got(reading, err)
			})
		}
	}
	together(all...)
	if g.wants(needHashes) {
		g.Hashes = got(g.hashes(ctx, cluster))
	}
}

// notServed turns the absence of a kind, which nobody installed, into none of it.
func notServed(err error) error {
	if meta.IsNoMatchError(err) {
		return nil
	}
	return err
}
