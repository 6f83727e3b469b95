// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// nextShown is how many commands are shown.
const nextShown = 3

// incomplete matches an instruction that is not only a command, or that lacks a value.
var incomplete = regexp.MustCompile(`, |\b(N|NAME|NAMESPACE|MEMBER|POD|CHART|LEASE|FILE|PARAMETERS|NODE)\b`)

// nextCommands returns the commands to go on with, the most urgent first: those of an
// interrupted operation, the fixes of the findings, and last the check of the cluster.
func nextCommands(f *health.Facts, findings []health.Finding) []string {
	var out []string
	if u := f.UnderWay.Value; u != nil {
		out = append(out, u.Commands...)
	}
	add := func(command string) {
		if strings.HasPrefix(command, "kubectl ") && !incomplete.MatchString(command) && len(out) < nextShown && !covered(out, command) {
			out = append(out, command)
		}
	}
	if f.DataLost() {
		add(f.Command("diagnose")) // it names the least action, and what not to do
	}
	status := f.Command("status")
	for _, finding := range findings {
		if finding.Fix != status {
			add(finding.Fix)
		}
	}
	add(f.Command("check"))
	return out
}

// covered reports whether a command is shown already. A command that describes some pods is
// covered by one that describes these and others.
func covered(shown []string, command string) bool {
	return slices.ContainsFunc(shown, func(s string) bool {
		if s == command || !strings.HasPrefix(s, "kubectl describe ") {
			return s == command
		}
		objects := strings.Fields(s)
		return !slices.ContainsFunc(strings.Fields(command), func(w string) bool { return !slices.Contains(objects, w) })
	})
}
