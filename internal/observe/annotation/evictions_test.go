// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEvictions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string][]Eviction{
		"":                         nil,
		",=,@,a=@,=u@,a=u,a=u@now": nil,
		"a-0=u@2026-11-20T09:59:55Z,b=v@2026-11-20T09:59:56Z": {{"a-0", "u", now.Add(-5 * time.Second)}, {"b", "v", now.Add(-4 * time.Second)}},
		"a-0=u@2027-11-20T09:59:55Z":                          {{"a-0", "u", now.AddDate(1, 0, 0).Add(-5 * time.Second)}},
		"x,a-0=u@2026-11-20T10:00:00Z":                        {{"a-0", "u", now}},
	} {
		got := ParseEvictions(text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		if again := ParseEvictions(FormatEvictions(got)); !cmp.Equal(got, again) {
			t.Errorf("%q: written and read again: %v", text, again)
		}
	}
	if got := ParseEvictions(strings.Repeat("a=u@2026-11-20T09:59:55Z,", 10_000)); len(got) != mostMembers {
		t.Errorf("%d entries are read", len(got))
	}
}
