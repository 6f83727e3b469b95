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

// BackupRestore is etcd-backup-restore, druid's sidecar of each member. Whichever
// is asked passes the question on to the one beside etcd's leader, which alone
// takes snapshots. It knows no users: who reaches its port may ask.
//
// Only what is safe is asked. Reading /initialization/status takes an answer away
// from the member that waits for it.
type BackupRestore struct {
	Tunnel *tunnel.Dialer
	// Namespace and Pods are where it runs; they are tried in this order until
	// one answers.
	Namespace string
	Pods      []string
	Port      int
	// TLS is nil where it serves in the clear.
	TLS *tls.Config
}

// StoredSnapshot is an object in a backup store, as backup-restore names it.
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

// BackupTLS is how a server that these authorities signed, PEM, is verified.
func BackupTLS(authorities []byte, serverName string) (*tls.Config, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, errors.New("what should be the authorities of backup-restore's certificate is no PEM")
	}
	return &tls.Config{RootCAs: pool, ServerName: serverName, MinVersion: tls.VersionTLS12}, nil
}

// Full takes a full snapshot into the store and returns what was written. It lasts
// as long as the upload does: the context should not end before.
func (b *BackupRestore) Full(ctx context.Context) (StoredSnapshot, error) {
	var s StoredSnapshot
	err := b.ask(ctx, "/snapshot/full", &s)
	return s, err
}

// Delta writes what has changed since the last snapshot. False where nothing has,
// and nothing was written.
func (b *BackupRestore) Delta(ctx context.Context) (StoredSnapshot, bool, error) {
	var s *StoredSnapshot
	if err := b.ask(ctx, "/snapshot/delta", &s); err != nil || s == nil {
		return StoredSnapshot{}, false, err
	}
	return *s, true, nil
}

// Latest are the last full snapshot in the store and the deltas since, the oldest
// first: what a restore would read. None where the store is empty.
func (b *BackupRestore) Latest(ctx context.Context) ([]StoredSnapshot, error) {
	var answer struct {
		Full   *StoredSnapshot  `json:"fullSnapshot"`
		Deltas []StoredSnapshot `json:"deltaSnapshots"`
	}
	if err := b.ask(ctx, "/snapshot/latest", &answer); err != nil || answer.Full == nil {
		return answer.Deltas, err
	}
	return append([]StoredSnapshot{*answer.Full}, answer.Deltas...), nil
}

// ask asks one after the other until one answers, whatever it says.
func (b *BackupRestore) ask(ctx context.Context, path string, into any) error {
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
			err = answered(response.StatusCode, body, into)
		}
		if err != nil {
			return fmt.Errorf("backup-restore in %s: %w", pod, err)
		}
		return nil
	}
	if len(errs) == 0 {
		return errors.New("no member's pod is there to ask its backup-restore")
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
		return nil, &messageError{cmp.Or(words(Endpoint{Port: b.Port, TLS: b.TLS}, err), err.Error()), err}
	}
	return response, nil
}

// answered reads an answer. backup-restore says no more than a status; why is in
// its log.
func answered(code int, body []byte, into any) error {
	switch code {
	case http.StatusOK:
		if err := json.Unmarshal(body, into); err != nil {
			return fmt.Errorf("its answer is not what was expected: %w", err)
		}
		return nil
	case http.StatusMethodNotAllowed:
		return errors.New("it takes no snapshots now: it has no store, or knows no healthy leader")
	}
	text := strings.TrimSpace(string(body))
	if text == "" {
		text = http.StatusText(code)
	}
	return fmt.Errorf("it answers %d %.200s: the log of container backup-restore says why", code, text)
}
