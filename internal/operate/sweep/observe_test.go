// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

const flags = " -n team --context dev --etcd-user root"

// swept are the ways of what is removed.
const swept = " | kubectl etcd sweep --remove" + flags

func heldBudget(made bool) policyv1.PodDisruptionBudget {
	b := policyv1.PodDisruptionBudget{}
	b.Namespace, b.Name, b.UID = "team", "main", "b"
	b.Annotations = map[string]string{"kubectl-etcd.dev/budget-for": "StatefulSet/main", "kubectl-etcd.dev/budget-original": "minAvailable=1"}
	if made {
		b.Annotations["kubectl-etcd.dev/budget-made"] = "team/main"
		b.Labels = map[string]string{"kubectl-etcd.dev/created-by": "etcd-webhook"}
	}
	return b
}

// heldRollout returns the StatefulSet of the cluster, as it is stored, with its rollout held.
func heldRollout(t *testing.T, s *stage) appsv1.StatefulSet {
	t.Helper()
	var sts appsv1.StatefulSet
	if found, err := s.Reader.Fetch(t.Context(), "team", "main", &sts); err != nil || !found {
		t.Fatal(err)
	}
	sts.Annotations = map[string]string{"kubectl-etcd.dev/rollout-value": "partition=3", "kubectl-etcd.dev/rollout-since": "2026-01-01T00:00:00Z"}
	return sts
}

