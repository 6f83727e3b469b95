// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// workload reads the members' pods and the objects that they are made from.
func (g *gatherer) workload(ctx context.Context) {
	pods, err := g.Reader.MemberPods(ctx, g.Owner)
	g.Pods = got(g.Reader.WithNodes(ctx, pods, g.At), cmp.Or(err, g.refusal("pods")))
	sts, err := g.statefulSet(ctx, g.Owner.StatefulSet)
	g.StatefulSet = got(sts, cmp.Or(err, g.refusal("statefulsets.apps")))
	parts, err := g.parts(ctx)
	g.Parts = got(parts, cmp.Or(err, g.refusal("statefulsets.apps")))
	etcd, err := g.etcd(ctx)
	g.Etcd = got(etcd, cmp.Or(err, g.refusal("etcds."+druidv1alpha1.GroupName)))
	g.Cluster = got(g.Reader.Facts(ctx, g.Owner))
	g.Claims.Err, g.Fill.Err = health.ErrNotGathered, health.ErrNotGathered
	if g.needs(health.NeedClaims) {
		g.Claims = got(g.claims(ctx))
	}
	if g.needs(health.NeedVolumes) {
		g.Fill = got(g.fill(ctx))
	}
	if g.Serving = g.serving; g.Serving != nil {
		return
	}
	g.Serving = map[string]health.Got[etcdconf.Config]{}
	files := podfiles.New(g.Reader, g.Owner.Namespace)
	for _, pod := range g.Pods.Value {
		g.Serving[pod.Name] = got(files.Config(ctx, pod))
	}
}

// statefulSet returns a StatefulSet of the namespace, nil for none and for an empty name.
func (g *gatherer) statefulSet(ctx context.Context, name string) (*appsv1.StatefulSet, error) {
	if name == "" {
		return nil, nil
	}
	var sts appsv1.StatefulSet
	if err := g.Reader.Get(ctx, client.ObjectKey{Namespace: g.Owner.Namespace, Name: name}, &sts); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return &sts, nil
}

// parts returns the StatefulSets of a cluster that spans several, without those that are gone. The first one has been
// read.
func (g *gatherer) parts(ctx context.Context) ([]*appsv1.StatefulSet, error) {
	var parts []*appsv1.StatefulSet
	for _, w := range g.Owner.Workloads {
		sts, err := g.StatefulSet.Value, g.StatefulSet.Err
		if w.Name != g.Owner.StatefulSet {
			sts, err = g.statefulSet(ctx, w.Name)
		}
		if err != nil {
			return nil, err
		}
		if sts != nil {
			parts = append(parts, sts)
		}
	}
	return parts, nil
}

// claims reads the claims of the members that the owner asks for.
func (g *gatherer) claims(ctx context.Context) ([]corev1.PersistentVolumeClaim, error) {
	return g.claimsOf(ctx, 0, g.Size())
}

// undoRollout reads the revision that the pods of the members that answer run, if it is not the newest one.
func (g *gatherer) undoRollout(ctx context.Context) {
	var pods []*corev1.Pod
	for _, pod := range g.Pods.Value {
		if slices.ContainsFunc(g.Responding(), func(m etcd.Member) bool { return m.Pod == pod.Name }) {
			pods = append(pods, pod)
		}
	}
	if sts := g.StatefulSet.Value; sts != nil && !g.Owner.InParts() {
		g.UndoRollout = rollouts.UndoCommand(ctx, g.Reader, sts, pods, g.Facts.Flags)
	}
}

// evidence reads the claims if they are evidence although no check needs them: their ages may show that a voter has data
// from before the log of the others, or they may show that an operation left nothing to continue.
func (g *gatherer) evidence(ctx context.Context) {
	u := g.UnderWay.Value
	if errors.Is(g.Claims.Err, health.ErrNotGathered) && (g.MayPredate() || u != nil && u.Interrupted && g.Unrecorded) {
		g.Claims = got(g.claims(ctx))
	}
}

// away reads the claims of the pods that the StatefulSet had before it was scaled in, where a member
// list shows that it had more.
func (g *gatherer) away(ctx context.Context) {
	g.Away = got(g.claimsOf(ctx, g.Size(), min(g.SizeBefore(), owner.MaxMembersRead)))
}

// claimsOf reads the claims of the members with the numbers from one to before another.
func (g *gatherer) claimsOf(ctx context.Context, from, to int) ([]corev1.PersistentVolumeClaim, error) {
	if len(g.Owner.Claims) == 0 || from >= to {
		return nil, nil
	}
	var all corev1.PersistentVolumeClaimList
	if err := g.Reader.List(ctx, &all, client.InNamespace(g.Owner.Namespace)); err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for i := from; i < to; i++ {
		for _, c := range g.Owner.ClaimsOf(i) {
			own[c.Template+"-"+g.Owner.PodName(i)] = true
		}
	}
	return slices.DeleteFunc(all.Items, func(c corev1.PersistentVolumeClaim) bool { return !own[c.Name] }), nil
}

// network reads the Services and leases of the cluster.
func (g *gatherer) network(ctx context.Context) {
	services, err := memberservices.OfClients(ctx, g.Reader, g.Owner)
	g.Services = got(services, cmp.Or(err, g.refusal("services")))
	peer, err := memberservices.OfPeers(ctx, g.Reader, g.Owner)
	g.Peer = got(peer, cmp.Or(err, g.refusal("services")))
	g.Slices.Err = health.ErrNotGathered
	if g.needs(health.NeedEndpoints) {
		var slices discoveryv1.EndpointSliceList
		g.Slices.Err = g.Reader.List(ctx, &slices, client.InNamespace(g.Owner.Namespace))
		g.Slices.Value = slices.Items
	}
	var leases coordinationv1.LeaseList
	err = g.Reader.List(ctx, &leases, client.InNamespace(g.Owner.Namespace))
	g.Leases = got(leases.Items, cmp.Or(err, g.refusal("leases.coordination.k8s.io")))
}

// webhook reads whether etcd-webhook is installed.
func (g *gatherer) webhook(ctx context.Context) {
	g.Installed.Err = health.ErrNotGathered
	if g.needs(health.NeedWebhook) {
		g.Installed = got(g.installed(ctx))
	}
}

func (g *gatherer) installed(ctx context.Context) (bool, error) {
	var all admissionregistrationv1.MutatingWebhookConfigurationList
	if err := g.Reader.List(ctx, &all); err != nil {
		return false, err
	}
	for _, c := range all.Items {
		for _, w := range c.Webhooks {
			if strings.HasSuffix(w.Name, entries.Suffix) {
				return true, nil
			}
		}
	}
	return false, nil
}
