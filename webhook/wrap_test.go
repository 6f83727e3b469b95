// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"
	"strings"
	"testing"
)

// TestWrapKeepsCommands: a command in a warning stays in one line.
func TestWrapKeepsCommands(t *testing.T) {
	t.Parallel()
	const scale = "kubectl etcd scale statefulset/main --replicas 5 -n team-with-a-name-that-is-long --context production"
	for _, text := range []string{
		"etcd doesn't know new members before they are added to it; " + scale,
		"first make them ready (" + scale + ") and then go on with the members that are left in the list of etcd",
		scale,
	} {
		lines := wrap(text)
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, scale) }) {
			t.Errorf("%q", lines)
		}
	}
}
