// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// checkTunnels connects to the members of a cluster without TLS in all ways that an API server
// supports, and in ways that fail.
func checkTunnels(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	through := func(config *rest.Config) *etcd.Cluster {
		found := &etcd.Cluster{Tunnel: tunnel.New(config)}
		for _, pod := range podsOf(t, c) {
			found.Endpoints = append(found.Endpoints, access.Endpoint{Namespace: c.Namespace, Pod: pod, Port: 2379})
		}
		t.Cleanup(func() { _ = found.Close() })
		return found
	}
	for _, old := range []bool{false, true} {
		name := "behind a path"
		if old {
			name = "behind a path, without WebSocket"
		}
		t.Run(name, func(t *testing.T) {
			host, refused := apiBehindPath(t, config, old)
			allAnswer(t, through(&rest.Config{Host: host}))
			if got := refused.Load() > 0; got != old {
				t.Errorf("%d WebSocket connections were refused", refused.Load())
			}
		})
	}
	t.Run("without the right", func(t *testing.T) {
		as := rest.CopyConfig(config)
		as.Impersonate.UserName = "jane"
		members := through(as)
		eventually(t, "the API server's own message", func(ctx context.Context) (string, bool, error) {
			_, err := members.Survey(ctx)
			messages := apierrors.IsForbidden(err) && strings.Contains(err.Error(), `User "jane" cannot create resource "pods/portforward"`)
			return fmt.Sprint(err), messages, nil
		})
	})
	t.Run("nothing listens", func(t *testing.T) {
		members := through(config)
		members.Endpoints[0].Port = 2399
		eventually(t, "a refused connection", func(ctx context.Context) (string, bool, error) {
			m := members.Status(ctx, members.Endpoints[0].Pod)
			messages := errors.Is(m.Err, syscall.ECONNREFUSED) && strings.Contains(etcd.Reason(m.Err), "nothing listens on port 2399")
			return fmt.Sprint(m.Err), messages, nil
		})
	})
	t.Run("deadlines", func(t *testing.T) {
		conn, err := tunnel.New(config).Dial(t.Context(), c.Namespace, podsOf(t, c)[0], 2379)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read %d bytes: %v", n, err)
		}
	})
}

// allAnswer checks that every member responds and is in the member list.
func allAnswer(t *testing.T, members *etcd.Cluster) {
	t.Helper()
	eventually(t, "every member to respond", func(ctx context.Context) (string, bool, error) {
		s, err := members.Survey(ctx)
		errs := []error{err, s.ListErr}
		for _, m := range s.Members {
			errs = append(errs, m.Err)
		}
		err = errors.Join(errs...)
		return fmt.Sprintf("the member list is %+v", s.List), err == nil && len(s.List) == len(s.Members), err
	})
}

// apiBehindPath serves the API server below a path, as multi-cluster gateways do. If old is set,
// it refuses WebSocket connections and counts them in refused.
func apiBehindPath(t *testing.T, config *rest.Config, old bool) (host string, refused *atomic.Int32) {
	t.Helper()
	const path = "/k8s/clusters/c-1"
	refused = &atomic.Int32{}
	host = apiServedBy(t, config, func(api http.Handler, w http.ResponseWriter, r *http.Request) {
		if old && r.Header.Get("Upgrade") == "websocket" {
			refused.Add(1)
			http.Error(w, "upgrade to SPDY", http.StatusBadRequest)
			return
		}
		http.StripPrefix(path, api).ServeHTTP(w, r)
	})
	return host + path, refused
}

// apiServedBy serves the API server through a server of the test. serve responds to each request
// itself or passes it to api.
func apiServedBy(t *testing.T, config *rest.Config, serve func(api http.Handler, w http.ResponseWriter, r *http.Request)) (host string) {
	t.Helper()
	plain := rest.CopyConfig(config)
	plain.NextProtos = []string{"http/1.1"} // HTTP/2 connections can't be upgraded
	transport, err := rest.TransportFor(plain)
	if err != nil {
		t.Fatal(err)
	}
	behind, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	api := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(api, w, r) }))
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}