// TestObserve: each leftover is found with its way, and nothing that is in use.
func TestObserve(t *testing.T) {
	t.Parallel()
	const old, gone = `"began":"2026-01-01T00:00:00Z"`, `{"kind":"scale","began":"2026-01-01T00:00:00Z","object":"u-1"}`
	today := `"began":"` + time.Now().UTC().Format(time.RFC3339) + `"`
	running := fmt.Sprint("cut-until-", time.Now().Add(time.Hour).Unix())
	for _, row := range []struct {
		name  string
		set   func(*stage)
		scope Scope
		want  string
	}{
		{name: "nothing", set: func(*stage) {}},
		{name: "a journal of a StatefulSet that is gone", set: func(s *stage) { s.journal("gone", gone) }, want: "Journal | configmap/kubectl-etcd-gone | Remove | JournalOrphaned" + swept},
		{name: "the same, and its operation runs", set: func(s *stage) { s.journal("gone", gone); s.lock("kubectl-etcd-etcd-gone", "ann", 0) }},
		{name: "a journal of one that was created again", set: func(s *stage) { s.journal("main", gone) }, want: "Journal | configmap/kubectl-etcd-main | Remove | JournalOrphaned" + swept},
		{name: "a journal of today", set: func(s *stage) { s.journal("main", `{"kind":"restart",`+today+`,"object":"sts","payload":{}}`) }},
		{name: "a restart that is unfinished", set: func(s *stage) {
			s.journal("main", `{"kind":"restart",`+old+`,"object":"sts","payload":{"strategy":"rolling","pods":{}}}`)
		}, want: "Journal | configmap/kubectl-etcd-main | ByHand | JournalUnfinished | kubectl etcd restart statefulset/main" + flags + " | kubectl etcd restart statefulset/main --abort" + flags},
		{name: "a scale that is unfinished", set: func(s *stage) {
			s.journal("main", `{"kind":"scale",`+old+`,"object":"sts","payload":{"Operation":"ScaleOut","Target":4,"Replicas":3}}`)
		}, want: "Journal | configmap/kubectl-etcd-main | ByHand | JournalUnfinished | kubectl etcd scale statefulset/main --replicas 4" + flags + " | kubectl etcd scale statefulset/main --abort" + flags},
		{name: "an operation of a later version", set: func(s *stage) { s.journal("main", `{"kind":"restore",`+old+`,"object":"sts","payload":{"steps":[1]}}`) }, want: "Journal | configmap/kubectl-etcd-main | ByHand | JournalUnfinished"},
		{name: "a journal that is cut off", set: func(s *stage) { s.journal("gone", `{"kind"`) }, want: "Journal | configmap/kubectl-etcd-gone | Unknown | LeftoverUnknown\nunseen | journal team/kubectl-etcd-gone"},
		{name: "a journal, and no permission", set: func(s *stage) { s.journal("gone", gone); s.forbid("statefulsets") }, want: "Journal | configmap/kubectl-etcd-gone | Unknown | LeftoverUnknown\nunseen | statefulsets.apps\nunseen | MemberLease\nunseen | VolumeClaim\nunseen | KeptData"},
		{name: "a cut", set: func(s *stage) { s.cut("main", "main", running) }},
		{name: "a cut that is over", set: func(s *stage) { s.cut("main", "main", "cut-until-1760000000") }, want: "ClientTraffic | service/main | ByHand | CutLeft | kubectl etcd restore-client-traffic statefulset/main" + flags},
		{name: "a cut without an end", set: func(s *stage) { s.cut("main", "main", "cut-until-4000000000") }, want: "ClientTraffic | service/main | ByHand | CutLeft | kubectl etcd restore-client-traffic statefulset/main" + flags},
		{name: "a cut of no cluster", set: func(s *stage) { s.cut("web", "web", "for-ever") }, want: `ClientTraffic | service/web | ByHand | CutLeft | kubectl patch service web -n team --type merge -p '{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":null}}}' --context dev`},
		{name: "a cut of a restore that is unfinished", set: func(s *stage) {
			s.cut("main", "main", "cut-until-1760000000")
			s.journal("main", `{"kind":"snapshot restore",`+today+`,"object":"sts","payload":{}}`)
		}, want: "ClientTraffic | service/main | ByHand | CutUnfinished | kubectl etcd snapshot restore FILE statefulset/main" + flags + " | kubectl etcd snapshot restore statefulset/main --abort" + flags},
		{name: "a cut of a restore that is unfinished, without pods", set: func(s *stage) {
			s.scaleToZero("StatefulSet")
			for i := range 3 {
				s.Cluster.Remove(operatetest.Path("Pod", fmt.Sprintf("main-%d", i)))
			}
			s.cut("main", "main", "cut-until-1760000000")
			s.journal("main", `{"kind":"snapshot restore",`+today+`,"object":"sts","payload":{}}`)
		}, want: "ClientTraffic | service/main | ByHand | CutUnfinished | kubectl etcd snapshot restore FILE statefulset/main" + flags + " | kubectl etcd snapshot restore statefulset/main --abort" + flags},
		{name: "a cut of a coordinated restart that is unfinished", set: func(s *stage) {
			s.cut("main", "main", "cut-until-1760000000")
			s.journal("main", `{"kind":"restart",`+today+`,"object":"sts","payload":{"strategy":"coordinated"}}`)
		}, want: "ClientTraffic | service/main | ByHand | CutUnfinished | kubectl etcd restart statefulset/main --strategy coordinated" + flags + " | kubectl etcd restart statefulset/main --abort" + flags},
		{name: "a cut during a restart that cuts nothing", set: func(s *stage) {
			s.cut("main", "main", "cut-until-1760000000")
			s.journal("main", `{"kind":"restart",`+today+`,"object":"sts","payload":{"strategy":"rolling","pods":{}}}`)
		}, want: "ClientTraffic | service/main | ByHand | CutLeft | kubectl etcd restore-client-traffic statefulset/main" + flags},
		{name: "a cut during a scale", set: func(s *stage) {
			s.cut("main", "main", "cut-until-1760000000")
			s.journal("main", `{"kind":"scale",`+today+`,"object":"sts","payload":{"Operation":"ScaleOut","Target":4,"Replicas":3}}`)
		}, want: "ClientTraffic | service/main | ByHand | CutLeft | kubectl etcd restore-client-traffic statefulset/main" + flags},
		{name: "a cut, and no permission for journals", set: func(s *stage) { s.cut("main", "main", "cut-until-1760000000"); s.forbid("configmaps") }, want: "ClientTraffic | service/main | Unknown | LeftoverUnknown\nunseen | Journal\nunseen | configmaps"},
		{name: "a suspension of a restore that is unfinished", set: func(s *stage) {
			s.druid()
			s.suspend()
			s.journal("main", `{"kind":"snapshot restore",`+today+`,"object":"sts","payload":{}}`)
		}, want: "Suspension | etcd.druid.gardener.cloud/main | ByHand | CutUnfinished | kubectl etcd snapshot restore FILE etcd/main" + flags + " | kubectl etcd snapshot restore etcd/main --abort" + flags},
		{name: "a suspension", set: func(s *stage) { s.druid(); s.suspend() }, want: "Suspension | etcd.druid.gardener.cloud/main | ByHand | SuspensionLeft | kubectl etcd restore-client-traffic etcd/main" + flags},
		{name: "a suspension during a cut", set: func(s *stage) { s.druid(); s.suspend(); s.cut("main", "main", running) }},
		{name: "a lock", set: func(s *stage) { s.lock("kubectl-etcd-statefulset-main", "", time.Hour) }},
		{name: "a lock of a cluster that is gone", set: func(s *stage) { s.lock("kubectl-etcd-statefulset-gone", "", time.Hour) }, want: "Lock | lease.coordination.k8s.io/kubectl-etcd-statefulset-gone | Remove | LockOrphaned" + swept},
		{name: "the same of a dead holder", set: func(s *stage) { s.lock("kubectl-etcd-etcd-gone", "ann", time.Hour) }, want: "Lock | lease.coordination.k8s.io/kubectl-etcd-etcd-gone | Remove | LockOrphaned" + swept},
		{name: "the same that is held", set: func(s *stage) { s.lock("kubectl-etcd-statefulset-gone", "ann", time.Second) }},
		{name: "a lock of a StatefulSet that is no etcd", set: func(s *stage) {
			s.object("StatefulSet", "apps/v1", "web", nil)
			s.lock("kubectl-etcd-statefulset-web", "", time.Hour)
		}},
		{name: "another lease with such a name", set: func(s *stage) { s.lock("kubectl-etcd-exporter-leader", "", time.Hour) }},
		{name: "a budget with the webhook", set: func(s *stage) {
			s.webhook.installed, s.webhook.budgets = true, []policyv1.PodDisruptionBudget{heldBudget(false)}
		}},
		{name: "a budget", set: func(s *stage) { s.webhook.budgets = []policyv1.PodDisruptionBudget{heldBudget(false)} }, want: "Budget | poddisruptionbudget/main | Remove | BudgetLeft" + swept},
		{name: "a budget, and a member is being replaced", set: func(s *stage) {
			s.webhook.budgets = []policyv1.PodDisruptionBudget{heldBudget(false)}
			s.lock("kubectl-etcd-statefulset-main", "ann", 0)
		}},
		{name: "a budget, and no permission", set: func(s *stage) {
			s.webhook.budgets, s.webhook.err = []policyv1.PodDisruptionBudget{heldBudget(false)}, errTest
		}, want: "Budget | poddisruptionbudget/main | Unknown | LeftoverUnknown\nunseen | etcd-webhook"},
		{name: "a claim within the size", set: func(s *stage) { s.claim("data-main-2") }},
		{name: "a claim of a removed member", set: func(s *stage) { s.claim("data-main-3") }, want: "VolumeClaim | persistentvolumeclaim/data-main-3 | RemoveClaim | ClaimLeft | kubectl etcd sweep --remove --delete-claims data-main-3" + flags},
		{name: "a claim of a voter", set: func(s *stage) {
			s.claim("data-main-3")
			s.list = append(s.list, etcd.Listed{ID: 4, PeerURLs: []string{"http://main-3.main-peer.team.svc:2380"}})
		}, want: "VolumeClaim | persistentvolumeclaim/data-main-3 | ByHand | StillMember | kubectl etcd diagnose statefulset/main" + flags},
		{name: "a claim, and a member of an unknown name", set: func(s *stage) {
			s.claim("data-main-3")
			s.list = append(s.list, etcd.Listed{ID: 4, PeerURLs: []string{"http://10.1.2.3:2380"}})
		}, want: "VolumeClaim | persistentvolumeclaim/data-main-3 | Unknown | LeftoverUnknown"},
		{name: "a claim, and etcd has no quorum", set: func(s *stage) { s.claim("data-main-3"); s.listErr = errTest }, want: "VolumeClaim | persistentvolumeclaim/data-main-3 | Unknown | LeftoverUnknown\nunseen | the member list of StatefulSet team/main"},
		{name: "a claim that another pod mounts", set: func(s *stage) {
			s.claim("data-main-3")
			s.object("Pod", "v1", "rescue", apitest.Object{"spec": apitest.Object{"volumes": []any{apitest.Object{"name": "d", "persistentVolumeClaim": apitest.Object{"claimName": "data-main-3"}}}}})
		}},
		{name: "a claim during a scale", set: func(s *stage) {
			s.claim("data-main-3")
			s.journal("main", `{"kind":"scale",`+today+`,"object":"sts","payload":{"Operation":"ScaleOut","Target":4,"Replicas":3}}`)
		}},
		{name: "claims of a cluster without replicas", set: func(s *stage) {
			s.scaleToZero("StatefulSet")
			s.list, s.listErr = nil, nil
			s.claim("data-main-0")
			s.claim("data-main-3")
		}},
		{name: "leases of an Etcd without replicas", set: func(s *stage) {
			s.druid("main-0", "main-3")
			s.scaleToZero("StatefulSet")
			s.scaleToZero("Etcd")
		}},
		{name: "a lock of a cluster without replicas", set: func(s *stage) {
			s.scaleToZero("StatefulSet")
			s.lock("kubectl-etcd-statefulset-main", "", time.Hour)
		}},
		{name: "a journal of a cluster without replicas", set: func(s *stage) {
			s.scaleToZero("StatefulSet")
			s.journal("main", `{"kind":"restart",`+today+`,"object":"sts"}`)
		}},
		{name: "claims of others", set: func(s *stage) { s.claim("data-web-7"); s.claim("data-main-x") }},
		{name: "a lease of a removed member", set: func(s *stage) { s.druid("main-0", "main-3") }, want: "MemberLease | lease.coordination.k8s.io/main-3 | Remove | LeaseLeft" + swept},
		{name: "a lease of a voter", set: func(s *stage) {
			s.druid("main-3")
			s.list = append(s.list, etcd.Listed{ID: 4, Name: "shoot-main-3"})
		}, want: "MemberLease | lease.coordination.k8s.io/main-3 | ByHand | StillMember | kubectl etcd diagnose etcd/main" + flags},
		{name: "a lease of an Etcd that is gone", set: func(s *stage) { s.memberLease("gone-0", "gone") }, want: "MemberLease | lease.coordination.k8s.io/gone-0 | Remove | LeaseLeft" + swept},
		{name: "a lease whose StatefulSet is left", set: func(s *stage) { s.memberLease("main-0", "main") }},
		{name: "a helper pod", set: func(s *stage) { s.helper("main-1-restore", "main-uid") }, want: "HelperPod | pod/main-1-restore | ByHand | HelperLeft | kubectl delete pod main-1-restore -n team --context dev"},
		{name: "a helper pod of an earlier StatefulSet", set: func(s *stage) { s.helper("main-restore-store", "earlier") }, want: "HelperPod | pod/main-restore-store | ByHand | HelperLeft | kubectl delete pod main-restore-store -n team --context dev"},
		{name: "a helper pod of another", set: func(s *stage) { s.helper("web-1-restore", "web") }},
		{name: "the name of a helper pod", set: func(s *stage) { s.helper("main-1-restore", "") }},
		{name: "all of one cluster that is gone", scope: Scope{Names: []string{"gone"}}, set: func(s *stage) {
			s.journal("gone", gone)
			s.journal("other", gone)
			s.claim("data-main-3")
		}, want: "Journal | configmap/kubectl-etcd-gone | Remove | JournalOrphaned" + swept},
		{name: "no permission for leases", set: func(s *stage) { s.journal("gone", gone); s.forbid("leases") }, want: "Journal | configmap/kubectl-etcd-gone | Unknown | LeftoverUnknown\nunseen | leases.coordination.k8s.io\nunseen | Lock\nunseen | MemberLease"},
		{name: "no permission for journals", set: func(s *stage) { s.forbid("configmaps") }, want: "unseen | Journal"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			row.set(s)
			row.scope.Namespace = "team"
			if diff := cmp.Diff(row.want, s.left(t, row.scope)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if writes := s.Writes(); len(writes) > 0 {
				t.Errorf("searching wrote %q", writes)
			}
		})
	}
}

