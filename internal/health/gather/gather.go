// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package gather reads the facts that package health judges, from Kubernetes and from the
// members of one cluster. It changes nothing. What can't be read is part of the facts.
package gather

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/etcdlog"
)

// Source is where facts are read from.
type Source struct {
	Reader *observe.Reader
	Access etcd.Access
	// Config is for the kubelets' measurements.
	Config *rest.Config
	Clock  clock.WithTicker
	// Flags and Login are those of health.Facts.
	Flags, Login string
	// HashLarge has databases above maintenance.HashLimit hashed as well.
	HashLarge bool
	// Logs returns what reads the logs of a namespace's pods. It may be nil.
	Logs func(namespace string) (etcdlog.Reader, error)
	// Progress reports what is being read, for a person who waits. It may be nil.
	Progress func(what string)
}

// Facts reads everything that the checks judge of one cluster.
func (s Source) Facts(ctx context.Context, o owner.Owner, checks []health.Check) *health.Facts {
	g := gatherer{Source: s, Facts: &health.Facts{At: s.Clock.Now(), Owner: o, Flags: s.Flags, Login: s.Login}, need: health.Needs(checks)}
	g.progress("reading the objects of " + o.String())
	g.all(ctx)
	if g.cluster != nil {
		_ = g.cluster.Close() // nothing was written
	}
	return g.Facts
}

func (s Source) progress(what string) {
	if s.Progress != nil {
		s.Progress(what)
	}
}

// gatherer reads the facts of one cluster.
type gatherer struct {
	Source
	*health.Facts

	need health.Need
	// denials are the kinds that the user may not list. Source.Reader then shows none of
	// them, instead of the error.
	denials []source.Denial
	// unlisted reads from the API server where Reader has objects that were listed, and only some; nil otherwise.
	unlisted *observe.Reader
	// cluster are the connections to the members, made where it is nil.
	cluster *etcd.Cluster
	// serving is how the members' etcd was configured a moment ago; nil to read it.
	serving map[string]health.Got[etcdconf.Config]
	// forStatus has also read what is only shown, and not judged.
	forStatus bool
}

// all reads everything. Each function writes fields of its own.
func (g *gatherer) all(ctx context.Context) {
	together(
		func() { g.workload(ctx) },
		func() { g.budgets(ctx) },
		func() { g.placement(ctx) },
		func() { g.network(ctx) },
		func() { g.operations(ctx) },
		func() { g.webhook(ctx) },
		func() { g.members(ctx) },
		func() {
			if g.needs(health.NeedSecrets) {
				g.secrets(ctx)
			}
		},
	)
	g.away(ctx)
	g.evidence(ctx)
	g.undoRollout(ctx)
	g.peerURLs(ctx)
	g.changesOfPods(ctx)
	switch {
	case g.needs(health.NeedSecrets):
	case g.needs(health.NeedRenewal) && g.expiresSoon():
		g.secrets(ctx) // whether something renews the certificate decides when it is due
	default:
		g.Certificates.Err = health.ErrNotGathered
	}
	if g.forStatus {
		g.shown(ctx)
	}
}

// expiresSoon reports whether a serving certificate is near its end, unless something
// renews it.
func (g *gatherer) expiresSoon() bool {
	for _, m := range g.Survey.Value.Members {
		if !m.CertificateExpiry.IsZero() && m.CertificateExpiry.Sub(g.At) < health.CertificateWarn {
			return true
		}
	}
	return false
}

// needs reports whether a selected check judges a fact.
func (g *gatherer) needs(n health.Need) bool { return g.need&n != 0 }

// refusal returns why objects of one of these kinds could not be read, nil where all could.
func (g *gatherer) refusal(resources ...string) error {
	for _, d := range g.denials {
		if slices.Contains(resources, d.Resource) {
			return d.Err
		}
	}
	return nil
}

func together(all ...func()) {
	var wait sync.WaitGroup
	for _, do := range all {
		wait.Go(do)
	}
	wait.Wait()
}

func got[T any](value T, err error) health.Got[T] { return health.Got[T]{Value: value, Err: err} }

// notServed returns nil for the error of a kind that is not installed: there are no such
// objects.
func notServed(err error) error {
	if meta.IsNoMatchError(err) {
		return nil
	}
	return err
}
