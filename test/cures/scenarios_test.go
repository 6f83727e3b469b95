// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cures

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// rowID begins the text of the reason of a row.
var rowID = regexp.MustCompile(`^([SXI]-\d+): `)

// TestScenarios checks that a test on a cluster makes the state of each row of the recovery rules, and has diagnose show
// it.
func TestScenarios(t *testing.T) {
	t.Parallel()
	bodies, made := e2eFunctions(t), Scenarios()
	rows := 0
	for _, r := range recovery.Reasons() {
		found := rowID.FindStringSubmatch(r.Doc())
		if found == nil {
			continue // a verdict of recover, which the tests of that command make
		}
		rows++
		name, is := made[found[1]]
		if Unmade()[found[1]] != "" && !is {
			continue
		}
		if body := bodies[name]; !is || !strings.Contains(body, `"`+found[1]+`"`) || !strings.Contains(body, "diagnose") {
			t.Errorf("%s (%s): no function of package e2e makes it, or %q doesn't diagnose it", found[1], r.Name(), name)
		}
		delete(made, found[1])
	}
	for id := range made {
		t.Errorf("there is no row %s", id)
	}
	if rows < 40 {
		t.Errorf("%d rows only", rows)
	}
}
