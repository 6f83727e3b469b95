// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// answering has the probes answered while something is waited for that comes before the
// manager: alive, and not ready. Else the kubelet would end a program that waits for the
// API server, and start it again ever more slowly.
func answering[T any](ctx context.Context, address string, wait func() (T, error)) (T, error) {
	var none T
	if address == "" || address == "0" {
		return wait() // there are no probes, as the manager takes it
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return none, fmt.Errorf("listen for probes: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the API server has not answered yet", http.StatusServiceUnavailable)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	got, err := wait()
	if closed := server.Close(); err == nil && closed != nil {
		return none, fmt.Errorf("hand the probes over: %w", closed)
	}
	return got, err
}
