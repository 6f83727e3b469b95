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
)

// trouble is what keeps a watch from working.
type trouble int

const (
	// silent is no answer: the connection's fault, not the collection's.
	silent trouble = iota
	// putOff is an answer that says try again: 429, and an error of the API server's own.
	putOff
	// refused is an answer that stays the same until somebody changes a right.
	refused
)

// limits are how long each may last before a replica isn't ready.
//
// Who may not watch doesn't know what to answer, but an API server that has just started
// refuses for a moment what it will allow. The other two say nothing of this replica: it
// would be missing, and admission fail open, the moment that the API server is back.
// Only one that is cut off for long from an API server that others reach must go.
var limits = map[trouble]time.Duration{silent: 2 * time.Minute, putOff: 2 * time.Minute, refused: 15 * time.Second}

var words = map[trouble]string{silent: "has not been answered", putOff: "has failed", refused: "has been refused"}

// watches knows by the answers to the informers' requests which caches can't follow the
// API server. Informers keep that to themselves: once synced they stay so.
type watches struct {
	clock  clock.PassiveClock
	logger logr.Logger

	mu sync.Mutex
	// failing are those that don't work, by the path of their collection.
	failing map[string]*failure
}

// failure is a watch that doesn't work.
type failure struct {
	trouble trouble
	why     string
	// since and last are the first and the last request in vain. What lies between them
	// counts: one refusal says nothing of the half minute in which nobody asks again.
	since, last time.Time
	told        bool
}

func (f *failure) tooLong() bool { return f.last.Sub(f.since) >= limits[f.trouble] }

// newCache makes the manager's cache, and sees all that its informers are answered.
func (w *watches) newCache(config *rest.Config, o cache.Options) (cache.Cache, error) {
	seen := *o.HTTPClient
	if seen.Transport == nil { // as of http.DefaultClient
		seen.Transport = http.DefaultTransport
	}
	seen.Transport = w.over(seen.Transport)
	o.HTTPClient = &seen
	return cache.New(config, o)
}

// over sees the head of each answer. The bodies, in which watches go on, pass unread.
func (w *watches) over(next http.RoundTripper) http.RoundTripper {
	return apiserver.RoundTripper(func(r *http.Request) (*http.Response, error) {
		began := w.clock.Now()
		answer, err := next.RoundTrip(r)
		if !errors.Is(r.Context().Err(), context.Canceled) { // else nobody waits for it any more
			w.note(r, answer, err, began)
		}
		return answer, err
	})
}

func (w *watches) note(r *http.Request, answer *http.Response, err error, began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	collection := r.URL.Path
	if err != nil {
		w.fails(collection, failure{trouble: silent, why: err.Error(), since: began})
		return
	}
	w.answered()
	switch code := answer.StatusCode; {
	// A list that is allowed is followed by a watch, which counts. What isn't served has no
	// objects: those of a definition go before it, and it may never come back.
	case code == http.StatusOK && r.URL.Query().Get("watch") == "true", code == http.StatusNotFound:
		w.works(collection)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		w.fails(collection, failure{trouble: refused, why: answer.Status, since: began})
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		w.fails(collection, failure{trouble: putOff, why: answer.Status, since: began})
	}
}

// fails notes one more request in vain. A refusal stands until the watch works, whatever
// else happens, and begins anew what was only silence before.
func (w *watches) fails(collection string, now failure) {
	before := w.failing[collection]
	if before != nil && before.trouble == refused && now.trouble != refused {
		return
	}
	now.last = w.clock.Now()
	if before != nil && (before.trouble == refused) == (now.trouble == refused) {
		now.since, now.told = before.since, before.told
	}
	if now.tooLong() && !now.told {
		w.logger.Info("this replica isn't ready: a cache is not in sync", "why", now.of(collection))
		now.told = true
	}
	if w.failing == nil {
		w.failing = map[string]*failure{}
	}
	w.failing[collection] = &now
}

func (w *watches) works(collection string) {
	if f := w.failing[collection]; f != nil && f.told {
		w.logger.Info("a cache can be kept in sync again", "of", path.Base(collection))
	}
	delete(w.failing, collection)
}

// answered ends every silence: any answer shows that the API server is reached. Informers
// pause for up to a minute, each by itself, and reviews are asked for at once.
func (w *watches) answered() {
	for collection, f := range w.failing {
		if f.trouble == silent {
			w.works(collection)
		}
	}
}

// of says what is wrong with a collection's watch.
func (f *failure) of(collection string) string {
	return fmt.Sprintf("watching %s %s since %s (%s)", path.Base(collection), words[f.trouble], f.since.UTC().Format(time.RFC3339), f.why)
}

// check is for readiness.
func (w *watches) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for collection, f := range w.failing {
		if f.tooLong() {
			all = append(all, f.of(collection))
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return fmt.Errorf("caches are not in sync: %s", strings.Join(all, ", "))
}
