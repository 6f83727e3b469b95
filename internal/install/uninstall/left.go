// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// Left finds and restores single objects that etcd-webhook changed, where it was removed without
// Uninstaller.
type Left struct {
	Kube   client.Client
	Reader *observe.Reader
	Clock  clock.Clock
	// Flags are the user's flags of kubectl for commands that are printed, each after a space.
	Flags string
}

// Installed reports whether a webhook of etcd-webhook is registered, or its Deployment exists. If
// neither can be seen, and a list of either fails, it returns the error.
func (l Left) Installed(ctx context.Context) (bool, error) {
	registered, failed := l.registered(ctx)
	if registered {
		return true, nil
	}
	var programs appsv1.DeploymentList
	if err := l.Kube.List(ctx, &programs, installed); err != nil {
		return false, fmt.Errorf("list Deployments: %w", err)
	}
	return len(programs.Items) > 0, failed
}

// registered reports whether the API server calls etcd-webhook.
func (l Left) registered(ctx context.Context) (bool, error) {
	var mutating admissionregistrationv1.MutatingWebhookConfigurationList
	if err := l.Kube.List(ctx, &mutating); err != nil {
		return false, fmt.Errorf("list MutatingWebhookConfigurations: %w", err)
	}
	ours := func(name string) bool { return strings.HasSuffix(name, entries.Suffix) }
	for i := range mutating.Items {
		if slices.ContainsFunc(mutating.Items[i].Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool { return ours(w.Name) }) {
			return true, nil
		}
	}
	var validating admissionregistrationv1.ValidatingWebhookConfigurationList
	if err := l.Kube.List(ctx, &validating); err != nil {
		return false, fmt.Errorf("list ValidatingWebhookConfigurations: %w", err)
	}
	for i := range validating.Items {
		if slices.ContainsFunc(validating.Items[i].Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return ours(w.Name) }) {
			return true, nil
		}
	}
	return false, nil
}

// Budgets returns the disruption budgets of a namespace, or of all for an empty one, that etcd-webhook
// created or changed.
func (l Left) Budgets(ctx context.Context, namespace string) ([]policyv1.PodDisruptionBudget, error) {
	return heldBudgets(ctx, l.Kube, client.InNamespace(namespace))
}

// Rollouts returns the StatefulSets of a namespace, or of all for an empty one, whose rollout
// etcd-webhook holds.
func (l Left) Rollouts(ctx context.Context, namespace string) ([]appsv1.StatefulSet, error) {
	return heldRollouts(ctx, l.Kube, client.InNamespace(namespace))
}

// SizeWarnings returns warnings about a size of a cluster that only the record of a budget has.
func (l Left) SizeWarnings(ctx context.Context, budget *policyv1.PodDisruptionBudget) []string {
	u := Uninstaller{Reader: l.Reader, Clock: l.Clock, Flags: l.Flags}
	return u.sizeWarnings(ctx, budget)
}

// RestoreBudget restores a budget as Uninstaller does: to its author's number, but not below the quorum.
// It fails if the budget has changed since it was read. With dry the API server only tries it.
func (l Left) RestoreBudget(ctx context.Context, budget *policyv1.PodDisruptionBudget, dry bool) error {
	u := Uninstaller{Kube: l.Kube, Reader: l.Reader, Clock: l.Clock}
	return u.restoreBudget(ctx, budget, dryRun(dry))
}

// RestoreRollout restores the author's update strategy as Uninstaller does. It fails if the StatefulSet
// has changed since it was read. With dry the API server only tries it.
func (l Left) RestoreRollout(ctx context.Context, sts *appsv1.StatefulSet, dry bool) error {
	u := Uninstaller{Kube: l.Kube, Reader: l.Reader, Clock: l.Clock}
	return u.restoreRollout(ctx, sts, dryRun(dry))
}
