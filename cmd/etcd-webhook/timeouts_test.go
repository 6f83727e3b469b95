// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// TestTimeoutsAreDocumented holds that pages and panels about slow answers have the time
// that the API server waits.
func TestTimeoutsAreDocumented(t *testing.T) {
	t.Parallel()
	var all []time.Duration
	for _, h := range entries.Handlers {
		all = append(all, h.Timeout)
	}
	want := fmt.Sprintf("%.0f to %.0f seconds, by resource", slices.Min(all).Seconds(), slices.Max(all).Seconds())
	for _, path := range []string{"docs/reference/metrics.md", "manifests/monitoring/rules.yaml", "manifests/monitoring/dashboard.json"} {
		text, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s doesn't have %q", path, want)
		}
	}
}
