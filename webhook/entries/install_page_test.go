// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package entries_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// documented matches a row of the table of requests: the name of a webhook, and its requests.
var documented = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([A-Z, ]+ [a-z/]+) \\|")

// TestInstallPageHasTheRequests compares the table of requests in docs/install.md with the list.
func TestInstallPageHasTheRequests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\nThe API server calls it for these requests.")
	if !found {
		t.Fatal("docs/install.md doesn't introduce the table of requests")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var listed, rows [][2]string
	for _, e := range entries.All() {
		var operations []string
		for _, o := range e.Operations {
			operations = append(operations, string(o))
		}
		listed = append(listed, [2]string{e.Name, strings.Join(operations, ", ") + " " + e.Resource})
	}
	for _, row := range documented.FindAllStringSubmatch(section, -1) {
		rows = append(rows, [2]string{row[1], row[2]})
	}
	if diff := cmp.Diff(listed, rows); diff != "" {
		t.Errorf("the table of requests in docs/install.md differs from Handlers in webhook/entries/entries.go (-list +page): make both the same, in the same order:\n%s", diff)
	}
}
