// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// now is the moment at which tests decode.
var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func TestBudgetRecordSurvivesItsAnnotations(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	at := func() time.Time {
		if rnd.IntN(3) == 0 {
			return time.Time{}
		}
		return now.Add(-time.Duration(rnd.IntN(100000)) * time.Second)
	}
	for range 1000 {
		want := BudgetRecord{
			For: "Etcd/main", Made: "shoot/main-quorum", Reason: "AllReady", ReleaseSince: at(), Size: LargestSize{N: 5 + rnd.IntN(5), Read: "3 at noon", Pending: rnd.IntN(2) == 0, From: rnd.IntN(5)},
			State: budget.State{LooserSince: at(), HoldSince: at(), BackupTrueSince: at(), BackupUnknownSince: at(), StaleSince: at()},
		}
		if rnd.IntN(2) == 0 {
			want.Original = &BudgetValue{Field: MaxUnavailable, N: rnd.IntN(9)}
			want.Value = &BudgetValue{Field: MinAvailable, N: rnd.IntN(9)}
		}
		if diff := cmp.Diff(want, DecodeBudgetRecord(want.Encode(), now)); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
}

func TestDecodeBudgetRecordOfNonsense(t *testing.T) {
	t.Parallel()
	got := DecodeBudgetRecord(map[string]string{
		v1alpha1.BudgetValueAnnotation:           "minAvailable=-3",
		v1alpha1.BudgetOriginalAnnotation:        "minAvailable=150%",
		v1alpha1.BudgetLooserSinceAnnotation:     "yesterday",
		v1alpha1.BudgetHoldSinceAnnotation:       "2999-01-01T00:00:00Z",
		v1alpha1.BudgetBackupTrueSinceAnnotation: "",
	}, now)
	want := BudgetRecord{State: budget.State{HoldSince: now}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func FuzzDecodeBudgetRecord(f *testing.F) {
	f.Add("minAvailable=3", "minAvailable=2", "2026-11-20T09:00:00Z")
	f.Add("", "maxUnavailable=", "2026-11-20T09:00:00+14:00")
	f.Add("maxUnavailable=99999999999999999999", "=", "0001-01-01T00:00:00Z")
	f.Fuzz(func(t *testing.T, value, original, at string) {
		r := DecodeBudgetRecord(map[string]string{
			v1alpha1.BudgetValueAnnotation:     value,
			v1alpha1.BudgetOriginalAnnotation:  original,
			v1alpha1.BudgetHoldSinceAnnotation: at,
		}, now)
		if r.State.HoldSince.After(now) || (r.Original != nil && r.Original.N < 0) {
			t.Errorf("%q, %q, %q gave %+v", value, original, at, r)
		}
		if again := DecodeBudgetRecord(r.Encode(), now); !cmp.Equal(again.Value, r.Value) || !again.State.HoldSince.Equal(r.State.HoldSince.Truncate(time.Second)) {
			t.Errorf("%+v became %+v", r, again)
		}
	})
}
