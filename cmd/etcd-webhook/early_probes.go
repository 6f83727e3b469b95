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

// withEarlyProbes answers the probes while wait runs, before there is a manager: the program
// is alive and not ready. Without that the kubelet would kill a program that waits for the
// API server, and restart it with longer and longer waits.
func withEarlyProbes[T any](ctx context.Context, address string, wait func() (T, error)) (T, error) {
	var none T
	if address == "" || address == "0" {
		return wait() // as for the manager, this means no probes
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
		return none, fmt.Errorf("stop the early probes: %w", closed)
	}
	return got, err
}
