// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	testclock "k8s.io/utils/clock/testing"
)

// reviewer answers as an API server does, and counts the reviews.
type reviewer struct {
	reviews     int
	unavailable bool
	// allow holds the tokens with permission. Others that begin with "known" are valid.
	allow map[string]bool
}

func (c *reviewer) identify(_ context.Context, token string) (authenticationv1.UserInfo, bool, error) {
	c.reviews++
	if c.unavailable {
		return authenticationv1.UserInfo{}, false, errors.New("no answer")
	}
	return authenticationv1.UserInfo{Username: token}, len(token) > 4 && token[:5] == "known", nil
}

func (c *reviewer) allowed(_ context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error) {
	return c.allow[user.Username] && verb == "get" && path == "/metrics", nil
}

func newGuard(c *reviewer) (*Guard, *testclock.FakeClock) {
	now := testclock.NewFakeClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	return &Guard{Identify: c.identify, Allowed: c.allowed, Clock: now}, now
}

func get(t *testing.T, g *Guard, method, path, authorization string) int {
	t.Helper()
	h, err := g.Filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") }))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if served := w.Body.String() == "metrics"; served != (w.Code == http.StatusOK) {
		t.Errorf("code %d, but served is %v", w.Code, served)
	}
	return w.Code
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, method, path, authorization string
		want                              int
	}{
		{"no header", "GET", "/metrics", "", 401},
		{"no token", "GET", "/metrics", "Bearer ", 401},
		{"a password", "GET", "/metrics", "Basic a25vd246eA==", 401},
		{"an invented token", "GET", "/metrics", "Bearer x", 401},
		{"no permission", "GET", "/metrics", "Bearer known-other", 403},
		{"permission", "GET", "/metrics", "Bearer known-scraper", 200},
		{"the scheme in small letters", "GET", "/metrics", "bearer known-scraper", 200},
		{"another verb", "POST", "/metrics", "Bearer known-scraper", 403},
		{"another path", "GET", "/debug", "Bearer known-scraper", 403},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			g, _ := newGuard(&reviewer{allow: map[string]bool{"known-scraper": true}})
			if got := get(t, g, row.method, row.path, row.authorization); got != row.want {
				t.Errorf("%d, want %d", got, row.want)
			}
		})
	}
}

// TestGuardCache checks that scrapes cost two requests a minute, that a removed permission takes
// effect within that minute, and that a decision holds for one path and token only.
func TestGuardCache(t *testing.T) {
	t.Parallel()
	c := &reviewer{allow: map[string]bool{"known-scraper": true}}
	g, now := newGuard(c)
	expect := func(token string, code, reviews int) {
		t.Helper()
		if got := get(t, g, "GET", "/metrics", "Bearer "+token); got != code || c.reviews != reviews {
			t.Errorf("%s: code %d after %d reviews, want %d after %d", token, got, c.reviews, code, reviews)
		}
	}
	expect("known-scraper", 200, 1)
	delete(c.allow, "known-scraper")
	now.Step(59 * time.Second)
	expect("known-scraper", 200, 1)
	now.Step(time.Second)
	expect("known-scraper", 403, 2)
	c.allow["known-scraper"] = true
	expect("known-scraper", 403, 2)
	now.Step(deniedFor)
	expect("known-scraper", 200, 3)
	if got := get(t, g, "GET", "/other", "Bearer known-scraper"); got != 403 {
		t.Errorf("another path: %d", got)
	}
	c.unavailable = true
	if got := get(t, g, "GET", "/metrics", "Bearer known-other"); got != 500 {
		t.Errorf("without an answer: %d, want 500", got)
	}
	c.unavailable = false
	for i := range 3 * maxCached {
		get(t, g, "GET", "/metrics", fmt.Sprint("Bearer invented-", i))
	}
	if len(g.cached) > maxCached {
		t.Errorf("%d decisions are cached", len(g.cached))
	}
}
