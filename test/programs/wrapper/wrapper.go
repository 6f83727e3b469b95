// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// wrapper runs one etcd member.
type wrapper struct {
	options
	folder     string             // what backup-restore and this program share
	configFile string             // where the configuration that was fetched is put
	pause      time.Duration      // between tries
	stop       context.CancelFunc // ends run
	log        *slog.Logger
}

// run prepares the data, starts etcd and returns when etcd has ended, whatever
// ended it. It returns an error only where etcd never ran.
func (w *wrapper) run(ctx context.Context) error {
	br, err := newBackupRestore(w.options)
	if err != nil {
		return err
	}
	if err := w.initialize(ctx, br); err != nil {
		return fmt.Errorf("initialize the data of etcd: %w", err)
	}
	cfg, err := w.fetchConfig(ctx, br)
	if err != nil {
		return fmt.Errorf("fetch the configuration of etcd: %w", err)
	}
	ready, err := newReadiness(ctx, w.options, cfg)
	if err != nil {
		return err
	}
	defer ready.close()
	go ready.watch(ctx, w.log)
	server, err := w.serve(ctx, ready, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	etcd, err := w.startEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer etcd.Close()
	w.waitReady(ctx, etcd)
	if err := os.Remove(w.exitCodeFile()); err != nil && !os.IsNotExist(err) {
		w.log.Warn("the last exit code stays", "err", err)
	}
	w.waitEnd(ctx, etcd)
	return nil
}

// waitReady waits for the configured time. A member that isn't ready by then
// may still become so.
func (w *wrapper) waitReady(ctx context.Context, etcd *embed.Etcd) {
	if w.readyTimeout == 0 {
		return
	}
	timeout := time.NewTimer(w.readyTimeout)
	defer timeout.Stop()
	select {
	case <-etcd.Server.ReadyNotify():
		w.log.Info("etcd is ready")
	case <-etcd.Server.StopNotify():
		w.log.Error("etcd stopped before it was ready")
	case <-timeout.C:
		w.log.Error("etcd is not ready yet", "after", w.readyTimeout)
	case <-ctx.Done():
	}
}

// waitEnd returns when etcd has to be closed.
func (w *wrapper) waitEnd(ctx context.Context, etcd *embed.Etcd) {
	select {
	case <-ctx.Done():
		w.log.Info("stop requested")
	case <-etcd.Server.StopNotify():
		w.log.Error("etcd stopped")
	case err := <-etcd.Err():
		w.log.Error("etcd ended", "err", err)
	}
}

// sleep waits between two tries.
func (w *wrapper) sleep(ctx context.Context) error {
	timer := time.NewTimer(w.pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
