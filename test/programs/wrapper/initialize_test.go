// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	askStatus   = "GET /initialization/status"
	startFull   = "GET /initialization/start?mode=full"
	startSanity = "GET /initialization/start?mode=sanity"
	askConfig   = "GET /config"
)

func TestInitialize(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		statuses []string
		exitCode string
		want     []string
	}{
		"done already":         {[]string{"Successful"}, "", []string{askStatus}},
		"new":                  {[]string{"New", "Progress", "Successful"}, "", []string{askStatus, startFull, askStatus, askStatus}},
		"after a termination":  {[]string{"New", "Successful"}, "terminated", []string{askStatus, startSanity, askStatus}},
		"after an interrupt":   {[]string{"New", "Successful"}, "interrupt", []string{askStatus, startSanity, askStatus}},
		"after anything else":  {[]string{"New", "Successful"}, "killed", []string{askStatus, startFull, askStatus}},
		"an error is no end":   {[]string{"!not yet", "New", "Successful"}, "", []string{askStatus, askStatus, startFull, askStatus}},
		"a failure is retried": {[]string{"New", "Failed", "New", "Successful"}, "", []string{askStatus, startFull, askStatus, askStatus, startFull, askStatus}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startBackupRestore(t, row.statuses, nil)
			w, ctx := newTestWrapper(t, fake)
			if row.exitCode != "" {
				write(t, w.exitCodeFile(), row.exitCode)
			}
			if err := w.initialize(ctx, connect(t, w)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, fake.requests()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInitializeRemovesTheOldMarker(t *testing.T) {
	t.Parallel()
	fake := startBackupRestore(t, []string{"New", "Successful"}, nil)
	w, ctx := newTestWrapper(t, fake)
	marker := filepath.Join(w.folder, "validation_marker")
	write(t, marker, "")
	if err := w.initialize(ctx, connect(t, w)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(marker); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the marker is still there: %v", err)
	}
}

func TestInitializeWaitsForBackupRestore(t *testing.T) {
	t.Parallel()
	fake := startBackupRestore(t, []string{"Successful"}, nil)
	w, ctx := newTestWrapper(t, fake)
	br := connect(t, w)
	fake.Close() // no one answers any more
	w.pause = 0
	ctx, cancel := context.WithCancelCause(ctx)
	tries := 0
	w.log = countLogs(func() {
		if tries++; tries == 10 {
			cancel(errors.New("ten tries are proof enough"))
		}
	})
	if err := w.initialize(ctx, br); !errors.Is(err, context.Canceled) {
		t.Errorf("initialize gave up with %v", err)
	}
}

func TestFetchConfig(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		configs []string
		tries   int
		fails   bool
	}{
		"at once":      {[]string{"name: main-0\n"}, 1, false},
		"the fifth":    {[]string{"!", "!", "!", "!", "name: main-0\n"}, 5, false},
		"never":        {[]string{"!"}, 5, true},
		"not readable": {[]string{"name: [\n"}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startBackupRestore(t, nil, row.configs)
			w, ctx := newTestWrapper(t, fake)
			cfg, err := w.fetchConfig(ctx, connect(t, w))
			if (err != nil) != row.fails {
				t.Fatalf("error %v, want one: %t", err, row.fails)
			}
			if got := len(fake.requests()); got != row.tries {
				t.Errorf("%d tries, want %d", got, row.tries)
			}
			if row.fails {
				return
			}
			if cfg.Name != "main-0" {
				t.Errorf("etcd's name is %q", cfg.Name)
			}
			checkFile(t, w.configFile, "name: main-0\n", 0o600)
		})
	}
}
