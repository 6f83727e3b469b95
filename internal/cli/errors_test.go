// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
)

// TestOutcome checks the exit codes of docs/exit-codes.md.
func TestOutcome(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	over, cancel := app.Within(t.Context(), time.Nanosecond, "wait for member etcd-3 to catch up")
	defer cancel()
	<-over.Done()
	for _, row := range []struct {
		name string
		err  error
		code int
		text string
	}{
		{"done", nil, 0, ""},
		{"any error", errors.New("no such member"), 1, "error: no such member\n"},
		{"refused by the API server", fmt.Errorf("list pods: %w", forbidden), 1, "error: list pods: pods is forbidden: no\n"},
		{"refused by a rule", fmt.Errorf("scale: %w", app.Refused("%d of 3", 1)), 2, "refused: scale: 1 of 3\n"},
		{"locked by another", &lock.HeldError{Cluster: "Etcd a/b", Lease: "a/l", Holder: lock.Holder{Identity: "ann"}}, 2, "refused: Etcd a/b is locked by ann. This process renews its lock: wait until it ends (lease a/l)\n"},
		{"split brain", &etcd.SplitBrainError{Pods: map[uint64][]string{1: {"a-0"}, 2: {"a-1"}}}, 2, "refused: split brain: the members belong to 2 etcd clusters: a-0 in cluster 0000000000000001; a-1 in cluster 0000000000000002\n"},
		{"unhealthy", app.Unhealthy("2 checks fail"), 3, "unhealthy: 2 checks fail\n"},
		{"done, and not cleaned up, which a scheduled job does not repeat", app.Incomplete("old ones stay"), schedule.StoredExitCode, "incomplete: old ones stay\n"},
		{"the deadline of --timeout", context.Cause(over), 124, "timed out: wait for member etcd-3 to catch up: not done within the --timeout of 1ns\n"},
		{"a wait of client-go that would end too late", fmt.Errorf("list pods: client rate limiter Wait returned an error: %w", tooLate(t)), 124, "timed out: list pods: client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline\n"},
		{"the API server's deadline", fmt.Errorf("ask: %w", apierrors.NewTimeoutError("no response in the time allotted", 0)), 124, "timed out: ask: Timeout: no response in the time allotted\n"},
		{"the user's own command", fmt.Errorf("run: %w", app.CommandError{Code: 7}), 7, ""},
		{"a program that a step runs", fmt.Errorf("run etcdutl: %w", exec.Command("sh", "-c", "exit 2").Run()), 1, "error: run etcdutl: exit status 2\n"},
		{"another deadline", fmt.Errorf("read: %w", context.DeadlineExceeded), 124, "timed out: read: context deadline exceeded\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			a := app.New(genericiooptions.IOStreams{ErrOut: &out})
			if code := report(t.Context(), a, row.err); code != row.code || out.String() != row.text {
				t.Errorf("code %d, %q; want %d, %q", code, out.String(), row.code, row.text)
			}
		})
	}
}

// tooLate returns the error of client-go's rate limiter for a wait past the deadline.
func tooLate(t *testing.T) error {
	t.Helper()
	slow := flowcontrol.NewTokenBucketRateLimiter(0.001, 1)
	slow.Accept()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return slow.Wait(ctx)
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut bytes.Buffer
	args := []string{"list", "--server", "http://127.0.0.1:1"}
	if code := Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}); code != 130 || !strings.HasPrefix(errOut.String(), "interrupted: ") {
		t.Errorf("code %d, %q; want 130, interrupted", code, errOut.String())
	}
}
