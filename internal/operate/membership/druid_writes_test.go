// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

var etcdPath = operatetest.Path("Etcd", "main")

// newDruid returns an Etcd of three in memory, and what changes it.
func newDruid(t *testing.T) (*writing, *Members) {
	t.Helper()
	w := &writing{crashing: &crashing{&operatetest.Crashing{Cluster: &operatetest.Cluster{Server: apitest.New(t)}}}}
	w.Put(etcdPath, apitest.Object{
		"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd",
		"metadata": apitest.Object{"namespace": "team", "name": "main", "annotations": apitest.Object{"theirs": "stays"}},
		"spec":     apitest.Object{"replicas": 3.0, "later": "stays"},
	})
	return w, &Members{
		Kube: w.Client(t), Logf: func(string, ...any) {}, Clock: &operatetest.HastyClock{},
		Owner: owner.Owner{WorkloadKind: owner.DruidStatefulSet, Kind: "Etcd", Namespace: "team", Name: "main", StatefulSet: "main"},
	}
}

// TestDruidWrites: etcd-druid's Etcd gets a number of replicas and a request to reconcile, and no
// other field is written. Where the first write is refused, the second is not made.
func TestDruidWrites(t *testing.T) {
	t.Parallel()
	const replicas, request = "main spec.replicas=5", `main metadata.annotations.` + druidv1alpha1.DruidOperationAnnotation + `="` + druidv1alpha1.DruidOperationReconcile + `"`
	scale := func(dry bool) func(context.Context, *Members) error {
		return func(ctx context.Context, m *Members) error {
			if dry {
				return m.TryDruidScale(ctx, 5)
			}
			return m.ScaleDruid(ctx, 5, func(context.Context) bool { return false })
		}
	}
	reconcile := func(ctx context.Context, m *Members) error { return m.reconcileDruid(ctx) }
	set := func(ctx context.Context, m *Members) error { return m.setDruidReplicas(ctx, 5) }
	scaled, annotated := "PATCH "+etcdPath+"/scale", "PATCH "+etcdPath
	for _, row := range []struct {
		name    string
		do      func(context.Context, *Members) error
		refused string // the path that is refused
		gone    bool
		want    []string
		writes  []string
		err     string
	}{
		{name: "D-1 scale", do: scale(false), want: []string{request, replicas}, writes: []string{scaled, annotated}},
		{name: "D-2 scale, as a dry run", do: scale(true), writes: []string{scaled}},
		{name: "D-3 scale is denied", do: scale(false), refused: etcdPath + "/scale", err: "set the replicas of Etcd team/main to 5"},
		{name: "D-4 the dry run is denied", do: scale(true), refused: etcdPath + "/scale", err: "set the replicas of Etcd team/main to 5"},
		{name: "D-5 the request is denied", do: scale(false), refused: etcdPath, want: []string{replicas}, writes: []string{scaled}, err: "request a reconcile of Etcd team/main"},
		{name: "D-6 the Etcd is gone", do: scale(false), gone: true, writes: []string{scaled}, err: "set the replicas of Etcd team/main to 5"},
		{name: "D-7 reconcile", do: reconcile, want: []string{request}, writes: []string{annotated}},
		{name: "D-8 reconcile is denied", do: reconcile, refused: etcdPath, err: "request a reconcile of Etcd team/main"},
		{name: "D-9 reconcile, the Etcd is gone", do: reconcile, gone: true, writes: []string{annotated}, err: "request a reconcile of Etcd team/main"},
		{name: "D-10 set the replicas", do: set, want: []string{replicas}, writes: []string{scaled}},
		{name: "D-11 the replicas are denied", do: set, refused: etcdPath + "/scale", err: "set the replicas of Etcd team/main to 5"},
		{name: "D-12 set the replicas, the Etcd is gone", do: set, gone: true, writes: []string{scaled}, err: "set the replicas of Etcd team/main to 5"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w, m := newDruid(t)
			if row.gone {
				w.Remove(etcdPath)
			}
			before := w.objects()
			w.Refuse = func(method, path string) int {
				if method == http.MethodPatch && path == row.refused {
					return http.StatusForbidden
				}
				return 0
			}
			err := row.do(t.Context(), m)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("the error is %v, want %q", err, row.err)
			}
			if diff := cmp.Diff(row.want, changes(before, w.objects())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !slices.Equal(w.Writes(), row.writes) {
				t.Errorf("writes are %q, want %q", w.Writes(), row.writes)
			}
		})
	}
}

// endingClock ends a command at its first wait.
type endingClock struct {
	*operatetest.HastyClock

	end func()
}

func (c endingClock) After(time.Duration) <-chan time.Time {
	c.end()
	return nil
}

