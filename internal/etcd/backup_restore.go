// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
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

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
)

// BackupRestore is a client of etcd-backup-restore, druid's sidecar of each member. Each
// sidecar forwards requests to the one beside etcd's leader, which alone takes snapshots. It
// has no authentication: every client that reaches its port can use it.
//
// The client sends only safe requests. A request for /initialization/status, for example,
// would consume an answer that the member waits for.
type BackupRestore struct {
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

// BackupTLS returns the configuration that verifies a server certificate by authorities in
// PEM.
func BackupTLS(authorities []byte, serverName string) (*tls.Config, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, errors.New("the authorities of backup-restore's certificate are not PEM")
	}
	return &tls.Config{RootCAs: pool, ServerName: serverName, MinVersion: tls.VersionTLS12}, nil
}

// Full takes a full snapshot into the store and returns what was written. The call takes as
// long as the upload, so ctx must not end earlier.
func (b *BackupRestore) Full(ctx context.Context) (StoredSnapshot, error) {
	var s StoredSnapshot
	err := b.request(ctx, "/snapshot/full", &s)
	return s, err
}

// Delta writes the changes since the last snapshot. It returns false if there are none and
// nothing was written.
func (b *BackupRestore) Delta(ctx context.Context) (StoredSnapshot, bool, error) {
	var s *StoredSnapshot
	if err := b.request(ctx, "/snapshot/delta", &s); err != nil || s == nil {
		return StoredSnapshot{}, false, err
	}
	return *s, true, nil
}

// Latest returns what a restore would read: the last full snapshot in the store and the
// deltas since then, the oldest first. It returns none if the store is empty.
func (b *BackupRestore) Latest(ctx context.Context) ([]StoredSnapshot, error) {
	var answer struct {
		Full   *StoredSnapshot  `json:"fullSnapshot"`
		Deltas []StoredSnapshot `json:"deltaSnapshots"`
	}
	if err := b.request(ctx, "/snapshot/latest", &answer); err != nil || answer.Full == nil {
		return answer.Deltas, err
	}
	return append([]StoredSnapshot{*answer.Full}, answer.Deltas...), nil
}

// request sends a request to one pod after the other until one answers, even if the answer
// is an error.
func (b *BackupRestore) request(ctx context.Context, path string, into any) error {
	var errs []error
	for _, pod := range b.Pods {
		response, err := b.get(ctx, pod, path)
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
		return errors.New("no pod of a member runs, so that no backup-restore can be reached")
	}
	return errors.Join(errs...)
}

func (b *BackupRestore) get(ctx context.Context, pod, path string) (*http.Response, error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return b.Tunnel.Dial(ctx, b.Namespace, pod, b.Port)
		},
		TLSClientConfig:   b.TLS,
		DisableKeepAlives: true,
	}
	scheme, host := "http", fmt.Sprintf("%s:%d", pod, b.Port)
	if b.TLS != nil {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+host+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, &messageError{cmp.Or(describe(Endpoint{Port: b.Port, TLS: b.TLS}, err), err.Error()), err}
	}
	return response, nil
}

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
