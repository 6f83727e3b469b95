// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// TestGoesAnotherWay: where somebody manages the members, only one goes that no pod
// runs or will run.
func TestGoesAnotherWay(t *testing.T) {
	t.Parallel()
	runs, due := etcd.Listed{ID: 1, Name: "main-1", Pod: "main-1"}, etcd.Listed{ID: 1, Name: "main-1"}
	stray := etcd.Listed{ID: 9, Name: "main-3", PeerURLs: []string{"https://main-3.main-peer.team.svc:2380"}}
	learner := etcd.Listed{ID: 1, Name: "main-1", Pod: "main-1", Learner: true}
	for _, row := range []struct {
		name    string
		of      flavour.Name
		l       etcd.Listed
		healthy bool
		want    string // empty for nothing to say
	}{
		{"druid's", flavour.Druid, runs, true, "it has a pod, and etcd-druid manages the members; to replace it, kubectl etcd member replace etcd/main main-1 -n team; to have fewer, restore a backup into a new Etcd of that size: etcd-druid does not scale in"},
		{"druid's, dead", flavour.Druid, runs, false, "it has a pod, and etcd-druid manages the members"},
		{"druid's learner", flavour.Druid, learner, true, "it has a pod, and etcd-druid manages the members"},
		{"druid's, its pod is due", flavour.Druid, due, false, "its pod main-1 is only not there now, and etcd-druid manages the members; kubectl describe statefulset main -n team tells why; if its data is lost, kubectl etcd member replace etcd/main main-1 -n team"},
		{"druid's, left behind", flavour.Druid, stray, false, ""},
		{"a chart's, its pod is due", flavour.Bitnami, due, false, "and the members' start script manages the members"},
		{"a chart's, left behind", flavour.Bitnami, stray, false, ""},
		{"nobody's", flavour.Plain, runs, true, "it is healthy"},
		{"nobody's, dead", flavour.Plain, runs, false, ""},
		{"nobody's, its pod is due", flavour.Plain, due, false, ""},
		{"nobody's learner", flavour.Plain, learner, true, ""},
	} {
		c := &app.Cluster{Owner: observe.Owner{Flavour: observe.StatefulSet, Distribution: row.of, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}}
		if row.of == flavour.Druid {
			c.Flavour = observe.Druid
		}
		if got := goesAnotherWay(c, row.l, row.healthy); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
