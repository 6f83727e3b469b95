// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package webhook answers the API server's admission reviews. Each handler
// observes, lets pass what is not ours, asks policy to decide and responds; it
// never dials etcd and has no side effects, so dry runs are clean. What a
// handler changes it changes by patches to its own paths alone.
//
// Mutation fails open: a member without our terms is better than no member.
package webhook

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// The paths that the API server calls, which the webhook configurations name.
const (
	PodPath    = "/mutate-pod"
	OwnerPath  = "/warn-owner"
	BudgetPath = "/mutate-poddisruptionbudget"
)

// patience bounds what one review may spend on looking around. The API server
// waits 3 seconds; past that our answer, with its warning, would be lost.
const patience = 2 * time.Second

// Register puts the handlers on the manager's webhook server. Self is the user
// that the controller writes as, whose writes of budgets are its own affair.
func Register(mgr ctrl.Manager, r *observe.Reader, self string) error {
	var already prometheus.AlreadyRegisteredError
	if err := metrics.Registry.Register(admissions); err != nil && !errors.As(err, &already) {
		return err
	}
	server := mgr.GetWebhookServer()
	server.Register(PodPath, &admission.Webhook{Handler: Pod(r)})
	server.Register(OwnerPath, &admission.Webhook{Handler: Owner(r)})
	server.Register(BudgetPath, &admission.Webhook{Handler: PodDisruptionBudget(r, self)})
	return nil
}
