// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

const (
	readInterval = 2 * time.Second
	readTimeout  = 5 * time.Second
)

// readiness knows whether the last linearizable read has succeeded: a member
// without a quorum is not ready.
type readiness struct {
	client *clientv3.Client
	ready  atomic.Bool
}

// newReadiness returns a readiness that connects on its first read.
func newReadiness(ctx context.Context, o options, cfg *embed.Config) (*readiness, error) {
	scheme := "http"
	var tlsConfig *tls.Config
	if servesTLS(cfg) {
		scheme = "https"
		var err error
		if tlsConfig, err = clientTLS(o, cfg); err != nil {
			return nil, fmt.Errorf("make the client for etcd: %w", err)
		}
	}
	client, err := clientv3.New(clientv3.Config{
		Context:   ctx,
		Endpoints: []string{fmt.Sprintf("%s://%s:%d", scheme, o.etcdName, o.etcdPort)},
		TLS:       tlsConfig,
	})
	if err != nil {
		return nil, fmt.Errorf("make the client for etcd: %w", err)
	}
	return &readiness{client: client}, nil
}

// clientTLS returns how this program proves itself to the member.
func clientTLS(o options, cfg *embed.Config) (*tls.Config, error) {
	pool, err := certPool(cfg.ClientTLSInfo.TrustedCAFile)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: pool, ServerName: o.etcdName, MinVersion: tls.VersionTLS12}
	if o.etcdCert != "" && o.etcdKey != "" {
		cert, err := tls.LoadX509KeyPair(o.etcdCert, o.etcdKey)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}

// watch reads again and again until ctx is done, after which nothing is ready.
func (r *readiness) watch(ctx context.Context, log *slog.Logger) {
	defer r.ready.Store(false)
	ticker := time.NewTicker(readInterval)
	defer ticker.Stop()
	for {
		err := r.read(ctx)
		if was := r.ready.Swap(err == nil); was != (err == nil) {
			log.Info("readiness changed", "ready", err == nil, "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// read makes one linearizable read.
func (r *readiness) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	_, err := r.client.Get(ctx, "foo")
	return err
}

// close drops the connection.
func (r *readiness) close() { _ = r.client.Close() }
