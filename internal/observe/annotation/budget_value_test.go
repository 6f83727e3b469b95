// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "testing"

func TestBudgetValue(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		in            BudgetValue
		replicas, min int
		newMin        int
		want          BudgetValue
	}{
		{BudgetValue{Field: MinAvailable, N: 2}, 3, 2, 3, BudgetValue{Field: MinAvailable, N: 3}},
		{BudgetValue{Field: MaxUnavailable, N: 1}, 3, 2, 2, BudgetValue{Field: MaxUnavailable, N: 1}},
		{BudgetValue{Field: MaxUnavailable, N: 1}, 5, 4, 3, BudgetValue{Field: MaxUnavailable, N: 2}},
		{BudgetValue{Field: MaxUnavailable, N: 1}, 3, 2, 4, BudgetValue{Field: MaxUnavailable, N: 0}},
		{BudgetValue{MinAvailable, 51, true}, 3, 2, 3, BudgetValue{Field: MinAvailable, N: 3}},
		{BudgetValue{MinAvailable, 51, true}, 5, 3, 3, BudgetValue{Field: MinAvailable, N: 3}},
		{BudgetValue{MaxUnavailable, 34, true}, 3, 1, 2, BudgetValue{Field: MaxUnavailable, N: 1}},
		{BudgetValue{Field: MaxUnavailable, N: 4}, 3, 0, 0, BudgetValue{Field: MaxUnavailable, N: 3}},
	} {
		if got := row.in.Min(row.replicas); got != row.min {
			t.Errorf("%s of %d replicas keeps %d, want %d", row.in, row.replicas, got, row.min)
		}
		if got := row.in.WithMin(row.newMin, row.replicas); got != row.want {
			t.Errorf("%s made to keep %d of %d is %s, want %s", row.in, row.newMin, row.replicas, got, row.want)
		}
	}
}

func FuzzParseBudgetValue(f *testing.F) {
	f.Add("minAvailable=2")
	f.Add("maxUnavailable=0")
	f.Add("minAvailable=-1")
	f.Add("minAvailable=51%")
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := ParseBudgetValue(s)
		if !ok {
			return
		}
		if again, ok := ParseBudgetValue(v.String()); !ok || again != v {
			t.Errorf("%q gave %v, which gives %v, %v", s, v, again, ok)
		}
	})
}
