// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestUseInstead checks which members may be removed. If an operator or a start script manages
// the members, these are only members that have no pod and get none.
func TestUseInstead(t *testing.T) {
	t.Parallel()
	runs, due := etcd.Listed{ID: 1, Name: "main-1", Pod: "main-1"}, etcd.Listed{ID: 1, Name: "main-1"}
	stray := etcd.Listed{ID: 9, Name: "main-3", PeerURLs: []string{"https://main-3.main-peer.team.svc:2380"}}
	learner := etcd.Listed{ID: 1, Name: "main-1", Pod: "main-1", Learner: true}
	for _, row := range []struct {
		name    string
		of      flavour.Name
		l       etcd.Listed
		healthy bool
		want    string // empty if the member may be removed
	}{
		{"druid's", flavour.Druid, runs, true, "it has a pod, and etcd-druid manages the members. To replace it: kubectl etcd member replace etcd/main main-1 -n team. To have fewer members: restore a backup into a new Etcd of that size: etcd-druid does not scale in"},
		{"druid's, dead", flavour.Druid, runs, false, "it has a pod, and etcd-druid manages the members"},
		{"druid's learner", flavour.Druid, learner, true, "it has a pod, and etcd-druid manages the members"},
		{"druid's, its pod is due", flavour.Druid, due, false, "its pod main-1 is missing at the moment, and etcd-druid manages the members. kubectl describe statefulset main -n team shows why. If its data is lost: kubectl etcd member replace etcd/main main-1 -n team"},
		{"druid's, left behind", flavour.Druid, stray, false, ""},
		{"a chart's, its pod is due", flavour.Bitnami, due, false, "and the members' start script manages the members"},
		{"a chart's, left behind", flavour.Bitnami, stray, false, ""},
		{"plain", flavour.Plain, runs, true, "it is healthy"},
		{"plain, dead", flavour.Plain, runs, false, ""},
		{"plain, its pod is due", flavour.Plain, due, false, ""},
		{"plain learner", flavour.Plain, learner, true, ""},
		{"of several workloads", "", runs, true, "it has a pod, and the set of its workloads (main and pod x) manages the members"},
		{"of several workloads, dead", "", runs, false, "although its pod may come back, run the same command with --force"},
		{"of several workloads, its pod is due", "", due, false, "although its pod may come back, run the same command with --force"},
		{"of several workloads, dead, forced", "forced", runs, false, ""},
		{"of several workloads, its pod is due, forced", "forced", due, false, ""},
		{"of several workloads, healthy, forced", "forced", runs, true, "it has a pod, and the set of its workloads"},
		{"druid's, dead, forced", "druid forced", runs, false, "it has a pod, and etcd-druid manages the members"},
		{"of several workloads, a learner", "", learner, true, ""},
	} {
		r := Removal{Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Distribution: row.of, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}}
		if row.of == flavour.Druid {
			r.Owner.WorkloadKind, r.Owner.Kind = owner.DruidStatefulSet, "Etcd"
		}
		switch r.Force = strings.HasSuffix(string(row.of), "forced"); string(row.of) {
		case "", "forced":
			r.Owner.Distribution, r.Owner.PodsBeside = flavour.Plain, []string{"x"}
		case "druid forced":
			r.Owner.Distribution, r.Owner.WorkloadKind, r.Owner.Kind = flavour.Druid, owner.DruidStatefulSet, "Etcd"
		}
		if got := r.useInstead(etcd.Survey{}, row.l, row.healthy); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestShowsWhatIsThere: a refusal for a pod that will come again names the StatefulSet that makes it.
func TestShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, Distribution: flavour.Plain, Kind: "StatefulSet", Namespace: "team", Name: "a", StatefulSet: "a", Replicas: 2,
		Workloads: []owner.Workload{{Name: "a", Replicas: 1}, {Name: "b", Replicas: 1}}}
	silence := membership.Silence{Pod: "b-0", Contact: membership.ContactNone}
	for _, row := range []struct {
		l    etcd.Listed
		want string
	}{
		{etcd.Listed{ID: 2, Name: "b-0", Pod: "b-0"}, "kubectl describe pod b-0 -n team"},
		{etcd.Listed{ID: 2, Name: "b-0"}, "kubectl describe statefulset b -n team"},
	} {
		err := Removal{Owner: o}.refusal(t.Context(), etcd.Survey{}, row.l, membership.IsDead(silence), silence)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, want %q", row.l, err, row.want)
		}
	}
}

// TestNewMember: the way that is printed is none that member replace refuses.
func TestNewMember(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, Distribution: flavour.Plain, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}
	if got := (Removal{Owner: o}).newMember("main-1"); got != "kubectl etcd member replace statefulset/main main-1 -n team gives it a new member." {
		t.Errorf("of one StatefulSet: %q", got)
	}
	o.PodsBeside = []string{"x"}
	if got := (Removal{Owner: o}).newMember("main-1"); !strings.HasPrefix(got, "To give it a new member: add a learner with kubectl etcd member add statefulset/main --peer-urls URL -n team,") {
		t.Errorf("of several workloads: %q", got)
	}
}

// TestLostIsNamed: only a refusal that a declaration would change names --lost.
func TestLostIsNamed(t *testing.T) {
	t.Parallel()
	l := etcd.Listed{ID: 9, Name: "third", PeerURLs: []string{"https://third.example.com:2380"}}
	for _, row := range []struct {
		name    string
		silence membership.Silence
		named   bool
	}{
		{"its address is outside, and the leader has lost contact with it", membership.Silence{Contact: membership.ContactNone, Unknown: "outside"}, true},
		{"metrics can't be read", membership.Silence{Unknown: "403"}, false},
		{"the leader is connected with it", membership.Silence{Contact: membership.ContactSilent, Unknown: "outside"}, false},
		{"the leader receives from it", membership.Silence{Contact: membership.ContactActive, Unknown: "outside"}, false},
	} {
		err := Removal{}.refusal(t.Context(), etcd.Survey{}, l, membership.IsDead(row.silence), row.silence)
		if err == nil || strings.Contains(err.Error(), "run the same command with --lost") != row.named {
			t.Errorf("%s: %v, --lost is named: want %t", row.name, err, row.named)
		}
	}
}
