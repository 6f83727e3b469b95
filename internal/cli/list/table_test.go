// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/gather"
)

// TestUnseen checks that missing permissions are not shown as problems of a cluster.
func TestUnseen(t *testing.T) {
	t.Parallel()
	item := func(distribution flavour.Name) v1alpha1.EtcdCluster {
		return v1alpha1.EtcdCluster{
			ClusterIdentity: v1alpha1.ClusterIdentity{Namespace: "team", Name: "main", Distribution: string(distribution)},
			Members:         v1alpha1.MemberCount{Desired: 3},
			Quorum:          v1alpha1.Quorum{Voters: 3, Needed: 2, Slack: -2},
			Backup:          v1alpha1.Backup{Status: "True"},
			Traffic:         v1alpha1.Traffic{State: v1alpha1.TrafficNone},
		}
	}
	for _, row := range []struct {
		name         string
		distribution flavour.Name
		unseen       string
		want         string
	}{
		{"all permissions", flavour.Druid, "", "0/3,no quorum,,never,"},
		{"druid without leases", flavour.Druid, "leases.coordination.k8s.io", "?/3,?,,?,"},
		{"another without leases", flavour.Plain, "leases.coordination.k8s.io", "0/3,no quorum,,?,"},
		{"no pods", flavour.Plain, "pods", "?/3,?,,never,"},
		{"no services", flavour.Druid, "services", "0/3,no quorum,,never,?"},
	} {
		found := &v1alpha1.EtcdClusterList{Items: []v1alpha1.EtcdCluster{item(row.distribution)}}
		if row.unseen != "" {
			found.Unseen = []v1alpha1.Unseen{{What: row.unseen}}
		}
		if row.unseen == "services" {
			f := health.Facts{Services: health.Got[[]corev1.Service]{Err: errors.New("forbidden")}}
			found.Items[0].Traffic = f.Traffic()
		}
		var got []string
		for _, c := range Table(found, false, noon).Rows[0][2:7] {
			got = append(got, c.Text)
		}
		if strings.Join(got, ",") != row.want {
			t.Errorf("%s: %q, want %s", row.name, got, row.want)
		}
	}
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestReportUnseen holds that list doesn't succeed where clusters may be missing, and prints how to see them.
func TestReportUnseen(t *testing.T) {
	t.Parallel()
	unread := v1alpha1.Unseen{What: gather.UnreadWorkloads, Why: "it is not known whether StatefulSet m runs etcd"}
	for _, row := range []struct {
		name            string
		unseen          []v1alpha1.Unseen
		want            string
		unhealthy, warn bool
	}{
		{"nothing", nil, "", false, false},
		{"no zones", []v1alpha1.Unseen{{What: "nodes", Why: "forbidden"}}, "", false, true},
		{"no pods", []v1alpha1.Unseen{{What: "pods", Why: "forbidden"}}, "you may not list pods", false, false},
		{"scripts that are not read", []v1alpha1.Unseen{unread}, unread.Why, true, false},
		{"both", []v1alpha1.Unseen{unread, {What: "pods"}}, "you may not list pods", false, true},
	} {
		streams, _, _, stderr := genericiooptions.NewTestIOStreams()
		err := reportUnseen(app.New(streams), row.unseen, "")
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
		if app.Is[*app.UnhealthyError](err) != row.unhealthy || (stderr.Len() > 0) != row.warn {
			t.Errorf("%s: %T, %q", row.name, err, stderr)
		}
	}
}

// TestSlackCell: voters that may run elsewhere are not down.
func TestSlackCell(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		q    v1alpha1.Quorum
		want string
	}{
		{v1alpha1.Quorum{}, ""},
		{v1alpha1.Quorum{Voters: 5, Slack: -1}, "no quorum"},
		{v1alpha1.Quorum{Voters: 5, Slack: -1, Unknown: 3}, "?"},
		{v1alpha1.Quorum{Voters: 5, Slack: 0, Unknown: 2}, "?"},
		{v1alpha1.Quorum{Voters: 5, Slack: 0}, "0"},
		{v1alpha1.Quorum{Voters: 5, Slack: 1, Unknown: 1}, "1"},
	} {
		if got := slackCell(&v1alpha1.EtcdCluster{Quorum: row.q}).Text; got != row.want {
			t.Errorf("%+v: %q, want %q", row.q, got, row.want)
		}
	}
}
