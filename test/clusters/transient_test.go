// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apiserver"
)

// TestPersistently checks that a request that reached no server is sent again with its body. A
// request that a server may have received is only sent again if this is harmless. A response is
// never repeated.
func TestPersistently(t *testing.T) {
	t.Parallel()
	refused, lost := errors.New("dial tcp: connect: connection refused"), errors.New("http2: client connection lost")
	for _, row := range []struct {
		name, method string
		fails        error
		sent         int
	}{
		{"a write that was not received", http.MethodPost, refused, 3},
		{"a write that may have been received", http.MethodPost, lost, 1},
		{"a patch that may have been received", http.MethodPatch, lost, 3},
		{"something else is wrong", http.MethodGet, errors.New("unsupported protocol scheme"), 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				through := Persistently(apiserver.RoundTripper(func(r *http.Request) (*http.Response, error) {
					sent++
					if body, err := io.ReadAll(r.Body); err != nil || string(body) != "body" {
						t.Errorf("sending %d has the body %q: %v", sent, body, err)
					}
					if sent < 3 {
						return nil, row.fails
					}
					return &http.Response{StatusCode: http.StatusInternalServerError, Body: http.NoBody}, nil
				}))
				request, err := http.NewRequestWithContext(t.Context(), row.method, "https://a", strings.NewReader("body"))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := through.RoundTrip(request)
				if err == nil {
					_ = answer.Body.Close()
				}
				if sent != row.sent || (err == nil) != (row.sent == 3) {
					t.Errorf("sent %d times, want %d: %v", sent, row.sent, err)
				}
			})
		})
	}
}
