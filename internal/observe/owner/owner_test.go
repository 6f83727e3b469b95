// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// TestEveryProductIsDocumented holds that docs/clusters.md describes each product.
func TestEveryProductIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range flavour.All() {
		if !strings.Contains(string(page), "`"+string(d.Name)+"`") {
			t.Errorf("docs/clusters.md does not describe %s: add a row with its name in backquotes", d.Name)
		}
	}
}
