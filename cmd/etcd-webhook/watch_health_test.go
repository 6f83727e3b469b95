// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

const (
	budgets = "/apis/policy/v1/poddisruptionbudgets"
	pods    = "/api/v1/pods"
)

// request is a request at a time and its answer: a code, or 0 for no answer.
type request struct {
	at   time.Duration
	path string
	list bool
	code int
}

// TestWatchHealth checks whether a replica is ready after the last of these requests.
func TestWatchHealth(t *testing.T) {
	t.Parallel()
	const sec, minute = time.Second, time.Minute
	for _, row := range []struct {
		name     string
		requests []request
		want     string // part of the readiness error, empty if ready
		lines    int    // of the log
	}{
		{name: "no request yet"},
		{name: "it works", requests: []request{{0, budgets, false, 200}}},
		{name: "refused once", requests: []request{{0, budgets, false, 403}}},
		{name: "refused for a moment", requests: []request{{0, budgets, false, 403}, {14 * sec, budgets, false, 403}}},
		{name: "refused", requests: []request{{0, budgets, false, 403}, {15 * sec, budgets, false, 403}, {16 * sec, budgets, false, 403}}, lines: 1,
			want: "caches are not in sync: watching poddisruptionbudgets has been refused since 2026-01-01T00:00:00Z (403 Forbidden)"},
		{name: "unknown to the API server", requests: []request{{0, budgets, false, 401}, {15 * sec, budgets, false, 401}}, lines: 1, want: "401 Unauthorized"},
		{name: "its list refused", requests: []request{{0, budgets, true, 403}, {15 * sec, budgets, true, 403}}, lines: 1, want: "watching poddisruptionbudgets has been refused"},
		{name: "refused and listed", requests: []request{{0, budgets, false, 403}, {1 * sec, budgets, true, 200}, {15 * sec, budgets, false, 403}}, lines: 1, want: "refused"},
		{name: "refused, then allowed", requests: []request{{0, budgets, false, 403}, {15 * sec, budgets, false, 403}, {20 * sec, budgets, false, 200}}, lines: 2},
		{name: "refused, while another works", requests: []request{{0, budgets, false, 403}, {14 * sec, pods, false, 200}, {15 * sec, budgets, false, 403}}, lines: 1, want: "refused"},
		{name: "both refused", requests: []request{{0, pods, false, 403}, {0, budgets, false, 403}, {15 * sec, pods, false, 403}, {15 * sec, budgets, false, 403}}, lines: 2,
			want: "watching poddisruptionbudgets has been refused since 2026-01-01T00:00:00Z (403 Forbidden), watching pods has been refused"},
		{name: "refused before a request without an answer", requests: []request{{0, budgets, false, 403}, {15 * sec, budgets, false, 403}, {20 * sec, budgets, false, 0}, {21 * sec, pods, false, 200}}, lines: 1, want: "refused"},
		{name: "refused again after it was allowed", requests: []request{{0, budgets, false, 403}, {10 * sec, budgets, false, 200}, {20 * sec, budgets, false, 403}}},
		{name: "refused after requests without an answer", requests: []request{{0, budgets, false, 0}, {100 * sec, budgets, false, 403}, {110 * sec, budgets, false, 403}}},
		{name: "refused after a retryable error", requests: []request{{0, budgets, false, 503}, {100 * sec, budgets, false, 403}}},
		{name: "no answer for a short time", requests: []request{{0, budgets, false, 0}, {119 * sec, budgets, false, 0}}},
		{name: "no answer", requests: []request{{0, budgets, false, 0}, {2 * minute, budgets, false, 0}}, lines: 1, want: "watching poddisruptionbudgets has not been answered since 2026-01-01T00:00:00Z ("},
		{name: "an answer for another collection", requests: []request{{0, budgets, false, 0}, {2 * minute, budgets, false, 0}, {3 * minute, pods, false, 403}}, lines: 2},
		{name: "retryable errors for a short time", requests: []request{{0, budgets, false, 503}, {119 * sec, budgets, false, 429}}},
		{name: "retryable errors", requests: []request{{0, budgets, false, 429}, {1 * minute, pods, false, 200}, {2 * minute, budgets, false, 500}}, lines: 1, want: "watching poddisruptionbudgets has failed since 2026-01-01T00:00:00Z (500 Internal"},
		{name: "too old a version", requests: []request{{0, budgets, false, 410}, {10 * minute, budgets, false, 410}}},
		{name: "an unknown kind of list", requests: []request{{0, budgets, false, 400}, {10 * minute, budgets, false, 400}}},
		{name: "refused, then removed", requests: []request{{0, budgets, false, 403}, {15 * sec, budgets, false, 403}, {16 * sec, budgets, false, 404}}, lines: 2},
		{name: "never served", requests: []request{{0, budgets, false, 404}, {10 * minute, budgets, false, 404}}},
		{name: "a definition is removed", requests: []request{{0, budgets, false, 200}, {1 * sec, budgets, false, 404}, {10 * minute, budgets, false, 404}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w, lines := &watchHealth{}, 0
			w.logger = funcr.New(func(_, _ string) { lines++ }, funcr.Options{})
			send(t, w, row.requests)
			got := ""
			if err := w.check(); err != nil {
				got = err.Error()
			}
			if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
				t.Errorf("the error is %q, want %q", got, row.want)
			}
			if lines != row.lines {
				t.Errorf("the log has %d lines, want %d", lines, row.lines)
			}
		})
	}
}

