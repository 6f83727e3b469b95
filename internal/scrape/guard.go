// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package scrape lets those collect metrics whom the API server allows to: their
// token is one that it knows, and they may get the path. It is what
// controller-runtime's filter does, without the libraries of an API server,
// which would make the program half as large again.
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

// Guard stands before a handler. Use New for one that asks the API server.
type Guard struct {
	// Identify says whose token it is, false for a token that is nobody's.
	Identify func(ctx context.Context, token string) (authenticationv1.UserInfo, bool, error)
	// Allowed says whether a user may do what a request asks for.
	Allowed func(ctx context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error)
	Clock   clock.PassiveClock

	mu    sync.Mutex
	known map[[sha256.Size]byte]answer
}

// answer is what was found of a token and a request.
type answer struct {
	code  int
	until time.Time
}

const (
	// yesFor and noFor are how long an answer holds. A right that is taken away
	// counts after a minute; one that is given, as fast as a person tries again.
	yesFor = time.Minute
	noFor  = 5 * time.Second
	// patience is what the API server gets for both answers.
	patience = 10 * time.Second
	// remembered bounds the memory that others can fill with tokens they make up.
	remembered = 1000
)

// Filter is a metricsserver.Filter.
func (g *Guard) Filter(log logr.Logger, next http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, err := g.judge(r)
		switch {
		case err != nil:
			log.Error(err, "cannot tell who may collect metrics")
			http.Error(w, "whether you may is not known now", http.StatusInternalServerError)
		case code == http.StatusOK:
			next.ServeHTTP(w, r)
		case code == http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token that the API server knows is needed", code)
		default:
			http.Error(w, "you may not get "+r.URL.Path, code)
		}
	}), nil
}

// judge is the status code for a request: 200, 401 or 403.
func (g *Guard) judge(r *http.Request) (int, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if token == "" || !strings.EqualFold(scheme, "Bearer") {
		return http.StatusUnauthorized, nil
	}
	verb, path := strings.ToLower(r.Method), r.URL.Path
	key := sha256.Sum256([]byte(verb + " " + path + " " + token))
	if code := g.recall(key); code != 0 {
		return code, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	code, err := g.ask(ctx, token, verb, path)
	if err == nil {
		g.remember(key, code)
	}
	return code, err
}

func (g *Guard) ask(ctx context.Context, token, verb, path string) (int, error) {
	user, known, err := g.Identify(ctx, token)
	if err != nil || !known {
		return http.StatusUnauthorized, err
	}
	allowed, err := g.Allowed(ctx, user, verb, path)
	if err != nil || !allowed {
		return http.StatusForbidden, err
	}
	return http.StatusOK, nil
}

// recall is what was found lately, 0 for nothing.
func (g *Guard) recall(key [sha256.Size]byte) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, found := g.known[key]
	if !found || !g.Clock.Now().Before(a.until) {
		return 0
	}
	return a.code
}

func (g *Guard) remember(key [sha256.Size]byte, code int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || len(g.known) >= remembered {
		g.known = map[[sha256.Size]byte]answer{}
	}
	hold := noFor
	if code == http.StatusOK {
		hold = yesFor
	}
	g.known[key] = answer{code, g.Clock.Now().Add(hold)}
}