// TestRolloutLeft: a rollout that is held is restored only where the members are ready.
func TestRolloutLeft(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		set     func(*stage)
		want    string
		surveys int
	}{
		{"not installed", func(*stage) {}, "Rollout | statefulset/main | Remove | RolloutLeft" + swept, 0},
		{"a member hung, and answers", func(s *stage) {
			s.hung()
			for _, l := range s.list {
				s.members = append(s.members, etcd.Member{Pod: l.Pod, ID: l.ID, Leader: l.ID == 1, LeaderID: 1, ClusterID: 7})
			}
		}, "Rollout | statefulset/main | Remove | RolloutLeft" + swept, 1},
		{"a member hangs", func(s *stage) {
			s.hung()
			for _, l := range s.list[1:] {
				s.members = append(s.members, etcd.Member{Pod: l.Pod, ID: l.ID, Leader: l.ID == 2, LeaderID: 2, ClusterID: 7})
			}
		}, "Rollout | statefulset/main | ByHand | RolloutUnwell | kubectl etcd diagnose statefulset/main" + flags, 1},
		{"a member may hang, of which nothing is recorded any more", func(s *stage) { s.WeakProbes() }, "Rollout | statefulset/main | ByHand | RolloutUnwell | kubectl etcd diagnose statefulset/main" + flags, 1},
		{"the members can't be asked", func(s *stage) { s.WeakProbes(); s.listErr = errTest },
			"Rollout | statefulset/main | Unknown | LeftoverUnknown\nunseen | the members of StatefulSet team/main", 1},
		{"a member is not ready", func(s *stage) {
			status := operatetest.Field(s.Get(operatetest.Path("Pod", "main-1")), "status")
			status["conditions"] = []any{apitest.Object{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}}
		}, "Rollout | statefulset/main | ByHand | RolloutUnwell | kubectl etcd diagnose statefulset/main" + flags, 0},
		{"no policy", func(s *stage) { s.webhook.installed = true }, "Rollout | statefulset/main | ByHand | RolloutUngoverned | " +
			`kubectl annotate --overwrite statefulset/main -n team kubectl-etcd.dev/rollout="release: no policy holds it" --context dev`, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.webhook.rollouts = []appsv1.StatefulSet{heldRollout(t, s)}
			row.set(s)
			if diff := cmp.Diff(row.want, s.left(t, Scope{Namespace: "team"})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if s.surveys != row.surveys {
				t.Errorf("asked the members %d times, want %d", s.surveys, row.surveys)
			}
		})
	}
}

// hung has the last leader have recorded that a member hangs behind a probe that doesn't ask etcd.
func (s *stage) hung() {
	s.WeakProbes()
	s.webhook.rollouts[0].Annotations["kubectl-etcd.dev/rollout-reason"] = "MemberDown"
}

// TestMembersAreAskedOnce: and only where a lease or a claim depends on their answer.
func TestMembersAreAskedOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.left(t, Scope{Namespace: "team"})
	if s.surveys != 0 {
		t.Errorf("asked %d times", s.surveys)
	}
	s.claim("data-main-3")
	s.claim("data-main-4")
	s.left(t, Scope{})
	if s.surveys != 1 {
		t.Errorf("asked %d times", s.surveys)
	}
}
