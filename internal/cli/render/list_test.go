// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// TestListUnseen checks that missing permissions are not shown as problems of a cluster.
func TestListUnseen(t *testing.T) {
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
		for _, c := range listTable(found, false, noon).Rows[0][2:7] {
			got = append(got, c.Text)
		}
		if strings.Join(got, ",") != row.want {
			t.Errorf("%s: %q, want %s", row.name, got, row.want)
		}
	}
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

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

// TestListNotes: what is not in the list is a message, and is no line of the list.
func TestListNotes(t *testing.T) {
	t.Parallel()
	one := []v1alpha1.EtcdCluster{{ClusterIdentity: v1alpha1.ClusterIdentity{Namespace: "team", Name: "main"}}}
	for _, row := range []struct {
		name   string
		found  v1alpha1.EtcdClusterList
		search Search
		want   string
	}{
		{"a cluster", v1alpha1.EtcdClusterList{Items: one}, Search{}, ""},
		{"a cluster, and what may be one", v1alpha1.EtcdClusterList{Items: one}, Search{Unlisted: 1}, "1 workload may run etcd: --all shows it.\n"},
		{"none", v1alpha1.EtcdClusterList{}, Search{Namespace: "team", Selector: "a=b"}, "No etcd clusters found in namespace team with labels a=b.\n"},
		{"none, and what may be one", v1alpha1.EtcdClusterList{}, Search{Unlisted: 2}, "No etcd clusters found in any namespace. 2 workloads may run etcd: --all shows them.\n"},
		{"none, because of a missing permission", v1alpha1.EtcdClusterList{Unseen: []v1alpha1.Unseen{{What: "pods"}}}, Search{Unlisted: 2}, ""},
	} {
		streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
		if err := List(ui.NewConsole(streams), &row.found, row.search, noon)(stdout, false); err != nil {
			t.Fatal(err)
		}
		if stderr.String() != row.want || (stdout.Len() > 0) != (len(row.found.Items) > 0) {
			t.Errorf("%s: %q and %q, want %q", row.name, stdout, stderr, row.want)
		}
	}
}
