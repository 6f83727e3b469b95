// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package topology has the reconciler of the status of EtcdTopologyPolicies.
package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/budget"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Reconciler updates the status of every EtcdTopologyPolicy: the clusters that it
// governs, whether their members run as it requires, whether budgets protect them, and the
// policies that it conflicts with. It evaluates all policies and all clusters together,
// because which policy governs a cluster depends on all policies. In mode Warn it records
// in Events what the policy would do.
type Reconciler struct {
	Client   client.SubResourceClientConstructor
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock
	// Findings are what the Budget controller found.
	Findings *budget.Findings

	announced announce.Once
}

const (
	actionSpread       = "SpreadMembers"
	statusRefreshAfter = 15 * time.Second
	// maxMessage is the longest message in a status, in bytes.
	maxMessage = 1024
)

// Reconcile observes all clusters and writes the status of every policy whose status has
// changed. The request has no content.
func (t *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var policies v1alpha1.EtcdTopologyPolicyList
	if err := t.Reader.List(ctx, &policies); err != nil {
		return reconcile.Result{}, fmt.Errorf("list EtcdTopologyPolicies: %w", err)
	}
	if len(policies.Items) == 0 {
		publishPolicies(nil, nil)
		return reconcile.Result{}, nil
	}
	reports, err := t.report(ctx, policies.Items)
	if err != nil {
		return reconcile.Result{}, err
	}
	var failed []error
	found := map[string]v1alpha1.EtcdTopologyPolicyStatus{}
	for i := range policies.Items {
		p := &policies.Items[i]
		found[p.Name] = reports[p.Name].status(p, t.Clock.Now())
		failed = append(failed, t.write(ctx, p, found[p.Name]))
	}
	publishPolicies(reports, found)
	// A finding may change while its event is dropped.
	return reconcile.Result{RequeueAfter: statusRefreshAfter}, errors.Join(failed...)
}

// report evaluates every cluster and returns the report of each policy, by name.
func (t *Reconciler) report(ctx context.Context, policies []v1alpha1.EtcdTopologyPolicy) (map[string]*report, error) {
	namespaces, err := t.namespaces(ctx)
	if err != nil {
		return nil, err
	}
	owners, err := t.Reader.Owners(ctx)
	if err != nil {
		return nil, err
	}
	reports := map[string]*report{}
	for _, p := range policies {
		reports[p.Name] = &report{}
	}
	observed := map[owner.Key]bool{}
	for _, o := range owners {
		match := topologypolicy.Choose(policies, namespaces[o.Namespace], o)
		for _, name := range match.Conflict {
			reports[name].addConflict(match.Conflict, name, o)
			reports[name].addUnkept(o)
		}
		var notes []policy.Note
		switch {
		case len(match.Conflict) > 0:
			notes = append(notes, policy.Note{Reason: reasons.PolicyConflict, Message: fmt.Sprintf(
				"EtcdTopologyPolicies %s have the same priority, so none applies; give one a higher priority", strings.Join(match.Conflict, ", "))})
		case match.Separate != "":
			finding := budget.NewFinding(v1alpha1.Off, reasons.SeparateEtcds, fmt.Sprintf(budget.Separate, match.Separate))
			r := reports[match.Separate]
			r.clusters = append(r.clusters, v1alpha1.ClusterStatus{Namespace: o.Namespace, Kind: o.Kind, Name: o.Name, Spread: finding, Budget: finding})
		case match.Policy != nil:
			var found v1alpha1.ClusterStatus
			found, notes = t.evaluate(ctx, o, match.Policy)
			r := reports[match.Policy.Name]
			r.clusters = append(r.clusters, found)
			if found.Budget.Verdict == v1alpha1.Off {
				r.addUnkept(o)
			}
		}
		t.announce(o, notes)
		observed[o.Key()] = true
	}
	t.announced.Retain(func(key owner.Key) bool { return observed[key] })
	return reports, nil
}

func (t *Reconciler) namespaces(ctx context.Context) (map[string]labels.Set, error) {
	var all corev1.NamespaceList
	if err := t.Reader.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	out := map[string]labels.Set{}
	for i := range all.Items {
		out[all.Items[i].Name] = all.Items[i].Labels
	}
	return out, nil
}

// write updates the status of a policy if it differs.
func (t *Reconciler) write(ctx context.Context, p *v1alpha1.EtcdTopologyPolicy, status v1alpha1.EtcdTopologyPolicyStatus) error {
	if equality.Semantic.DeepEqual(p.Status, status) {
		return nil
	}
	changed := p.DeepCopy()
	changed.Status = status
	err := t.Client.SubResource("status").Update(ctx, changed)
	// A policy that was deleted or changed meanwhile is reconciled again.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("write status of EtcdTopologyPolicy %s: %w", p.Name, err)
	}
	return nil
}

// announce records each note as a warning Event, once for as long as its message holds.
func (t *Reconciler) announce(o owner.Owner, notes []policy.Note) {
	message := func(n policy.Note) string { return n.Message }
	for _, n := range t.announced.Fresh(o.Key(), notes, message) {
		announce.Warning(t.Recorder, o, n, actionSpread)
	}
}
