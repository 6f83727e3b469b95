// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package check holds what kubectl etcd check looks at: a list of checks, each
// a value with an ID that never changes, and the facts that they judge. A check
// is a pure function of the facts; Gather asks Kubernetes and the members for
// them, once per cluster. It changes nothing. The plugin calls it.
package check

import "slices"

// Level is how bad a finding is.
type Level string

// The levels, from the best to the worst. Unknown is what could not be looked
// at, for want of a permission or of an answer: it counts as a warning, and it
// is never silent.
const (
	// NotApplicable is for a check that has nothing to look at in this cluster.
	NotApplicable Level = "NotApplicable"
	OK            Level = "OK"
	// Info is worth knowing and asks for nothing.
	Info Level = "Info"
	// Unknown could not be looked at.
	Unknown Level = "Unknown"
	// Warning is what one more event turns into damage.
	Warning Level = "Warning"
	// Failure is damage, or what becomes damage by itself.
	Failure Level = "Failure"
)

var levels = []Level{NotApplicable, OK, Info, Unknown, Warning, Failure}

// Worse says whether a level is worse than another.
func (l Level) Worse(than Level) bool {
	return slices.Index(levels, l) > slices.Index(levels, than)
}

// Finding is one thing that a check found.
type Finding struct {
	Level Level
	// Message has the objects and the numbers.
	Message string
	// Fix is the command that mends it, or, where there is none, what to change.
	// Empty where nothing is to be done.
	Fix string
}

// Category is what a group of checks is about, as --only and --skip take it.
type Category string

// The categories, in the order in which they are reported.
const (
	Quorum       Category = "quorum"
	Members      Category = "members"
	Data         Category = "data"
	Versions     Category = "versions"
	Certificates Category = "certificates"
	Placement    Category = "placement"
	Budgets      Category = "budgets"
	Workload     Category = "workload"
	Backups      Category = "backups"
	Operator     Category = "operator"
	Traffic      Category = "traffic"
	Guard        Category = "guard"
)

// Check is one thing to look at.
type Check struct {
	// ID is a letter of its category and three digits. It never changes its
	// meaning, and the ID of a check that goes is not given again.
	ID       string
	Category Category
	// Title says what holds where all is well.
	Title string
	// Doc says why it matters, in one paragraph; Cure what to do. Both are
	// what docs/reference/checks.md and "kubectl etcd explain ID" say.
	Doc, Cure string

	// needs are the facts that are asked for only if a check wants them.
	needs need
	run   func(*Facts) []Finding
}

// need is a set of facts that take their time to gather.
type need uint

const (
	needMembers need = 1 << iota // the members' own answers
	needMetrics
	needHashes
	needClocks
	needSecrets
	needVolumes
	needGuard
)

// All is every check, in the order in which they run and are reported.
func All() []Check {
	return slices.Concat(
		quorumChecks(), memberChecks(), dataChecks(), versionChecks(), certificateChecks(), placementChecks(),
		budgetChecks(), workloadChecks(), backupChecks(), operatorChecks(), trafficChecks(), guardChecks(),
	)
}

func ok(format string, args ...any) []Finding {
	return []Finding{{Level: OK, Message: sprintf(format, args)}}
}

func info(fix, format string, args ...any) Finding {
	return Finding{Level: Info, Message: sprintf(format, args), Fix: fix}
}

func warning(fix, format string, args ...any) Finding {
	return Finding{Level: Warning, Message: sprintf(format, args), Fix: fix}
}

func failure(fix, format string, args ...any) Finding {
	return Finding{Level: Failure, Message: sprintf(format, args), Fix: fix}
}

func notApplicable(format string, args ...any) []Finding {
	return []Finding{{Level: NotApplicable, Message: sprintf(format, args)}}
}
