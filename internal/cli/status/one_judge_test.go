// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
)

// TestOneJudge gives the same facts to status and check: status shows each failure and warning that its checks find
// and no other one, and its health agrees with the result of check.
func TestOneJudge(t *testing.T) {
	t.Parallel()
	for name, change := range statusCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := threeMembers("etcd-main", "zone-")
			change(&f)
			st := view.StatusOf(&f)
			if st.Health == v1alpha1.Hibernated {
				return // there is nothing to judge
			}
			found := map[string]bool{}
			for _, finding := range health.StatusFindings(&f) {
				if finding.Level != health.Unknown {
					found[string(finding.Level)+" "+finding.Reason.Name()] = true
				}
			}
			shown := map[string]bool{}
			for _, p := range st.Problems {
				level := map[string]health.Level{v1alpha1.SeverityError: health.Failure, v1alpha1.SeverityWarning: health.Warning}[p.Severity]
				if key := string(level) + " " + p.Reason; found[key] || !unknownReason(&f, p.Reason) {
					shown[key] = true
				}
			}
			if diff := cmp.Diff(found, shown); diff != "" {
				t.Errorf("the checks find (-), status shows (+):\n%s", diff)
			}
			levels(t, &f, st)
			counts(t, &f, st)
		})
	}
}

// unknownReason reports whether a finding with this reason is unknown, which status shows as
// a warning.
func unknownReason(f *health.Facts, reason string) bool {
	return slices.ContainsFunc(health.StatusFindings(f), func(o health.Finding) bool { return o.Reason.Name() == reason && o.Level == health.Unknown })
}

// levels compares the health that status shows with the result of check, by all checks whose
// facts status gathers.
func levels(t *testing.T, f *health.Facts, st *v1alpha1.EtcdClusterStatus) {
	t.Helper()
	gathered := health.Needs(health.StatusChecks())
	var same []health.Check
	for _, c := range health.All() {
		if health.Needs([]health.Check{c})&^gathered == 0 {
			same = append(same, c)
		}
	}
	failed := st.Health == v1alpha1.Down || st.Health == v1alpha1.Degraded
	for what, results := range map[string][]health.Result{"its checks": health.Run(health.StatusChecks(), f), "check": health.Run(same, f)} {
		if worst := health.Worst(results); (worst == health.Failure) != failed {
			t.Errorf("status is %s, the worst result of %s %s", st.Health, what, worst)
		}
	}
}

// counts compares how many members are healthy for status where no member answers, and for list. TestOneCount compares
// them with the metrics.
func counts(t *testing.T, f *health.Facts, st *v1alpha1.EtcdClusterStatus) {
	t.Helper()
	list := (&health.Facts{Owner: f.Owner, Cluster: f.Cluster}).Quorum()
	if !view.Answered(st) && (st.Quorum.Healthy != list.Healthy || st.Quorum.Voters != list.Voters) {
		t.Errorf("status counts %d of %d, list %d of %d", st.Quorum.Healthy, st.Quorum.Voters, list.Healthy, list.Voters)
	}
}
