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
	"context"
	"net/http"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// The paths that the API server calls, which the webhook configurations name.
const (
	PodPath    = "/mutate-pod"
	OwnerPath  = "/warn-owner"
	BudgetPath = "/mutate-poddisruptionbudget"
	// ServicePath is called for Services whose selector has, had or gets a cut.
	ServicePath = "/mutate-service"
)

// What one review may spend on looking around, by how long the API server waits
// for it, which is twice that or 3 seconds: past that our answer, with its warning,
// would be lost. A member that is not spread is worth more waiting than a budget,
// which the controller will see, or words.
const (
	patience       = 2 * time.Second
	budgetPatience = time.Second
	ownerPatience  = 500 * time.Millisecond
)

// Register puts the handlers on the manager's webhook server. Self is the user
// that the controller writes as, whose writes are its own affair; who is what this
// one of several replicas answers by.
func Register(mgr ctrl.Manager, r *observe.Reader, self string, who Identity) error {
	if err := registerMetrics(); err != nil {
		return err
	}
	server, now := mgr.GetWebhookServer(), r.Leases.Clock
	for _, h := range []struct {
		path, name string
		handle     admission.HandlerFunc
	}{
		{PodPath, podHandler, Pod(r, who)},
		{OwnerPath, ownerHandler, Owner(r)},
		{BudgetPath, budgetHandler, PodDisruptionBudget(r, self)},
		{ServicePath, serviceHandler, Service(now, self)},
	} {
		server.Register(h.path, &admission.Webhook{Handler: timed(h.name, now, failsOpen(h.name, h.handle)), WithContextFunc: toItsEnd})
	}
	return nil
}

// toItsEnd keeps a review that is in hand when the server is told to end from being cut
// off in a live read: its request's context ends with the server's. Each handler has a limit
// of its own.
func toItsEnd(ctx context.Context, _ *http.Request) context.Context {
	return context.WithoutCancel(ctx)
}
