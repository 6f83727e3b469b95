// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net"
	"net/http"
	"testing"
)

// TestEarlyProbes checks that a program that waits is alive and not ready, and that the port is
// free afterwards.
func TestEarlyProbes(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if _, err := withEarlyProbes(t.Context(), address, func() (int, error) { return 0, nil }); err == nil {
		t.Error("a port in use is no error")
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	for _, want := range []error{nil, refused} {
		got, err := withEarlyProbes(t.Context(), address, func() (string, error) {
			for path, code := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
				if now := status(t, "http://"+address+path); now != code {
					t.Errorf("%s answers %d, want %d", path, now, code)
				}
			}
			return "me", want
		})
		if got != "me" || !errors.Is(err, want) {
			t.Errorf("%q, %v", got, err)
		}
	}
	if listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", address); err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
}

func status(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}
