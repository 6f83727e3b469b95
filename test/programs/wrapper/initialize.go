// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"
)

// initialize has backup-restore check or restore the data and returns when it
// has succeeded. It never gives up: backup-restore may start later than this
// program, and after a failure it answers New again and is asked once more.
func (w *wrapper) initialize(ctx context.Context, br *backupRestore) error {
	for done := false; !done; {
		body, err := br.get(ctx, "/initialization/status")
		status := strings.TrimSpace(string(body))
		if err != nil {
			status = "Unknown"
		}
		w.log.Info("initialization of the data", "status", status, "err", err)
		switch status {
		case "New":
			if err := w.trigger(ctx, br); err != nil {
				return err
			}
		case "Successful":
			// backup-restore reports it only once.
			done = true
		}
		if err := w.sleep(ctx); err != nil {
			return err
		}
	}
	return nil
}

// trigger asks for an initialization. Whether it began shows in the status.
func (w *wrapper) trigger(ctx context.Context, br *backupRestore) error {
	mode, err := w.validationMode()
	if err != nil {
		return err
	}
	_, err = br.get(ctx, "/initialization/start?mode="+mode)
	w.log.Info("asked for an initialization", "mode", mode, "err", err)
	return nil
}

// configTries is how often the configuration is asked for before giving up.
const configTries = 5

// fetchConfig gets etcd's configuration, which is complete for this member, puts
// it into a file and has etcd read that.
func (w *wrapper) fetchConfig(ctx context.Context, br *backupRestore) (*embed.Config, error) {
	var data []byte
	var err error
	for try := 1; ; try++ {
		if data, err = br.get(ctx, "/config"); err == nil {
			break
		}
		w.log.Warn("no configuration", "try", try, "err", err)
		if try == configTries {
			return nil, err
		}
		if err := w.sleep(ctx); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(w.configFile, data, 0o600); err != nil {
		return nil, err
	}
	cfg, err := embed.ConfigFromFile(w.configFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Base(w.configFile), err)
	}
	return cfg, nil
}
