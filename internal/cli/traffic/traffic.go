// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package traffic implements kubectl etcd cut-client-traffic and restore-client-traffic.
package traffic

import (
	"context"
	"fmt"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// restoreLimit is what a restore gets that nobody's --timeout is for.
const restoreLimit = 30 * time.Second

// clientTraffic is a cluster whose client clientTraffic is cut or restored.
type clientTraffic struct {
	*app.Cluster

	env    *app.App
	Change change.Flags
	// target is how the user called the cluster.
	target string
	// unreached is why the members can't be asked anything, nil when they can.
	unreached error

	Services traffic.Services
	facts    observe.Facts
	survey   etcd.Survey
	// record says who cut before, nil when nobody says.
	record *traffic.Record

	// kept says that etcd-webhook keeps the cut and ends it.
	kept bool
	// ahead is by how much the API server's clock is ahead of this machine's.
	ahead time.Duration
	// until is the end of the cut by the API server's clock.
	until time.Time
}

// newTraffic finds the cluster and its client Services. That its members can't be
// reached doesn't keep anybody from cutting: that may be why.
func newTraffic(ctx context.Context, e *app.App, target, service string) (*clientTraffic, error) {
	t := &clientTraffic{env: e, target: target}
	var err error
	if t.Cluster, t.unreached, err = e.ClusterBestEffort(ctx, target); err != nil {
		return nil, err
	}
	if named, err := observe.ParseTarget(target); service == "" && err == nil && named.Kind == "service" {
		service = named.Name
	}
	if t.Services, err = traffic.FindServices(ctx, t.Reader, t.Owner, service, t.clientPort()); err != nil {
		return nil, err
	}
	if len(t.Services.Chosen) == 0 {
		return nil, t.noService(service)
	}
	if t.record, err = traffic.ReadRecord(ctx, t.Kube, t.Owner); err != nil && !apierrors.IsForbidden(err) {
		e.Warn("%v.", err)
	}
	return t, nil
}

// noService says why there is nothing to cut or restore.
func (t *clientTraffic) noService(service string) error {
	switch {
	case service != "" && service == t.Services.Peer:
		return app.Refused("Service %s is headless: members of %s find each other by it, so cutting it could part them; name the Service that clients use", service, t.Owner)
	case service != "" && len(t.Services.Left) > 0:
		return app.Refused("Service %s doesn't lead clients to %s; Service %s does", service, t.Owner, strings.Join(t.Services.Left, ", "))
	case service != "":
		return app.Refused("Service %s doesn't lead clients to %s", service, t.Owner)
	}
	return app.Refused("no Service leads clients to %s: they dial the members themselves, and no selector can keep them away", t.Owner)
}

func (t *clientTraffic) close() {
	if err := t.Close(); err != nil {
		t.env.Warn("%v.", err)
	}
}

// clientPort is where members listen for clients, 0 where that isn't known.
func (t *clientTraffic) clientPort() int {
	if t.Members == nil || len(t.Members.Endpoints) == 0 {
		return 0
	}
	return t.Members.Endpoints[0].Port
}

func (t *clientTraffic) druid() bool { return t.Flavour == observe.Druid }

func (t *clientTraffic) names() []string {
	var names []string
	for i := range t.Services.Chosen {
		names = append(names, t.Services.Chosen[i].Name)
	}
	return names
}

// write changes a Service, when druid lets anybody.
func (t *clientTraffic) write(ctx context.Context, change func() error) error {
	return traffic.WriteUnderProtection(ctx, t.Kube, t.Owner, t.env.Clock, change)
}

// list names the Services in a sentence.
func (t *clientTraffic) list() string { return strings.Join(t.names(), ", ") }

// now is the API server's clock, as far as it is known.
func (t *clientTraffic) now() time.Time { return t.env.Clock.Now().Add(t.ahead) }

// cutNow is until when any of the Services is cut as they were last read.
func (t *clientTraffic) cutNow() (last time.Time, cut bool) {
	for i := range t.Services.Chosen {
		if until, has := observe.CutUntil(&t.Services.Chosen[i], t.now()); has && until.After(t.now()) && until.After(last) {
			last, cut = until, true
		}
	}
	return last, cut
}

// restoreCommand is how to end the cut by hand.
func (t *clientTraffic) restoreCommand() string {
	return fmt.Sprintf("kubectl etcd restore-client-traffic %s -n %s", t.target, t.Namespace)
}

// needs are the permissions that cutting and restoring use, beside those of the lock.
func (t *clientTraffic) needs() []operate.Need {
	in := func(verb, group, resource, name string) operate.Need {
		return operate.Need{Verb: verb, Group: group, Resource: resource, Namespace: t.Namespace, Name: name}
	}
	needs := []operate.Need{
		in("patch", coordinationv1.GroupName, "leases", lock.Name(t.Owner)),
		in("list", discoveryv1.GroupName, "endpointslices", ""),
	}
	for _, name := range t.names() {
		needs = append(needs, in("get", "", "services", name), in("patch", "", "services", name))
	}
	return needs
}

// cutNeeds are needs and those to count what clients hold open.
func (t *clientTraffic) cutNeeds(o cutOptions) []operate.Need {
	needs := t.needs()
	if t.unreached == nil && !o.allowResidual {
		needs = append(needs, operate.Need{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: t.Namespace})
	}
	return needs
}

// suspendNeeds are those for druid's annotation.
func (t *clientTraffic) suspendNeeds() []operate.Need {
	etcd := operate.Need{Group: druidv1alpha1.GroupName, Resource: "etcds", Namespace: t.Namespace, Name: t.Name}
	get, patch := etcd, etcd
	get.Verb, patch.Verb = "get", "patch"
	return []operate.Need{get, patch}
}

// clockTime is a moment for people: UTC, to the second.
func clockTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