// send makes requests to a server that answers with their codes.
func send(t *testing.T, w *watchHealth, all []request) {
	t.Helper()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := clocktesting.NewFakePassiveClock(began)
	w.clock = now
	var code atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		answer := int(code.Load())
		if answer == 0 {
			panic(http.ErrAbortHandler)
		}
		to.WriteHeader(answer)
	}))
	defer server.Close()
	caller := &http.Client{Transport: w.observe(&http.Transport{DisableKeepAlives: true})}
	for _, a := range all {
		now.SetTime(began.Add(a.at))
		code.Store(int32(a.code))
		query := "?watch=true"
		if a.list {
			query = "?limit=500"
		}
		get(t.Context(), t, caller, server.URL+a.path+query, a.code)
	}
}

// get makes a request and checks the code of its answer, 0 for no answer.
func get(ctx context.Context, t *testing.T, by *http.Client, url string, want int) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := by.Do(request)
	if err == nil {
		defer answer.Body.Close()
	}
	if (err == nil) != (want != 0) || err == nil && answer.StatusCode != want {
		t.Fatalf("it was answered %v, %v", answer, err)
	}
}

// TestCanceledRequest checks that a canceled request is no failure.
func TestCanceledRequest(t *testing.T) {
	t.Parallel()
	w := &watchHealth{clock: clock.RealClock{}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	get(ctx, t, &http.Client{Transport: w.observe(http.DefaultTransport)}, "http://127.0.0.1:1"+budgets+"?watch=true", 0)
	if len(w.failing) > 0 {
		t.Error("it counts as a failure")
	}
}

// TestWatchStream checks that the events of a watch pass without delay.
func TestWatchStream(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		for range 2 {
			_, _ = io.WriteString(to, "event")
			_ = http.NewResponseController(to).Flush()
			<-more
		}
	}))
	defer server.Close()
	w := &watchHealth{clock: clock.RealClock{}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+pods+"?watch=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.observe(http.DefaultTransport).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for range 2 { // the server waits until the first is read
		if _, err := io.ReadFull(answer.Body, make([]byte, len("event"))); err != nil {
			t.Fatal(err)
		}
		more <- struct{}{}
	}
}

// TestRealInformer checks that the refusals of a real informer's requests are recorded, and that
// they end when it is allowed.
func TestRealInformer(t *testing.T) {
	t.Parallel()
	var allowed atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		switch {
		case !allowed.Load():
			to.WriteHeader(http.StatusForbidden)
		case r.URL.Query().Has("sendInitialEvents"):
			to.WriteHeader(http.StatusBadRequest) // then it lists
		case r.URL.Query().Get("watch") == "true":
			_ = http.NewResponseController(to).Flush()
			<-r.Context().Done()
		default:
			to.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(to, `{"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}`)
		}
	}))
	defer server.Close()
	w := &watchHealth{clock: clock.RealClock{}, logger: logr.Discard()}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	c, err := w.newCache(&rest.Config{Host: server.URL}, cache.Options{HTTPClient: &http.Client{}, Scheme: scheme.Scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	if _, err := c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		allowed.Store(want == 0)
		err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 10*time.Minute, true, func(context.Context) (bool, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.failing) == want && (want == 0 || w.failing[pods].kind == refused), nil
		})
		if err != nil {
			t.Fatalf("there are never %d refused watches: %v", want, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
