// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/version"
)

func TestRunExitCodes(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nowhere")
	for _, row := range []struct {
		name string
		args []string
		want int
		text string
	}{
		{"help", []string{"-help"}, 0, "cert-dir"},
		{"an unknown flag", []string{"-color"}, 2, "-color"},
		{"an argument", []string{"start"}, 2, `unexpected argument "start"`},
		{"an unknown level", []string{"-log-level", "loud"}, 2, "loud"},
		{"a certificate that would expire too soon", []string{"-certificate-lifetime", "2m"}, 2, "at least six times"},
		{"no API server", nil, 1, "find the API server"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var stderr bytes.Buffer
			if got := run(t.Context(), row.args, io.Discard, &stderr); got != row.want || !strings.Contains(stderr.String(), row.text) {
				t.Errorf("exit %d, want %d; printed %q, want %q in it", got, row.want, &stderr, row.text)
			}
		})
	}
}

// TestRunVersion checks that -version needs no API server.
func TestRunVersion(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nowhere")
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), []string{"-version"}, &stdout, &stderr); got != 0 || stderr.Len() > 0 {
		t.Errorf("exit %d, printed %q", got, &stderr)
	}
	if want := version.Get().Version + "\n"; stdout.String() != want {
		t.Errorf("printed %q, want %q", &stdout, want)
	}
}

// TestRunStopsWhileItWaits checks that the program stops after a signal while the API server
// doesn't answer.
func TestRunStopsWhileItWaits(t *testing.T) {
	t.Setenv("KUBECONFIG", "testdata/unreachable.kubeconfig")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("signal to stop"))
	defer cancel()
	var stderr bytes.Buffer
	if got := run(ctx, nil, io.Discard, &stderr); got != 1 || !strings.Contains(stderr.String(), "user name") {
		t.Errorf("exit %d, printed %q", got, &stderr)
	}
}

type named func()

func (named) String() string { return "kind source: *v1.Pod" }

func TestLoggerUsesStringMethod(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	newLogger(&out, slog.LevelInfo).Info("starting", "source", named(nil), "after", 5)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line["source"] != "kind source: *v1.Pod" || line["after"] != 5.0 {
		t.Errorf("logged %s", &out)
	}
}
