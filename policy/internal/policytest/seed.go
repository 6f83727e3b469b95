// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policytest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seed returns a source of random numbers and logs its seed. To repeat a failed
// test, set POLICY_SEED to that number.
func Seed(t *testing.T) *rand.Rand {
	t.Helper()
	n := rand.Uint64() //nolint:gosec // random tests, no secrets
	if s := os.Getenv("POLICY_SEED"); s != "" {
		var err error
		if n, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("POLICY_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 1)) //nolint:gosec // random tests, no secrets
}
