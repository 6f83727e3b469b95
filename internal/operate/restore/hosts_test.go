// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// hostStage is a cluster whose members have volumes. main-1 is on node-1.
type hostStage struct {
	*operatetest.Cluster
	t *testing.T
}

// newHostStage returns a stage with volumes that one node each can mount, or every node.
func newHostStage(t *testing.T, local bool) hostStage {
	t.Helper()
	s := hostStage{operatetest.NewCluster(t), t}
	for name, node := range map[string]string{"main-0": "node-0", "main-1": "node-1", "main-2": "node-2"} {
		spec := apitest.Object{}
		if local {
			spec["nodeAffinity"] = apitest.Object{"required": apitest.Object{"nodeSelectorTerms": []any{apitest.Object{
				"matchExpressions": []any{apitest.Object{"key": "kubernetes.io/hostname", "operator": "In", "values": []any{node}}},
			}}}}
		}
		s.Put("/api/v1/persistentvolumes/"+name, apitest.Object{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": apitest.Object{"name": name}, "spec": spec})
	}
	return s
}

// change changes a part of an object.
func (s hostStage) change(kind, name string, change func(apitest.Object)) {
	o := s.Get(operatetest.Path(kind, name))
	change(o)
	s.Put(operatetest.Path(kind, name), o)
}

// pending makes the pod of a member one that no node has started.
func (s hostStage) pending(pod string) {
	s.change("Pod", pod, func(o apitest.Object) {
		delete(operatetest.Field(o, "spec"), "nodeName")
		o["status"] = apitest.Object{"phase": "Pending"}
	})
}

func (s hostStage) taint(node, key, effect string) {
	s.change("Node", node, func(o apitest.Object) {
		o["spec"] = apitest.Object{"taints": []any{apitest.Object{"key": key, "value": "db", "effect": effect}}}
	})
}

func (s hostStage) notReady(node string) {
	s.change("Node", node, func(o apitest.Object) {
		o["status"] = apitest.Object{"conditions": []any{apitest.Object{"type": "Ready", "status": "Unknown"}}}
	})
}

// plan returns what a command plans, and why it refuses.
func (s hostStage) plan(size int32, lost ...string) (r Plan, warnings string, err error) {
	s.t.Helper()
	kube := s.Client(s.t)
	reader := &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	o, err := resolve.Target(s.t.Context(), reader, "team", owner.Target{Kind: "statefulset", Name: "main"})
	if err != nil {
		s.t.Fatal(err)
	}
	r = Plan{Owner: o, Lost: lost}
	if err := r.Find(s.t.Context(), kube, reader, size, "busybox"); err != nil {
		return r, "", err
	}
	_, all, err := Steps(r)
	return r, strings.Join(all, "\n"), err
}

const outOfService = "node.kubernetes.io/out-of-service"

// TestHosts has a row for each state of a member's node and pod. Each row is tried with a volume that only this node can
// mount and with one that every node can mount, and by each command: one that restores all members, one with a new
// volume for main-1 (--lost), and one that restores main-0 alone (--replicas 1).
func TestHosts(t *testing.T) {
	t.Parallel()
	const (
		unlocated = "warn: main-1 has no pod that shows where it ran"
		lostHow   = "add --lost main-1"
	)
	// cells are parts of the refusal, or of a warning, by volume and command; empty for neither.
	type cells struct{ localAll, localLost, localOne, anyAll, anyLost, anyOne string }
	every := func(s string) cells { return cells{s, s, s, s, s, s} }
	for name, row := range map[string]struct {
		set  func(hostStage)
		want cells
	}{
		"ready": {func(hostStage) {}, every("")},
		"cordoned": {
			func(s hostStage) {
				s.change("Node", "node-1", func(o apitest.Object) { o["spec"] = apitest.Object{"unschedulable": true} })
			},
			cells{localAll: "main-1: no node can start it with its volume: node node-1 is cordoned (kubectl uncordon node-1)"},
		},
		"tainted":            {func(s hostStage) { s.taint("node-1", "dedicated", "NoSchedule") }, cells{localAll: "node node-1 has taint dedicated=db:NoSchedule, which its pod does not tolerate"}},
		"tainted, NoExecute": {func(s hostStage) { s.taint("node-1", "dedicated", "NoExecute") }, cells{localAll: "dedicated=db:NoExecute"}},
		"tainted, preferred": {func(s hostStage) { s.taint("node-1", "dedicated", "PreferNoSchedule") }, every("")},
		"tainted, tolerated": {func(s hostStage) {
			s.taint("node-1", "dedicated", "NoSchedule")
			s.change("Pod", "main-1", func(o apitest.Object) {
				operatetest.Field(o, "spec")["tolerations"] = []any{apitest.Object{"key": "dedicated", "operator": "Exists"}}
			})
		}, every("")},
		"not Ready, with its pod": {func(s hostStage) { s.notReady("node-1") }, every("pod main-1 is on node node-1, which is not Ready: its member may still run")},
		"not Ready, pod deleted by force": {func(s hostStage) {
			s.notReady("node-1")
			s.pending("main-1")
		}, cells{
			"the volume of main-1 is on node node-1, which is not Ready: its member may still run", "the volume of main-1 is on node node-1", "the volume of main-1 is on node node-1",
			unlocated, unlocated, unlocated,
		}},
		"out of service": {func(s hostStage) {
			s.notReady("node-1")
			s.taint("node-1", outOfService, "NoExecute")
			s.pending("main-1")
		}, cells{localAll: lostHow, anyAll: unlocated, anyLost: unlocated, anyOne: unlocated}},
		"node deleted, with its pod": {func(s hostStage) { s.Remove(operatetest.Path("Node", "node-1")) }, cells{
			lostHow, "warn: node node-1 of main-1 does not exist", "warn: node node-1 of main-1 does not exist",
			"warn: node node-1 of main-1 does not exist", "warn: node node-1 of main-1 does not exist", "warn: node node-1 of main-1 does not exist",
		}},
		"node deleted": {func(s hostStage) {
			s.Remove(operatetest.Path("Node", "node-1"))
			s.pending("main-1")
		}, cells{lostHow, unlocated, unlocated, unlocated, unlocated, unlocated}},
		"pod deleted, node Ready": {func(s hostStage) { s.pending("main-1") }, cells{anyAll: unlocated, anyLost: unlocated, anyOne: unlocated}},
		"claim gone": {func(s hostStage) {
			s.Remove(operatetest.Path("PersistentVolumeClaim", "data-main-1"))
			s.Remove(operatetest.Path("Pod", "main-1"))
		}, every(unlocated)},
	} {
		for cell, want := range map[string]string{
			"local, all": row.want.localAll, "local, lost": row.want.localLost, "local, one": row.want.localOne,
			"any, all": row.want.anyAll, "any, lost": row.want.anyLost, "any, one": row.want.anyOne,
		} {
			t.Run(name+": "+cell, func(t *testing.T) {
				t.Parallel()
				s := newHostStage(t, strings.HasPrefix(cell, "local"))
				row.set(s)
				size, lost := int32(3), []string(nil)
				switch {
				case strings.HasSuffix(cell, "lost"):
					lost = []string{"main-1"}
				case strings.HasSuffix(cell, "one"):
					size = 1
				}
				_, warnings, err := s.plan(size, lost...)
				warned, warns := strings.CutPrefix(want, "warn: ")
				if !warns {
					warned = ""
					wantRefusal(t, "refusal", err, want)
				} else if err != nil || !strings.Contains(warnings, warned) {
					t.Errorf("error %v, warnings %q, want %q", err, warnings, warned)
				}
				if warned == "" && (strings.Contains(warnings, "shows where") || strings.Contains(warnings, "does not exist")) {
					t.Errorf("warnings %q", warnings)
				}
			})
		}
	}
}

// TestHostsApart: members with new volumes need a node each where required anti-affinity keeps them apart.
func TestHostsApart(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		nodes []string
		soft  bool
		size  int32
		lost  []string
		want  string
	}{
		{name: "a node each", size: 3, lost: []string{"main-1", "main-2"}},
		{name: "two are left", nodes: []string{"node-2", "node-3", "node-4"}, size: 3, lost: []string{"main-2"}, want: "only 2 of its 3 members can run at the same time: their pods must have different values of kubernetes.io/hostname"},
		{name: "one is left", nodes: []string{"node-1", "node-2", "node-3", "node-4"}, size: 3, lost: []string{"main-1", "main-2"}, want: "or restore fewer members: --replicas 1"},
		{name: "one is left, for one", nodes: []string{"node-1", "node-2", "node-3", "node-4"}, size: 1, lost: []string{"main-1", "main-2"}},
		{name: "one is left, preferred", nodes: []string{"node-1", "node-2", "node-3", "node-4"}, soft: true, size: 3, lost: []string{"main-1", "main-2"}},
		{name: "none is left", nodes: []string{"node-0", "node-1", "node-2", "node-3", "node-4"}, size: 1, lost: []string{"main-0"}, want: "main-0: no node can start it: node node-0 is cordoned (kubectl uncordon node-0)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newHostStage(t, true)
			s.change("StatefulSet", "main", func(o apitest.Object) {
				term := apitest.Object{"topologyKey": "kubernetes.io/hostname", "labelSelector": apitest.Object{"matchLabels": apitest.Object{"app": "main"}}}
				rule := apitest.Object{"requiredDuringSchedulingIgnoredDuringExecution": []any{term}}
				if row.soft {
					rule = apitest.Object{"preferredDuringSchedulingIgnoredDuringExecution": []any{apitest.Object{"weight": 1, "podAffinityTerm": term}}}
				}
				operatetest.Field(o, "spec", "template", "spec")["affinity"] = apitest.Object{"podAntiAffinity": rule}
			})
			for _, name := range row.nodes {
				s.change("Node", name, func(o apitest.Object) { o["spec"] = apitest.Object{"unschedulable": true} })
			}
			_, _, err := s.plan(row.size, row.lost...)
			wantRefusal(t, row.name, err, row.want)
		})
	}
}

