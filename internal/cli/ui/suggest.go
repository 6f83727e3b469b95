// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// UnknownCommand returns an error with similar commands.
func UnknownCommand(cmd *cobra.Command, name string) error {
	names := cmd.SuggestionsFor(name)
	var all []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, c.Name())
		}
	}
	if len(names) == 0 {
		names = Nearest(name, all)
	}
	return fmt.Errorf("unknown command %q for %q%s; see %s --help", name, cmd.CommandPath(), DidYouMean(names), cmd.CommandPath())
}

// DidYouMean returns a question with the suggested names, to be appended to an error.
func DidYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(names, " or ") + "?"
}

// Nearest returns up to three names that are similar to the given one.
func Nearest(name string, names []string) []string {
	name = strings.ToLower(name)
	limit := 1
	if len(name) > 3 {
		limit = max(2, len(name)/3) // two exchanged letters are two changes
	}
	type scored struct {
		name     string
		distance int
	}
	var near []scored
	for _, n := range names {
		d := distance(name, strings.ToLower(n))
		if strings.HasPrefix(strings.ToLower(n), name) {
			d = 0
		}
		if d <= limit {
			near = append(near, scored{n, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, s := range near[:min(len(near), 3)] {
		out = append(out, s.name)
	}
	return out
}

// distance returns the Levenshtein distance of two texts.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
