// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "testing"

func TestLargestSize(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before LargestSize
		text   string
		seen   int
		want   LargestSize
	}{
		{"nothing known", LargestSize{}, "", 3, LargestSize{N: 3}},
		{"grows", LargestSize{N: 3}, "", 5, LargestSize{N: 5}},
		{"fewer are seen", LargestSize{N: 5}, "", 3, LargestSize{N: 5}},
		{"the owner's annotation", LargestSize{N: 5}, "3", 3, LargestSize{3, "3"}},
		{"the same again", LargestSize{5, "3"}, "3", 3, LargestSize{5, "3"}},
		{"the same at another time", LargestSize{5, "3"}, "3 at noon", 3, LargestSize{3, "3 at noon"}},
		{"removed", LargestSize{5, "3"}, "", 3, LargestSize{N: 5}},
		{"less than is seen", LargestSize{N: 5}, "1", 3, LargestSize{3, "1"}},
		{"more than is seen", LargestSize{N: 3}, "5", 3, LargestSize{5, "5"}},
		{"nonsense", LargestSize{N: 5}, "three", 3, LargestSize{N: 5}},
		{"none", LargestSize{N: 5}, "0", 3, LargestSize{N: 5}},
		{"too many", LargestSize{N: 5}, "1000000", 3, LargestSize{N: 5}},
	} {
		if got := row.before.Next(row.text, row.seen); got != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}
