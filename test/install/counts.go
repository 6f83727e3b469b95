// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"slices"
	"strings"
)

// The API server's counters of webhooks' calls, and of those that failed and were
// ignored.
const (
	Calls      = "apiserver_admission_webhook_admission_duration_seconds_count"
	FailedOpen = "apiserver_admission_webhook_fail_open_count"
)

// Counts returns the values of one of these counters for etcd-webhook, a line for each webhook.
// A later result can be compared with it.
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
