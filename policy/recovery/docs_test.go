// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	policytest.Rows(t, nil, recoveryRows, restartRows, recoverRows)
	policytest.Reasons(t, Reasons())
	page := policytest.Page(t)
	for _, r := range rows {
		if want := "| " + r.id + " | `" + r.reason.Name() + "` |"; !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
		if !strings.HasPrefix(r.reason.Doc(), r.id+": ") {
			t.Errorf("%s explains another row than %s: %s", r.reason, r.id, r.reason.Doc())
		}
	}
}
