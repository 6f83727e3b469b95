// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
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
