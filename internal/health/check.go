// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package health judges an etcd cluster: it derives findings from facts. The judge is a
// list of checks, each a value with an ID that never changes and a pure function of the
// facts. Every threshold stands in one of them, with its source. The commands check,
// status and list show what this package finds and judge nothing themselves.
//
// Package gather reads the facts, and package view builds what status and list print
// from them and the findings. This package reads nothing and changes nothing.
package health

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Level is how bad a finding is.
type Level string

// The levels, from the best to the worst.
const (
	// NotApplicable means that the cluster has nothing that the check judges.
	NotApplicable Level = "NotApplicable"
	OK            Level = "OK"
	// Info is worth knowing and needs no action.
	Info Level = "Info"
	// Unknown means that a permission or an answer is missing. It counts as a warning
	// and is always shown.
	Unknown Level = "Unknown"
	// Warning becomes damage with one more event.
	Warning Level = "Warning"
	// Failure is damage, or becomes damage by itself.
	Failure Level = "Failure"
)

var levels = []Level{NotApplicable, OK, Info, Unknown, Warning, Failure}

// Worse reports whether a level is worse than another.
func (l Level) Worse(than Level) bool {
	return slices.Index(levels, l) > slices.Index(levels, than)
}

// Finding is one thing that a check found.
type Finding struct {
	Level Level
	// Message names the objects and the numbers. Where Member is set, it begins with
	// that name and a colon.
	Message string
	// Fix is the command that repairs it or, where there is no such command, what to
	// change. Empty means that no action is needed. Only a command that is complete begins with the name of a
	// program. In a text, a command follows a colon, a condition (once …,), or then, and ends with the text or its
	// step (, then). One within a sentence is in parentheses, or between with, once or which and a comma.
	Fix string
	// Reason is why status shows the finding. The zero Reason means that of the check, see
	// StatusFindings.
	Reason policy.Reason
	// Member is the pod or member that the finding is about, empty for the cluster.
	Member string

	// cause is why an unknown finding is unknown, nil where no call failed.
	cause error
	// repeated is true where another check reports the same cause.
	repeated bool
}

// Category is the topic of a group of checks. --only and --skip accept it.
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

// Check judges one property of a cluster.
type Check struct {
	// ID is the letter of the category and three digits. An ID never changes its
	// meaning, and the ID of a removed check is not used again.
	ID       string
	Category Category
	// Title is the statement that is true of a healthy cluster.
	Title string
	// Doc explains in one paragraph why it matters, and Cure what to do.
	// docs/reference/checks.md and "kubectl etcd explain ID" print both.
	Doc, Cure string

	// needs are the costly facts that the check judges.
	needs Need
	run   func(*Facts) []Finding
	// eachPart is true where the check judges the template or the settings of a StatefulSet, so that it runs for each
	// one of a cluster that spans several.
	eachPart bool
}

// Need is a set of facts that are gathered only for checks that judge them.
type Need uint

// The facts that cost a call of their own.
const (
	NeedMembers   Need = 1 << iota // the members' own answers
	NeedMetrics                    // the members' metrics
	NeedHashes                     // the hash of each voter's data
	NeedClocks                     // the members' clocks
	NeedSecrets                    // the certificates in the members' Secrets
	NeedRenewal                    // the same, but only where a serving certificate expires soon
	NeedVolumes                    // how full the volumes are, from the kubelets
	NeedClaims                     // the volume claims
	NeedEndpoints                  // the EndpointSlices
	NeedWebhook                    // whether etcd-webhook is installed
)

// Needs returns the facts that any of the checks needs.
func Needs(checks []Check) Need {
	var all Need
	for _, c := range checks {
		all |= c.needs
	}
	return all
}

// All returns every check, in the order in which they run and are reported.
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

// about returns a finding about one member.
func about(level Level, member, fix, format string, args ...any) Finding {
	return Finding{Level: level, Member: member, Message: member + ": " + sprintf(format, args), Fix: fix}
}

func notApplicable(format string, args ...any) []Finding {
	return []Finding{{Level: NotApplicable, Message: sprintf(format, args)}}
}

// Result is what one check found.
type Result struct {
	Check Check
	// Level is the worst level of the findings.
	Level    Level
	Findings []Finding
}

// Selection selects checks by IDs and categories, in any case. The zero value selects all.
type Selection struct {
	Only, Skip []string
}

// Checks returns the selected checks. It fails on a name that is neither a check nor a
// category, and where no check is left.
func (s Selection) Checks() ([]Check, error) {
	all := All()
	for _, name := range slices.Concat(s.Only, s.Skip) {
		if !slices.ContainsFunc(all, func(c Check) bool { return c.called(name) }) {
			return nil, fmt.Errorf("%q is neither a check nor a category; categories are %s", name, policy.List(categories(all)))
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

// Run runs the checks on the facts of one cluster.
func Run(checks []Check, f *Facts) []Result {
	results := make([]Result, 0, len(checks))
	for _, c := range checks {
		r := Result{Check: c, Level: OK, Findings: c.findings(f)}
		for i, finding := range r.Findings {
			if i == 0 || finding.Level.Worse(r.Level) {
				r.Level = finding.Level
			}
		}
		results = append(results, r)
	}
	return results
}

// Worst returns the worst level of the results, OK for none.
func Worst(results []Result) Level {
	worst := OK
	for _, r := range results {
		if r.Level.Worse(worst) {
			worst = r.Level
		}
	}
	return worst
}

//go:generate env UPDATE=1 go test -count=1 -run ^TestReference$ .

// referenceHead is the text above the list.
//
//go:embed reference.md
var referenceHead string

// Reference is docs/reference/checks.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	var category Category
	for _, c := range All() {
		if c.Category != category {
			category = c.Category
			fmt.Fprintf(&b, "\n## %s\n", category)
		}
		fmt.Fprintf(&b, "\n### %s: %s\n\n%s\n\n%s\n", c.ID, c.Title, paragraph(c.Doc), paragraph("**Cure:** "+c.Cure))
	}
	return b.String()
}

// paragraph breaks a text into lines of 88 columns, as the other pages have.
func paragraph(text string) string { return strings.Join(format.Wrap(text, 88), "\n") }
