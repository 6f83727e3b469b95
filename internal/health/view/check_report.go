// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// CheckReport returns the report of a cluster from the results of its checks.
func CheckReport(f *health.Facts, results []health.Result) v1alpha1.CheckReport {
	r := v1alpha1.CheckReport{
		Cluster: checkedCluster(f), Time: metav1.NewTime(f.At.UTC()), Result: string(health.Worst(results)),
	}
	for _, result := range results {
		one := v1alpha1.CheckResult{
			ID: result.Check.ID, Category: string(result.Check.Category), Title: result.Check.Title, Result: string(result.Level),
		}
		for _, finding := range result.Findings {
			if finding.Level != health.OK || finding.Message != "" {
				one.Findings = append(one.Findings, v1alpha1.CheckFinding{Level: string(finding.Level), Message: finding.Message, Fix: finding.Fix})
			}
		}
		r.Checks = append(r.Checks, one)
		count(&r.Summary, result.Level)
	}
	return r
}

func checkedCluster(f *health.Facts) v1alpha1.CheckedCluster {
	return v1alpha1.CheckedCluster{
		Namespace: f.Owner.Namespace, Kind: f.Owner.Kind, Name: f.Owner.Name, Target: f.Owner.Target().String(),
		Distribution: string(f.Owner.Distribution), Replicas: int32(min(f.Size(), math.MaxInt32)), //nolint:gosec // limited to what fits
	}
}

func count(s *v1alpha1.CheckSummary, level health.Level) {
	switch level {
	case health.OK:
		s.OK++
	case health.Info:
		s.Info++
	case health.Unknown:
		s.Unknown++
	case health.Warning:
		s.Warning++
	case health.Failure:
		s.Failure++
	case health.NotApplicable:
		s.NotApplicable++
	}
}

// CheckFailures returns a text for each report that is no success: a check failed, it isn't known whether the
// cluster has its quorum, or no check had a result. In the last case a report without a failure shows nothing.
// unread is why clusters may be missing among the reports, nil if none can be. It has a text, too.
func CheckFailures(reports []v1alpha1.CheckReport, unread error) []string {
	var failed []string
	if unread != nil {
		failed = append(failed, "clusters may be missing: "+unread.Error())
	}
	for _, r := range reports {
		if r.Summary.Failure > 0 {
			failed = append(failed, fmt.Sprintf("%s in %s fails %s", r.Cluster.Target, r.Cluster.Namespace, policy.Plural(r.Summary.Failure, "check", "checks")))
		} else if why, unknown := nothingKnown(&r); unknown {
			failed = append(failed, fmt.Sprintf("%s in %s could not be judged, %s: %s",
				r.Cluster.Target, r.Cluster.Namespace, policy.Plural(r.Summary.Unknown, "check is unknown", "checks are unknown"), why))
		}
	}
	return failed
}

// nothingKnown returns why the check of the quorum came to nothing, or why every selected check that
// applies did. It returns false for any other report.
func nothingKnown(r *v1alpha1.CheckReport) (why string, unknown bool) {
	all := r.Summary.Unknown > 0 && r.Summary.Unknown+r.Summary.NotApplicable == len(r.Checks)
	for _, c := range r.Checks {
		if (all || c.ID == health.QuorumCheck) && c.Result == string(health.Unknown) && len(c.Findings) > 0 {
			return c.Findings[0].Message, true
		}
	}
	return "", all
}
