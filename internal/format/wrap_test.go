// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

func TestTruncate(t *testing.T) {
	t.Parallel()
	const limit = 1024
	for _, word := range []string{"a", "é", "語", "😀"} {
		for skew := range 4 {
			long := strings.Repeat("x", skew) + strings.Repeat(word, 2*limit)
			got := format.Truncate(long, limit)
			if len(got) > limit || len(got) < limit-3 || !utf8.ValidString(got) || !strings.HasSuffix(got, "...") {
				t.Errorf("%q after %d bytes is truncated to %d bytes that end in %q", word, skew, len(got), got[len(got)-8:])
			}
		}
		if short := strings.Repeat(word, limit/len(word)); format.Truncate(short, limit) != short {
			t.Errorf("%d bytes are truncated", len(short))
		}
	}
}
