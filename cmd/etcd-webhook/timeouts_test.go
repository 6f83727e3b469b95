// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var timeouts = regexp.MustCompile(`(?m)^  timeoutSeconds: (\d)$`)

// TestTimeoutsAreTold holds that whoever reads of slow answers is told how long the API
// server waits, as the manifests have it.
func TestTimeoutsAreTold(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var all []string
	for _, m := range timeouts.FindAllStringSubmatch(read("manifests/base/webhooks.yaml"), -1) {
		all = append(all, m[1])
	}
	if len(all) < 5 {
		t.Fatalf("only %d webhooks have a timeout", len(all))
	}
	want := fmt.Sprintf("%s to %s seconds, by resource", slices.Min(all), slices.Max(all))
	for _, path := range []string{"docs/reference/metrics.md", "manifests/monitoring/rules.yaml", "manifests/monitoring/dashboard.json"} {
		if !strings.Contains(read(path), want) {
			t.Errorf("%s doesn't say %q", path, want)
		}
	}
}
