// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// serve answers probes and the request to stop on every address, with etcd's own
// server certificate where it has one, until the server is closed.
func (w *wrapper) serve(ctx context.Context, ready *readiness, cfg *embed.Config) (*http.Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf(":%d", w.port))
	if err != nil {
		return nil, fmt.Errorf("serve readiness: %w", err)
	}
	server := &http.Server{Handler: w.handler(ready), ReadHeaderTimeout: 10 * time.Second}
	serve := func() error { return server.Serve(listener) }
	if servesTLS(cfg) {
		cert, key := cfg.ClientTLSInfo.CertFile, cfg.ClientTLSInfo.KeyFile // etcd changes cfg when it starts
		serve = func() error { return server.ServeTLS(listener, cert, key) }
	}
	go func() {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("readiness is no longer served", "err", err)
		}
	}()
	return server, nil
}

// handler answers /readyz by status alone and ends the program at a POST to
// /stop. Other methods there are answered as if they had done something.
func (w *wrapper) handler(ready *readiness) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(rw http.ResponseWriter, _ *http.Request) {
		if !ready.ready.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/stop", func(_ http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			w.log.Info("received a request to stop")
			w.stop()
		}
	})
	return mux
}