// TestHostsUnread: what the user may not read is a warning.
func TestHostsUnread(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/api/v1/nodes":                    "you may not list nodes: it is not known whether the members can start again",
		"/api/v1/persistentvolumes/main-1": "you may not read PersistentVolume main-1: it is not known whether the member on it can start again",
	} {
		s := newHostStage(t, true)
		s.change("Node", "node-1", func(o apitest.Object) { o["spec"] = apitest.Object{"unschedulable": true} })
		s.Refuse = func(_, at string) int {
			if at == path {
				return http.StatusForbidden
			}
			return 0
		}
		if _, warnings, err := s.plan(3); err != nil || !strings.Contains(warnings, want) {
			t.Errorf("%s: %v, warnings %q", path, err, warnings)
		}
	}
}

// TestHostsOfDruid: the first member restores the data. A restore waits for nodes for the others, and not for the first.
func TestHostsOfDruid(t *testing.T) {
	t.Parallel()
	r := druidRestore()
	r.Hosts = Hosts{ApartBy: "topology.kubernetes.io/zone", Together: 2}
	_, warnings, err := Steps(r)
	if err != nil || !strings.Contains(strings.Join(warnings, "; "), "only 2 of its 3 members can run at the same time") {
		t.Errorf("%v: %q", err, warnings)
	}
	r.Hosts.None = []NoHost{{Pod: "main-0", Why: "no node can start it: node node-0 is cordoned"}}
	_, _, err = Steps(r)
	wantRefusal(t, "no node", err, "The restore stops all members, and main-0 could not start again. Make a node schedulable first")
}

