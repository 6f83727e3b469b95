// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// backupRestore is the program in the container beside this one.
type backupRestore struct {
	base   string
	client *http.Client
}

// newBackupRestore returns the client; it connects to nothing yet.
func newBackupRestore(o options) (*backupRestore, error) {
	br := &backupRestore{base: "http://" + o.backupRestore, client: &http.Client{Timeout: time.Minute}}
	if !o.backupRestoreTLS {
		return br, nil
	}
	pool, err := certPool(o.backupRestoreCA)
	if err != nil {
		return nil, fmt.Errorf("trust backup-restore: %w", err)
	}
	br.base = "https://" + o.backupRestore
	br.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	return br, nil
}

// get returns the body of one answer.
func (b *backupRestore) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", path, err)
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
		return body, nil
	}
	return nil, fmt.Errorf("answer to %s: %s: %s", path, resp.Status, strings.TrimSpace(string(body)))
}

// certPool reads a file of CA certificates.
func certPool(path string) (*x509.CertPool, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the path is a flag's
	if err != nil {
		return nil, fmt.Errorf("read CA certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("no certificate in %s", path)
	}
	return pool, nil
}
