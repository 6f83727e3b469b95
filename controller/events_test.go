// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncate(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"a", "é", "語", "😀"} {
		for skew := range 4 {
			long := strings.Repeat("x", skew) + strings.Repeat(word, 2*maxMessage)
			got := truncate(long)
			if len(got) > maxMessage || len(got) < maxMessage-3 || !utf8.ValidString(got) || !strings.HasSuffix(got, "...") {
				t.Errorf("%q after %d bytes is truncated to %d bytes that end in %q", word, skew, len(got), got[len(got)-8:])
			}
		}
		if short := strings.Repeat(word, maxMessage/len(word)); truncate(short) != short {
			t.Errorf("%d bytes are truncated", len(short))
		}
	}
}
