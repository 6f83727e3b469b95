// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policytest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// seed is random and printed, so that a failure can be seen again with
// POLICY_SEED.
func Seed(t *testing.T) *rand.Rand {
	t.Helper()
	n := rand.Uint64()
	if s := os.Getenv("POLICY_SEED"); s != "" {
		var err error
		if n, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("POLICY_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 1))
}

// inDocs fails unless a page of docs/rules has exactly these lines in this order.
func InDocs(t *testing.T, page string, lines []string) {
	t.Helper()
	if want := strings.Join(lines, "\n") + "\n"; !strings.Contains(Page(t, page), want) {
		t.Errorf("%s should have these lines:\n%s", page, want)
	}
}

func RowID(row string) string { id, _, _ := strings.Cut(row, " "); return id }

func Page(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/rules/" + page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
