// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drains

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/faults"
)

// firstSeed is the seed of the sequence that every change has to pass. A member is frozen before and
// during a rollout, members are evicted beside a frozen and beside an isolated one, and the budget
// and the replicas are written.
const firstSeed = 338

// TestFaults plays random sequences of faults, each on a cluster of its own. FAULTS is how many,
// one by default. SEED is the seed of the first. Without SEED, the only sequence has a fixed seed,
// and several have random ones. KIND is what they are played on. Without KIND, the only sequence is played on
// a plain cluster, and several on all kinds in turn.
func TestFaults(t *testing.T) {
	count := number(t, "FAULTS", 1)
	seed := uint64(firstSeed)
	if count > 1 {
		seed = rand.Uint64N(1 << 32)
	}
	seed = number(t, "SEED", seed)
	t.Logf("%d sequences, the first with SEED=%d", count, seed)
	next := rand.New(rand.NewPCG(seed, 2))
	for i := range count {
		kind := kindOf(t, count, i)
		t.Run(fmt.Sprintf("SEED=%d,KIND=%s", seed, kind), func(t *testing.T) {
			if kind == faults.Druid {
				if err := clusters.InstallDruid(t.Context(), bed, clusters.DruidOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			s := faults.Generate(kind, seed, faults.Length)
			t.Log(s)
			if err := faults.Run(t.Context(), bed, kube, s, func(line string) { t.Log(line) }); err != nil {
				t.Errorf("%v", err)
			}
		})
		seed = next.Uint64N(1 << 32)
	}
}

// kindOf returns the kind of cluster of one of count sequences.
func kindOf(t *testing.T, count, i uint64) faults.Kind {
	t.Helper()
	all := faults.Kinds()
	kind := faults.Kind(os.Getenv("KIND"))
	switch {
	case slices.Contains(all, kind):
		return kind
	case kind != "":
		t.Fatalf("KIND is %q; there are %q", kind, all)
	case count == 1:
		return faults.Plain
	}
	return all[i%uint64(len(all))]
}

// number returns the number in an environment variable.
func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
