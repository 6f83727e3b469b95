// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
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

// TestWrapAnything: whatever a text has, a warning is short, has no control character, and cuts no character.
func TestWrapAnything(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("x", 115) + strings.Repeat("ä", 40),
		"a name with\x1b[31m colour\nand a line, \u009b2J",
		"kubectl etcd scale " + strings.Repeat("statefulset/main ", 26),
		"kubectl delete pod main-2 -n team; then " + strings.Repeat("wait until it is ready ", 20),
		"kubectl\u00a0" + strings.Repeat("\xff", 300),
	} {
		for _, line := range wrap(text) {
			long := len(line) > maxWarning && (!strings.Contains(line, command) || len(line) > maxCommand)
			if long || strings.ContainsFunc(line, unicode.IsControl) || !utf8.ValidString(line) {
				t.Errorf("%q: %q", text, line)
			}
		}
	}
}
