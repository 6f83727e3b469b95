// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func statusSummary(p *ui.Page, st *v1alpha1.EtcdClusterStatus) {
	p.Section("Cluster", ui.NoColor, clusterText(st.Cluster))
	p.Section("Health", ui.HealthColors[st.Health], statusHealth(st))
	p.Section("Quorum", ui.NoColor, quorumText(st))
	p.Section("etcd", ui.NoColor, etcdText(st))
	p.Section("Traffic", ui.NoColor, trafficText(st.Traffic, p.Now))
	p.Section("Operation", ui.Yellow, st.Operation)
	p.Section("Operation", ui.Yellow, view.UnderWayText(st.UnderWay, p.Now))
}

func clusterText(c v1alpha1.ClusterIdentity) string {
	text := fmt.Sprintf("%s %s/%s (%s", c.Kind, c.Namespace, c.Name, c.Distribution)
	if c.Controller != "" {
		text += ", of " + c.Controller
	}
	return text + ")"
}

func statusHealth(st *v1alpha1.EtcdClusterStatus) string {
	if st.Health == v1alpha1.Hibernated {
		return "hibernated: 0 members are requested"
	}
	if len(view.MissingEvidence(st.Unseen, st.Cluster.Distribution)) > 0 {
		return fmt.Sprintf("%s, %d members are requested", strings.ToLower(st.Health), st.Replicas.Desired)
	}
	return fmt.Sprintf("%s, %d of %d members ready", strings.ToLower(st.Health), st.Replicas.Ready, st.Replicas.Desired)
}

func quorumText(st *v1alpha1.EtcdClusterStatus) string {
	q := st.Quorum
	if q.Voters == 0 {
		return ""
	}
	if !view.Answered(st) && len(view.MissingEvidence(st.Unseen, st.Cluster.Distribution)) > 0 {
		return fmt.Sprintf("%d of %d voters needed, the number of healthy voters is unknown", q.Needed, q.Voters)
	}
	if !view.Answered(st) && st.Health == v1alpha1.Unknown { // a pod can be Ready while its etcd hangs
		return fmt.Sprintf("%d of %d voters Ready in Kubernetes, %d needed: no member answered, so it is not known how many are healthy", q.Healthy, q.Voters, q.Needed)
	}
	text := fmt.Sprintf("%d of %d voters healthy, %d needed: ", q.Healthy, q.Voters, q.Needed)
	switch {
	case q.Slack <= 0 && q.Unknown > 0:
		text += "it is not known how many more may fail, because " + policy.Plural(q.Unknown, "voter", "voters") + " may run elsewhere"
	case q.Slack < 0 && st.Leader != "":
		text += "too few answer here, but they follow a leader"
	case q.Slack < 0:
		text += "the quorum is lost"
	case q.Slack == 0:
		text += "no further member may fail"
	default:
		text += fmt.Sprintf("%d more may fail", q.Slack)
	}
	if !view.Answered(st) {
		text += " (from Kubernetes objects)"
	}
	return text
}

func etcdText(st *v1alpha1.EtcdClusterStatus) string {
	if st.ClusterID == "" {
		return ""
	}
	return fmt.Sprintf("leader %s, term %d, revision %d, cluster ID %s", cmp.Or(st.Leader, "none"), st.RaftTerm, st.Revision, st.ClusterID)
}

func trafficText(t v1alpha1.Traffic, now time.Time) string {
	switch t.State {
	case v1alpha1.TrafficCut:
		end := ""
		if t.Until != nil && t.Until.Unix() != 0 {
			end = ", until " + format.Time(t.Until.Time)
		}
		return fmt.Sprintf("%s%s (Service %s)", cutText(t, now), end, strings.Join(t.Services, ", "))
	case v1alpha1.TrafficOpen:
		return "open (Service " + strings.Join(t.Services, ", ") + ")"
	case v1alpha1.TrafficUnknown:
		return "unknown: you may not list services"
	}
	return "there is no Service for clients"
}
