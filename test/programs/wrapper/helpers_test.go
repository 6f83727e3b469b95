// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"testing"
)

// connect returns the wrapper's client for its backup-restore.
func connect(t *testing.T, w *wrapper) *backupRestore {
	t.Helper()
	br, err := newBackupRestore(w.options)
	if err != nil {
		t.Fatal(err)
	}
	return br
}

// write makes a file that everybody may read.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkFile compares a file's content and permissions.
func checkFile(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != content {
		t.Errorf("%s holds %q, want %q", path, data, content)
	}
	checkMode(t, path, mode)
}

// checkMode compares a file's permissions.
func checkMode(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != mode {
		t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), mode)
	}
}

// countLogs returns a logger that calls each for every record.
func countLogs(each func()) *slog.Logger { return slog.New(logCounter(each)) }

// logCounter is a log handler that writes nothing.
type logCounter func()

func (logCounter) Enabled(context.Context, slog.Level) bool { return true }
func (c logCounter) Handle(context.Context, slog.Record) error {
	c()
	return nil
}
func (c logCounter) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c logCounter) WithGroup(string) slog.Handler      { return c }
