// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// exitCodeFile returns the file in which the next start reads how this one ended.
func (w *wrapper) exitCodeFile() string { return filepath.Join(w.folder, "exit_code") }

// obey stops the wrapper at the first signal and the process at the second. The
// signal's name goes to the exit code file; a crash or a request to stop leaves none.
func (w *wrapper) obey(signals <-chan os.Signal, exit func()) {
	sig := <-signals
	if err := os.WriteFile(w.exitCodeFile(), []byte(sig.String()), 0o600); err != nil {
		w.log.Error("the exit code is lost", "err", err)
	}
	w.log.Info("received a signal", "signal", sig)
	w.stop()
	<-signals
	exit()
}

// validationMode returns how thoroughly backup-restore has to check the data: a
// member that was stopped has left it sane.
func (w *wrapper) validationMode() (string, error) {
	// Programs before the exit code file left a marker instead.
	if err := os.Remove(filepath.Join(w.folder, "validation_marker")); err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("remove the old validation marker: %w", err)
	}
	data, err := os.ReadFile(w.exitCodeFile())
	if err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("read the last exit code: %w", err)
	}
	code := string(data)
	if strings.Contains(code, "terminated") || strings.Contains(code, "interrupt") {
		return "sanity", nil
	}
	return "full", nil
}
