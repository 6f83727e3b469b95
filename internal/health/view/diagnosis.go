// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// Diagnosis returns a diagnosis with the commands for this cluster. unread is what could not be read.
func Diagnosis(f *health.Facts, d recovery.Diagnosis, unread []string) *v1alpha1.EtcdDiagnosis {
	out := &v1alpha1.EtcdDiagnosis{
		Cluster: checkedCluster(f), Time: metav1.NewTime(f.At.UTC()), Healthy: d.Healthy(), Unread: unread,
	}
	for _, s := range d.Scenarios {
		one := v1alpha1.DiagnosisScenario{
			ID: s.ID, Reason: s.Reason.Name(), Title: s.Title, Evidence: evidence(s.Evidence), Members: s.Members,
			GracePeriod: s.Grace, Until: v1alpha1.TimeOf(s.Until), Action: action(f, s.Action),
		}
		for _, e := range s.Events {
			one.ByItself = append(one.ByItself, v1alpha1.DiagnosisEvent{Who: e.Who, What: e.What, At: v1alpha1.TimeOf(e.At)})
		}
		out.Scenarios = append(out.Scenarios, one)
	}
	for _, r := range d.Restarts {
		out.Restarts = append(out.Restarts, v1alpha1.MemberRestart{
			Member: r.Member, ID: r.ID, Reason: r.Reason.Name(), Evidence: evidence(r.Evidence), What: r.What, Joins: r.Joins,
		})
	}
	out.Summary, out.Next = out.Scenarios[0].Title, out.Scenarios[0].Action
	return out
}

func action(f *health.Facts, a recovery.Action) v1alpha1.DiagnosisAction {
	why := f.Why(a)
	if u := f.UnderWay.Value; a.Do == recovery.Resume && u != nil && u.Snapshot != "" {
		why += " " + strings.ToUpper(u.Snapshot[:1]) + u.Snapshot[1:] + "."
	}
	return v1alpha1.DiagnosisAction{Do: string(a.Do), Member: a.Member, Why: why, Until: v1alpha1.TimeOf(a.Until), Command: f.Order(a)}
}

func evidence(all []recovery.Evidence) []v1alpha1.DiagnosisEvidence {
	var out []v1alpha1.DiagnosisEvidence
	for _, e := range all {
		out = append(out, v1alpha1.DiagnosisEvidence{Fact: e.Fact, Asked: e.Asked, Observed: e.Observed, Met: e.Met})
	}
	return out
}
