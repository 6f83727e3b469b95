// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
)

// Sidecars is a client of etcd-backup-restore, druid's sidecar of each member. Each
// sidecar forwards requests to the one beside etcd's leader, which alone takes snapshots. It
// has no authentication: every client that reaches its port can use it.
//
// The client sends only safe requests. A request for /initialization/status, for example,
// would consume an answer that the member waits for.
type Sidecars struct {
	Tunnel *tunnel.Dialer
	// Namespace and Pods are where it runs. The pods are tried in this order until one
	// answers.
	Namespace string
	Pods      []string
	Port      int
	// TLS is nil if it serves without TLS.
	TLS *tls.Config
}

// StoredSnapshot is an object in a backup store, as backup-restore describes it.
type StoredSnapshot struct {
	// Kind is Full or Incr.
	Kind          string    `json:"kind"`
	Dir           string    `json:"snapDir"`
	Name          string    `json:"snapName"`
	Prefix        string    `json:"prefix"`
	StartRevision int64     `json:"startRevision"`
	LastRevision  int64     `json:"lastRevision"`
	CreatedOn     time.Time `json:"createdOn"`
	Final         bool      `json:"isFinal"`
}

// sidecarTLS returns the configuration that verifies a server certificate by authorities in
// PEM.
func sidecarTLS(authorities []byte, serverName string) (*tls.Config, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, errors.New("the authorities of backup-restore's certificate are not PEM")
	}
	return &tls.Config{RootCAs: pool, ServerName: serverName, MinVersion: tls.VersionTLS12}, nil
}

// Full takes a full snapshot into the store and returns what was written. The call takes as
// long as the upload, so ctx must not end earlier.
func (c *Sidecars) Full(ctx context.Context) (StoredSnapshot, error) {
	var s StoredSnapshot
	err := c.request(ctx, "/snapshot/full", &s)
	return s, err
}

// Delta writes the changes since the last snapshot. It returns false if there are none and
// nothing was written.
func (c *Sidecars) Delta(ctx context.Context) (StoredSnapshot, bool, error) {
	var s *StoredSnapshot
	if err := c.request(ctx, "/snapshot/delta", &s); err != nil || s == nil {
		return StoredSnapshot{}, false, err
	}
	return *s, true, nil
}

// Latest returns what a restore would read: the last full snapshot in the store and the
// deltas since then, the oldest first. It returns none if the store is empty.
func (c *Sidecars) Latest(ctx context.Context) ([]StoredSnapshot, error) {
	var answer struct {
		Full   *StoredSnapshot  `json:"fullSnapshot"`
		Deltas []StoredSnapshot `json:"deltaSnapshots"`
	}
	if err := c.request(ctx, "/snapshot/latest", &answer); err != nil || answer.Full == nil {
		return answer.Deltas, err
	}
	return append([]StoredSnapshot{*answer.Full}, answer.Deltas...), nil
}

// request sends a request to one pod after the other until one answers, even if the answer
// is an error.
func (c *Sidecars) request(ctx context.Context, path string, into any) error {
	var errs []error
	for _, pod := range c.Pods {
		response, err := c.get(ctx, pod, path)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			errs = append(errs, fmt.Errorf("backup-restore in %s: %w", pod, err))
			continue
		}
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
		if err == nil {
			err = parseAnswer(response.StatusCode, body, into)
		}
		if err != nil {
			return fmt.Errorf("backup-restore in %s: %w", pod, err)
		}
		return nil
	}
	if len(errs) == 0 {
		return errors.New("no pod of a member runs, so no backup-restore can be reached")
	}
	return errors.Join(errs...)
}

func (c *Sidecars) get(ctx context.Context, pod, path string) (*http.Response, error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return c.Tunnel.Dial(ctx, c.Namespace, pod, c.Port)
		},
		TLSClientConfig:   c.TLS,
		DisableKeepAlives: true,
	}
	scheme, host := "http", fmt.Sprintf("%s:%d", pod, c.Port)
	if c.TLS != nil {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+host+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, &requestError{etcd.Reason(etcd.Explain(access.Endpoint{Port: c.Port, TLS: c.TLS}, err)), err}
	}
	return response, nil
}

// requestError is the error of a request with a message for users.
type requestError struct {
	message string
	err     error
}

func (e *requestError) Error() string { return e.message }
func (e *requestError) Unwrap() error { return e.err }

// parseAnswer parses an answer. An error has only a status; its reason is in the log of
// backup-restore.
func parseAnswer(code int, body []byte, into any) error {
	switch code {
	case http.StatusOK:
		if err := json.Unmarshal(body, into); err != nil {
			return fmt.Errorf("parse its answer: %w", err)
		}
		return nil
	case http.StatusMethodNotAllowed:
		return errors.New("it can't take snapshots now: it has no store, or no healthy leader")
	}
	text := strings.TrimSpace(string(body))
	if text == "" {
		text = http.StatusText(code)
	}
	return fmt.Errorf("it answers %d %.200s: the log of container backup-restore has the reason", code, text)
}
