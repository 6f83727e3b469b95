// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package webhook answers the API server's admission reviews.
//
// A review takes one way. Its endpoint limits the time and catches panics. The handler
// observes, which is where requests that are none of its business leave; decides, which is
// a function of what was observed; and returns a Decision. The endpoint counts the Decision
// and respond makes the response of it.
//
// A handler never dials etcd. It changes the reviewed object only by patches, and only the fields
// that belong to this project. It writes nothing, except:
//
//   - The guards of evictions and replicas record what they allow.
//   - The handler of the uninstallation releases rollouts.
//
// None of them writes in a dry run. Mutation fails open: a member without this project's terms is
// better than no member.
package webhook

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// Config is what the handlers need. All fields are required, except Self.
type Config struct {
	Reader *observe.Reader
	// Self is the user that the controller writes as. Its writes are not reviewed.
	Self string
	// Identity names this replica in answers to probes.
	Identity Identity
	// Records writes the records of evictions and of writes of replicas.
	Records RecordPatcher
	// StatefulSets releases rollouts when the program is uninstalled.
	StatefulSets StatefulSetPatcher
	Metrics      prometheus.Registerer
}

// Server is the part of controller-runtime's webhook server that Register needs.
type Server interface {
	Register(path string, h http.Handler)
}

// Register puts every handler of entries.Handlers on the server.
func Register(server Server, c Config) error {
	m := newMetrics()
	for _, collector := range m.collectors() {
		if err := c.Metrics.Register(collector); err != nil {
			return fmt.Errorf("register the metrics: %w", err)
		}
	}
	handlers := c.handlers()
	for _, e := range entries.Handlers {
		h, ok := handlers[e.Name]
		if !ok {
			return fmt.Errorf("handler %s is in entries.Handlers and not in Config.handlers", e.Name)
		}
		server.Register(e.Path, &admission.Webhook{
			Handler:         &endpoint{entry: e, handler: h, clock: c.Reader.Leases.Clock, metrics: m},
			WithContextFunc: detachContext,
		})
	}
	return nil
}

// handlers returns all handlers by their names in entries.Handlers.
func (c Config) handlers() map[string]handler {
	return map[string]handler{
		entries.Pod:                 &podHandler{reader: c.Reader, identity: c.Identity, clock: c.Reader.Leases.Clock},
		entries.PodDisruptionBudget: &budgetHandler{reader: c.Reader, self: c.Self},
		entries.Service:             &serviceHandler{clock: c.Reader.Leases.Clock, self: c.Self},
		entries.Owner:               &ownerHandler{reader: c.Reader},
		entries.Eviction:            &evictionHandler{reader: c.Reader, records: c.Records, self: c.Self},
		entries.Scale:               &scaleHandler{reader: c.Reader, records: c.Records},
		entries.Rollout:             &rolloutHandler{reader: c.Reader, self: c.Self},
		entries.Uninstall:           &uninstallHandler{reader: c.Reader, statefulSets: c.StatefulSets, clock: c.Reader.Leases.Clock},
	}
}

// detachContext keeps the end of the server from cancelling the reviews that it still
// answers. Each handler has a time limit of its own.
func detachContext(ctx context.Context, _ *http.Request) context.Context {
	return context.WithoutCancel(ctx)
}