// TestReplaceDruid: the claim goes before the pod, each only if it is the one of the plan. A claim that
// stays keeps the pod. Then the new member is awaited.
func TestReplaceDruid(t *testing.T) {
	t.Parallel()
	recreate := func(at string) func(*writing, *DruidReplacement) {
		return func(w *writing, _ *DruidReplacement) {
			w.edit(at, func(o apitest.Object) { operatetest.Field(o, "metadata")["uid"] = "another" })
		}
	}
	deny := func(w *writing, _ *DruidReplacement) { w.Refuse = forbid(http.StatusForbidden) }
	for _, row := range []struct {
		name  string
		dry   bool
		after func(*writing, *DruidReplacement)
		want  []string
		err   string
	}{
		{name: "claim and pod", want: []string{"data-main-2 deleted", "main-2 deleted"}, err: "3 of 3 members vote, 2 are healthy"},
		{name: "a dry run", dry: true},
		{name: "another claim by now", after: recreate(claimAt), err: "delete PersistentVolumeClaim data-main-2"},
		{name: "another pod by now", after: recreate(podAt), want: []string{"data-main-2 deleted"}, err: "delete pod main-2"},
		{name: "both are gone", after: func(w *writing, _ *DruidReplacement) { w.Remove(claimAt); w.Remove(podAt) }, err: "3 of 3 members vote, 2 are healthy"},
		{name: "denied", after: deny, err: "delete PersistentVolumeClaim data-main-2"},
		{name: "the dry run is denied", dry: true, after: deny, err: "delete PersistentVolumeClaim data-main-2"},
		{name: "the new member votes", after: func(_ *writing, r *DruidReplacement) { r.pod, r.claims = nil, nil }},
		{
			name: "the old member is still listed", after: func(_ *writing, r *DruidReplacement) { r.pod, r.claims, r.Member = nil, nil, 3 },
			err: "3 of 3 members vote, 3 are healthy",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, nil)
			r := &DruidReplacement{Member: 9, pod: w.s.pods["main-2"], claims: w.s.claims["main-2"], members: 3}
			if row.after != nil {
				row.after(w, r)
			}
			before := w.objects()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.m.Clock = endingClock{&operatetest.HastyClock{}, cancel}
			err := w.m.ReplaceDruid(ctx, r, row.dry)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("the error is %v, want %q", err, row.err)
			}
			if diff := cmp.Diff(row.want, changes(before, w.objects())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlanDruidReplace: a voter whose pod doesn't exist is one of the others, or the one that is
// replaced. One that no pod will run is named with the command that removes it.
func TestPlanDruidReplace(t *testing.T) {
	t.Parallel()
	gone := func(pod string) func(*writing) {
		return func(w *writing) { w.Remove(operatetest.Path("Pod", pod)); w.Etcd.Stop(pod) }
	}
	for _, row := range []struct {
		name string
		is   func(*writing)
		// member is the ID in the plan.
		member uint64
		want   string
	}{
		{name: "D-10 a healthy member", is: func(*writing) {}, member: 3, want: "it is healthy, and its data is not known to differ"},
		{name: "D-11 its pod doesn't exist", is: gone("main-2"), member: 3},
		{name: "D-14 the leader receives messages from it", is: func(w *writing) {
			gone("main-2")(w)
			w.Etcd.Reached = []string{"main-1", "main-2"}
		}, member: 3, want: "its data seems to exist (the leader receives messages from it, although "},
		{name: "D-15 the leader doesn't show its contact", is: func(w *writing) {
			gone("main-2")(w)
			w.Etcd.Reached = nil
		}, member: 3, want: "it is not known whether the leader is in contact with it: the leader's metrics have no entry"},
		{name: "D-12 the pod of another voter doesn't exist", is: gone("main-1"), member: 3, want: "1 of 2 voters would be healthy, quorum is 2"},
		{name: "D-13 a voter is left over", is: func(w *writing) {
			w.Etcd.Members = append(w.Etcd.Members, &pb.Member{ID: 0xa9, Name: "main-7", PeerURLs: []string{"http://main-7.main-peer.team.svc:2380"}})
		}, member: 3, want: "remove it first: kubectl etcd member remove etcd/main 00000000000000a9 -n team"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, nil)
			w.Etcd.Reached = []string{"main-0", "main-1"}
			row.is(w)
			w.m.Owner.WorkloadKind, w.m.Owner.Kind = owner.DruidStatefulSet, "Etcd"
			r, _, err := w.m.PlanDruidReplace(t.Context(), "main-2", false)
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("the refusal is %v, want %q", err, row.want)
			}
			if r == nil || r.Member != row.member {
				t.Errorf("the plan is %+v, want member %d", r, row.member)
			}
		})
	}
}
