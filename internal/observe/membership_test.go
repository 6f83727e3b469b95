// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"os"
	"strings"
	"testing"
)

// TestEveryDistributionIsDocumented: who sees a FLAVOUR finds what works on it.
func TestEveryDistributionIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	for d := range memberships {
		if !strings.Contains(string(page), "`"+string(d)+"`") {
			t.Errorf("docs/clusters.md says nothing of %s", d)
		}
	}
}
