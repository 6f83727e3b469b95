// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"slices"
	"strings"
)

// The API server's counters of webhook calls, and of failed calls that were ignored.
const (
	Calls      = "apiserver_admission_webhook_admission_duration_seconds_count"
	FailedOpen = "apiserver_admission_webhook_fail_open_count"
)

// Counts returns the values of one of these counters for etcd-webhook, with one line for each
// webhook. A caller can compare it with a later result.
func Counts(ctx context.Context, tb Testbed, counter string) (string, error) {
	k, err := connect(tb)
	if err != nil {
		return "", err
	}
	metrics, err := k.kubectl(ctx, nil, "get", "--raw", "/metrics")
	if err != nil {
		return "", err
	}
	var lines []string
	for line := range strings.Lines(string(metrics)) {
		if strings.HasPrefix(line, counter+"{") && strings.Contains(line, ".etcd-webhook.kubectl-etcd.dev") {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, ""), nil
}
