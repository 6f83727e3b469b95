// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"strings"
	"testing"
)

func TestMinority(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pod, groups, unknown, want string
	}{
		{"all the same", "a-0", "a-0 a-1 a-2", "", ""},
		{"the one that differs", "a-2", "a-0 a-1/a-2", "", "a-0 a-1"},
		{"one of the others", "a-1", "a-0 a-1/a-2", "", ""},
		{"named first", "a-0", "a-0/a-1 a-2", "", "a-1 a-2"},
		{"no majority", "a-1", "a-0/a-1/a-2", "", ""},
		{"one against one", "a-1", "a-0/a-1", "", ""},
		{"half of four", "a-0", "a-0 a-1/a-2/a-3", "", ""},
		{"half of four, the other side", "a-3", "a-0 a-1/a-2/a-3", "", ""},
		{"one not seen", "a-2", "a-0 a-1/a-2", "a-3: needs root", ""},
		{"no voter asked", "a-0", "", "", ""},
	} {
		data := Comparison{Unknown: c.unknown}
		for group := range strings.SplitSeq(c.groups, "/") {
			if group != "" {
				data.Groups = append(data.Groups, strings.Fields(group))
			}
		}
		if got := strings.Join(data.Minority(c.pod), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
