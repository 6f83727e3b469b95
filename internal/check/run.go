// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"
)

// Result is what one check came to.
type Result struct {
	Check Check
	// Level is that of the worst finding.
	Level    Level
	Findings []Finding
}

// Selection says which checks run. Its entries are IDs or categories, in any
// case. The zero value selects all.
type Selection struct {
	Only, Skip []string
}

// Checks are those that a selection selects. It fails on a name that is
// neither a check nor a category, and where nothing is left.
func (s Selection) Checks() ([]Check, error) {
	all := All()
	for _, name := range slices.Concat(s.Only, s.Skip) {
		if !slices.ContainsFunc(all, func(c Check) bool { return c.called(name) }) {
			return nil, fmt.Errorf("%q is neither a check nor a category; categories are %s", name, list(categories(all)))
		}
	}
	chosen := slices.DeleteFunc(all, func(c Check) bool {
		return len(s.Only) > 0 && !slices.ContainsFunc(s.Only, c.called) || slices.ContainsFunc(s.Skip, c.called)
	})
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--only %s --skip %s leave no check to run", strings.Join(s.Only, ","), strings.Join(s.Skip, ","))
	}
	return chosen, nil
}

func (c Check) called(name string) bool {
	return strings.EqualFold(name, c.ID) || strings.EqualFold(name, string(c.Category))
}

func categories(all []Check) []string {
	var names []string
	for _, c := range all {
		if !slices.Contains(names, string(c.Category)) {
			names = append(names, string(c.Category))
		}
	}
	return names
}

// Run runs checks on the facts of one cluster.
func Run(checks []Check, f *Facts) []Result {
	results := make([]Result, 0, len(checks))
	for _, c := range checks {
		r := Result{Check: c, Level: OK, Findings: c.run(f)}
		for i, finding := range r.Findings {
			if i == 0 || finding.Level.Worse(r.Level) {
				r.Level = finding.Level
			}
		}
		results = append(results, r)
	}
	return results
}

// Worst is the worst level among results, OK for none.
func Worst(results []Result) Level {
	worst := OK
	for _, r := range results {
		if r.Level.Worse(worst) {
			worst = r.Level
		}
	}
	return worst
}