// TestMayBeLost: a member that answers is not lost, and another cluster's is none.
func TestMayBeLost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		lost    string
		recover bool
		want    string
	}{
		{lost: "main-1"},
		{lost: "main-0", want: "main-0 is declared to be lost, and it answers"},
		{lost: "other-0", want: "it has no member other-0"},
		{lost: "other-0", recover: true},
	} {
		r := plainRestore()
		r.SetSurvey(etcd.Survey{Members: []etcd.Member{{Pod: "main-0", Revision: 7}, {Pod: "main-1", Err: errors.New("gone")}}}, false)
		r.Lost, r.Saved = []string{row.lost}, row.recover
		wantRefusal(t, row.lost, r.MayBeLost(), row.want)
	}
}

// TestHostsAfterStop: a restore that has stopped the members goes on, also if a node is cordoned or lost meanwhile. One that
// ended while they stopped has not shown that those did whose pods were deleted with their nodes, or by force.
func TestHostsAfterStop(t *testing.T) {
	t.Parallel()
	const unlocated = "main-1 has no pod that shows where it ran: make sure that its old machine is off"
	for _, local := range []bool{true, false} {
		s := newHostStage(t, local)
		r, _, err := s.plan(3)
		if err != nil {
			t.Fatal(err)
		}
		r.At = clock.RealClock{}.Now()
		kube := s.Client(t)
		job := &progress.Job{Clients: step.Clients{Kube: kube, Namespace: "team", Clock: clock.RealClock{}}}
		if err := job.Create(t.Context(), r.Owner, NewRecord(r), nil, false); err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(r.steps(), func(s step.Step) bool { return s.ID == stopped })
		s.notReady("node-1")
		s.pending("main-1")
		s.change("Node", "node-2", func(o apitest.Object) { o["spec"] = apitest.Object{"unschedulable": true} })
		s.change("StatefulSet", "main", func(o apitest.Object) {
			operatetest.Field(o, "metadata")["annotations"] = apitest.Object{"kubectl-etcd.dev/restore": "2026-01-01T00:00:00Z 3"}
		})
		for done, want := range map[int]string{at - 1: unlocated, at: unlocated, at + 2: ""} {
			rec, err := progress.Read(t.Context(), kube, r.Owner)
			if err != nil {
				t.Fatal(err)
			}
			rec.Done = done
			s.change("StatefulSet", "main", func(o apitest.Object) {
				operatetest.Field(o, "spec")["replicas"] = map[bool]int{true: 0, false: 3}[done > at]
			})
			again := Plan{Owner: r.Owner}
			if err := again.Continue(t.Context(), rec, kube, &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}, "busybox"); err != nil {
				t.Fatal(err)
			}
			steps, _, err := Steps(again)
			if local {
				wantRefusal(t, fmt.Sprintf("%d steps done", done), err, map[bool]string{true: "the volume of main-1 is on node node-1"}[want != ""])
				continue
			}
			if got := strings.Join(again.ProposeRest(rec, steps, false).Warnings, "; "); err != nil || (got != "") != (want != "") || !strings.Contains(got, want) {
				t.Errorf("%d steps done: error %v, warnings %q, want %q", done, err, got, want)
			}
		}
	}
}
