// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apiserver"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// failureKind is the reason why a watch fails.
type failureKind int

const (
	// noAnswer is a failure of the connection. It doesn't depend on the collection.
	noAnswer failureKind = iota
	// retryable is an answer that asks for a retry: 429, or an error of the API server.
	retryable
	// refused is an answer that stays the same until a user changes a permission.
	refused
)

// limits are how long each failure may last before a replica isn't ready.
//
// A replica without permission to watch doesn't know what to answer. The limit isn't 0,
// because an API server that has just started refuses for a moment what it will allow. The
// other failures are usually not those of the replica: if it stopped being ready, it would be
// missing, and admission would fail open, as soon as the API server is available again. Only a
// replica that is disconnected for long, while others aren't, must stop being ready.
var limits = map[failureKind]time.Duration{noAnswer: 2 * time.Minute, retryable: 2 * time.Minute, refused: 15 * time.Second}

var descriptions = map[failureKind]string{noAnswer: "has not been answered", retryable: "has failed", refused: "has been refused"}

// watchHealth finds out from the answers to the informers' requests which caches can't follow
// the API server. Informers don't report that: they stay synced after the first list.
type watchHealth struct {
	clock  clock.PassiveClock
	logger logr.Logger

	mu sync.Mutex
	// failing are the failures of watches, by the path of their collection.
	failing map[string]*failure
}

// failure is a watch that fails.
type failure struct {
	kind failureKind
	why  string
	// since and last are the times of the first and of the last failed request. The failure
	// lasts for the time between them: one refusal alone proves nothing for the half minute
	// until the next request.
	since, last time.Time
	logged      bool
}

func (f *failure) tooLong() bool { return f.last.Sub(f.since) >= limits[f.kind] }

// newCache creates the manager's cache, and observes the answers to its informers.
func (w *watchHealth) newCache(config *rest.Config, o cache.Options) (cache.Cache, error) {
	observed := *o.HTTPClient
	if observed.Transport == nil { // as for http.DefaultClient
		observed.Transport = http.DefaultTransport
	}
	observed.Transport = w.observe(observed.Transport)
	o.HTTPClient = &observed
	return cache.New(config, o)
}

// observe returns a transport that records the status of each answer. It doesn't read the
// bodies, which are the streams of the watches.
func (w *watchHealth) observe(next http.RoundTripper) http.RoundTripper {
	return apiserver.RoundTripper(func(r *http.Request) (*http.Response, error) {
		began := w.clock.Now()
		answer, err := next.RoundTrip(r)
		if !errors.Is(r.Context().Err(), context.Canceled) { // a canceled request proves nothing
			w.record(r, answer, err, began)
		}
		return answer, err
	})
}

func (w *watchHealth) record(r *http.Request, answer *http.Response, err error, began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	collection := r.URL.Path
	if err != nil {
		w.fail(collection, failure{kind: noAnswer, why: err.Error(), since: began})
		return
	}
	w.connected()
	switch code := answer.StatusCode; {
	// After a successful list a watch follows, and the watch counts. A collection that isn't
	// served has no objects: the API server deletes them before it removes their definition,
	// and the definition may never be added again.
	case code == http.StatusOK && r.URL.Query().Get("watch") == "true", code == http.StatusNotFound:
		w.succeed(collection)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		w.fail(collection, failure{kind: refused, why: answer.Status, since: began})
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		w.fail(collection, failure{kind: retryable, why: answer.Status, since: began})
	}
}

// fail records a failed request. A refusal lasts until the watch works, whatever fails in
// between. It doesn't continue a failure of another kind: its time starts with it.
func (w *watchHealth) fail(collection string, now failure) {
	before := w.failing[collection]
	if before != nil && before.kind == refused && now.kind != refused {
		return
	}
	now.last = w.clock.Now()
	if before != nil && (before.kind == refused) == (now.kind == refused) {
		now.since, now.logged = before.since, before.logged
	}
	if now.tooLong() && !now.logged {
		w.logger.Info("this replica isn't ready: a cache is not in sync", "why", now.describe(collection))
		now.logged = true
	}
	if w.failing == nil {
		w.failing = map[string]*failure{}
	}
	w.failing[collection] = &now
}

func (w *watchHealth) succeed(collection string) {
	if f := w.failing[collection]; f != nil && f.logged {
		w.logger.Info("a cache can be kept in sync again", "collection", path.Base(collection))
	}
	delete(w.failing, collection)
}

// connected ends every failure without an answer, because any answer proves the connection.
// Each informer pauses for up to a minute by itself, but reviews must be answered at once.
func (w *watchHealth) connected() {
	for collection, f := range w.failing {
		if f.kind == noAnswer {
			w.succeed(collection)
		}
	}
}

// describe returns a description of the failure of a collection's watch.
func (f *failure) describe(collection string) string {
	return fmt.Sprintf("watching %s %s since %s (%s)", path.Base(collection), descriptions[f.kind], format.Time(f.since), f.why)
}

// check is a readiness check.
func (w *watchHealth) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for collection, f := range w.failing {
		if f.tooLong() {
			all = append(all, f.describe(collection))
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return fmt.Errorf("caches are not in sync: %s", strings.Join(all, ", "))
}
