// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// TestNarrow checks that tables with long names fit into 80 columns, and that a wide terminal
// shortens nothing.
func TestNarrow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	created := metav1.NewTime(now.Add(-26 * time.Hour))
	name, namespace := "kube-prometheus-thanos-etcd-events", "shoot--garden--production"
	cluster := v1alpha1.EtcdCluster{
		ClusterIdentity: v1alpha1.ClusterIdentity{Name: name, Namespace: namespace, Distribution: "etcd-druid"}, Version: "3.5.27",
		CreationTimestamp: &created, Traffic: v1alpha1.Traffic{State: v1alpha1.TrafficOpen},
	}
	members := &v1alpha1.EtcdMemberList{Items: []v1alpha1.EtcdMember{
		{Pod: name + "-0", ID: "04ba6ed1358b15ad", Name: name + "-0", Role: v1alpha1.RoleLeader, Started: true, PeerURLs: []string{"https://" + name + "-0." + name + "-peer." + namespace + ".svc:2380"}},
		{ID: "f8c817f98334135f", Name: name + "-1", Role: v1alpha1.RoleLearner, PeerURLs: []string{"https://10.0.0.1:2380"}, Note: "no pod of this cluster runs it"},
	}}
	sick, until := cluster, metav1.NewTime(now.Add(5*time.Hour+30*time.Minute))
	sick.Version, sick.Quorum = "3.5.27,3.6.16", v1alpha1.Quorum{Voters: 3, Healthy: 1, Needed: 2, Slack: -1}
	sick.Backup.Status, sick.Traffic = "False", v1alpha1.Traffic{State: v1alpha1.TrafficCut, Until: &until}
	console := ui.NewConsole(genericiooptions.IOStreams{})
	for what, write := range map[string]func(*ui.Screen) error{
		"list -A": func(c *ui.Screen) error {
			return List(console, &v1alpha1.EtcdClusterList{Items: []v1alpha1.EtcdCluster{cluster}}, Search{}, now)(c, false)
		},
		"list -A of an unhealthy cluster": func(c *ui.Screen) error {
			return List(console, &v1alpha1.EtcdClusterList{Items: []v1alpha1.EtcdCluster{cluster, sick}}, Search{}, now)(c, false)
		},
		"member list": func(c *ui.Screen) error { return Members(console, members)(c, false) },
	} {
		for _, columns := range []int{80, 300} {
			c := &ui.Screen{Columns: columns}
			if err := write(c); err != nil {
				t.Fatal(err)
			}
			text := c.String()
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns {
					t.Errorf("%s: %d characters on a terminal of %d:\n%s", what, n, columns, line)
				}
			}
			if cut := strings.Contains(text, "…"); cut != (columns == 80) {
				t.Errorf("%s: shortened on a terminal of %d: %t\n%s", what, columns, cut, text)
			}
		}
	}
}
