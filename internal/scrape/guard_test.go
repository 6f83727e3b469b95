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

// council answers as an API server does, and counts how often it is asked.
type council struct {
	asked int
	mute  bool
	// may are the tokens that are allowed; others that begin with "known" aren't.
	may map[string]bool
}

func (c *council) identify(_ context.Context, token string) (authenticationv1.UserInfo, bool, error) {
	c.asked++
	if c.mute {
		return authenticationv1.UserInfo{}, false, errors.New("no answer")
	}
	return authenticationv1.UserInfo{Username: token}, len(token) > 4 && token[:5] == "known", nil
}

func (c *council) allowed(_ context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error) {
	return c.may[user.Username] && verb == "get" && path == "/metrics", nil
}

func newGuard(c *council) (*Guard, *testclock.FakeClock) {
	now := testclock.NewFakeClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	return &Guard{Identify: c.identify, Allowed: c.allowed, Clock: now}, now
}

func ask(t *testing.T, g *Guard, method, path, authorization string) int {
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
		{"nobody", "GET", "/metrics", "", 401},
		{"no token", "GET", "/metrics", "Bearer ", 401},
		{"a password", "GET", "/metrics", "Basic a25vd246eA==", 401},
		{"a made up token", "GET", "/metrics", "Bearer x", 401},
		{"no right", "GET", "/metrics", "Bearer known-stranger", 403},
		{"a right", "GET", "/metrics", "Bearer known-scraper", 200},
		{"the scheme in small letters", "GET", "/metrics", "bearer known-scraper", 200},
		{"another verb", "POST", "/metrics", "Bearer known-scraper", 403},
		{"another path", "GET", "/debug", "Bearer known-scraper", 403},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			g, _ := newGuard(&council{may: map[string]bool{"known-scraper": true}})
			if got := ask(t, g, row.method, row.path, row.authorization); got != row.want {
				t.Errorf("%d, want %d", got, row.want)
			}
		})
	}
}

// TestGuardRemembers: a scrape costs two requests a minute, not two each time; a
// right that is taken away counts within that minute, and what is true of one
// path or token says nothing of another.
func TestGuardRemembers(t *testing.T) {
	t.Parallel()
	c := &council{may: map[string]bool{"known-scraper": true}}
	g, now := newGuard(c)
	expect := func(token string, code, asked int) {
		t.Helper()
		if got := ask(t, g, "GET", "/metrics", "Bearer "+token); got != code || c.asked != asked {
			t.Errorf("%s: code %d after %d questions, want %d after %d", token, got, c.asked, code, asked)
		}
	}
	expect("known-scraper", 200, 1)
	delete(c.may, "known-scraper")
	now.Step(59 * time.Second)
	expect("known-scraper", 200, 1)
	now.Step(time.Second)
	expect("known-scraper", 403, 2)
	c.may["known-scraper"] = true
	expect("known-scraper", 403, 2)
	now.Step(noFor)
	expect("known-scraper", 200, 3)
	if got := ask(t, g, "GET", "/other", "Bearer known-scraper"); got != 403 {
		t.Errorf("another path: %d", got)
	}
	c.mute = true
	if got := ask(t, g, "GET", "/metrics", "Bearer known-other"); got != 500 {
		t.Errorf("nobody answers: %d, want 500", got)
	}
	c.mute = false
	for i := range 3 * remembered {
		ask(t, g, "GET", "/metrics", fmt.Sprint("Bearer made-up-", i))
	}
	if len(g.known) > remembered {
		t.Errorf("%d tokens are remembered", len(g.known))
	}
}
