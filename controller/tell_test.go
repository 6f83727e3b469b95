// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"a", "é", "語", "😀"} {
		for skew := range 4 {
			long := strings.Repeat("x", skew) + strings.Repeat(word, 2*maxNote)
			got := cut(long)
			if len(got) > maxNote || len(got) < maxNote-3 || !utf8.ValidString(got) || !strings.HasSuffix(got, "...") {
				t.Errorf("%q after %d bytes is cut to %d bytes that end in %q", word, skew, len(got), got[len(got)-8:])
			}
		}
		if short := strings.Repeat(word, maxNote/len(word)); cut(short) != short {
			t.Errorf("%d bytes are cut", len(short))
		}
	}
}
