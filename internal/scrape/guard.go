// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package scrape registers metrics, and protects their endpoint: a client needs a token of the
// API server and the permission to get the path. controller-runtime's filter does the same
// with the libraries of an API server, which would make the program half as large again.
package scrape

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/utils/clock"
)

// Guard protects a handler. New returns one that uses the API server.
type Guard struct {
	// Identify returns the user of a token, and reports whether the token is valid.
	Identify func(ctx context.Context, token string) (authenticationv1.UserInfo, bool, error)
	// Allowed reports whether a user may make a request.
	Allowed func(ctx context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error)
	Clock   clock.PassiveClock

	mu     sync.Mutex
	cached map[[sha256.Size]byte]decision
}

// decision is the status code for a token and a request.
type decision struct {
	code  int
	until time.Time
}

const (
	// allowedFor and deniedFor are how long a decision is cached. A removed permission takes
	// effect within a minute; a new one as soon as a user retries.
	allowedFor = time.Minute
	deniedFor  = 5 * time.Second
	// timeout is the limit for both requests to the API server.
	timeout = 10 * time.Second
	// maxCached limits the memory that clients can fill with invented tokens.
	maxCached = 1000
)

// Filter implements metricsserver.Filter.
func (g *Guard) Filter(log logr.Logger, next http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, err := g.decide(r)
		switch {
		case err != nil:
			log.Error(err, "cannot check the permission to collect metrics")
			http.Error(w, "cannot check your permission now", http.StatusInternalServerError)
		case code == http.StatusOK:
			next.ServeHTTP(w, r)
		case code == http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token of the API server is required", code)
		default:
			http.Error(w, "no permission to get "+r.URL.Path, code)
		}
	}), nil
}

// decide returns the status code for a request: 200, 401 or 403.
func (g *Guard) decide(r *http.Request) (int, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if token == "" || !strings.EqualFold(scheme, "Bearer") {
		return http.StatusUnauthorized, nil
	}
	verb, path := strings.ToLower(r.Method), r.URL.Path
	key := sha256.Sum256([]byte(verb + " " + path + " " + token))
	if code := g.lookUp(key); code != 0 {
		return code, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	code, err := g.review(ctx, token, verb, path)
	if err == nil {
		g.store(key, code)
	}
	return code, err
}

// review asks the API server.
func (g *Guard) review(ctx context.Context, token, verb, path string) (int, error) {
	user, valid, err := g.Identify(ctx, token)
	if err != nil || !valid {
		return http.StatusUnauthorized, err
	}
	allowed, err := g.Allowed(ctx, user, verb, path)
	if err != nil || !allowed {
		return http.StatusForbidden, err
	}
	return http.StatusOK, nil
}

// lookUp returns the cached status code, or 0 if there is none.
func (g *Guard) lookUp(key [sha256.Size]byte) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	d, found := g.cached[key]
	if !found || !g.Clock.Now().Before(d.until) {
		return 0
	}
	return d.code
}

func (g *Guard) store(key [sha256.Size]byte, code int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cached == nil || len(g.cached) >= maxCached {
		g.cached = map[[sha256.Size]byte]decision{}
	}
	validity := deniedFor
	if code == http.StatusOK {
		validity = allowedFor
	}
	g.cached[key] = decision{code, g.Clock.Now().Add(validity)}
}
