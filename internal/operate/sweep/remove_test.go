// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

const goneJournal = `{"kind":"scale","began":"2026-01-01T00:00:00Z","object":"u-1"}`

// removable returns what a user who sees the plan agrees to.
func (s *stage) removable(t *testing.T, claims ...string) []Item {
	t.Helper()
	state, err := s.Observe(t.Context(), Scope{Namespace: "team"})
	if err != nil {
		t.Fatal(err)
	}
	items, err := state.Removable(claims)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// everything leaves one object of each kind that is removed.
func everything(t *testing.T, s *stage) {
	t.Helper()
	s.memberLease("away-0", "away")
	s.journal("gone", goneJournal)
	s.lock("kubectl-etcd-statefulset-gone", "", time.Hour)
	s.claim("data-main-3")
	s.webhook.budgets = []policyv1.PodDisruptionBudget{heldBudget(false)}
	s.webhook.rollouts = []appsv1.StatefulSet{heldRollout(t, s)}
}

var all = []string{
	operatetest.Path("ConfigMap", "kubectl-etcd-gone"), operatetest.Path("Lease", "kubectl-etcd-statefulset-gone"),
	operatetest.Path("Lease", "away-0"), operatetest.Path("PersistentVolumeClaim", "data-main-3"),
}

// TestRemove: what the user agreed to is removed, each in the version that was read, and nothing else.
func TestRemove(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	everything(t, s)
	items := s.removable(t, "data-main-3")
	if err := s.Try(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if s.Get(path) == nil {
			t.Errorf("the dry run deleted %s", path)
		}
	}
	if err := s.Remove(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if s.Get(path) != nil {
			t.Errorf("%s is still there", path)
		}
	}
	want := []string{"rollout main, dry true", "budget main, dry true", "rollout main, dry false", "budget main, dry false"}
	if !slices.Equal(s.webhook.restored, want) {
		t.Errorf("restored %q", s.webhook.restored)
	}
	if len(s.removed) != 6 || len(s.logged) != 6 {
		t.Errorf("reported %q, logged %q", s.removed, s.logged)
	}
	s.webhook.budgets, s.webhook.rollouts = nil, nil
	if left := s.left(t, Scope{Namespace: "team"}); left != "" {
		t.Errorf("left:\n%s", left)
	}
	for _, kept := range []string{operatetest.Path("PersistentVolumeClaim", "data-main-2"), operatetest.Path("StatefulSet", "main")} {
		if s.Get(kept) == nil {
			t.Errorf("%s is deleted", kept)
		}
	}
}

// TestClaimsByName: without its name, a volume claim stays. A name of one that is in use is refused.
func TestClaimsByName(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.claim("data-main-3")
	if items := s.removable(t); len(items) > 0 {
		t.Errorf("%v would be removed", items)
	}
	state, err := s.Observe(t.Context(), Scope{Namespace: "team"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"data-main-2": "persistentvolumeclaim/data-main-2 in namespace team: the cluster should have its member",
		"data-web-0":  "data-web-0",
	} {
		if _, err := state.Removable([]string{"data-main-3", name}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRemoveOnNewFacts: what has changed since the user agreed is not removed, and the rest is.
func TestRemoveOnNewFacts(t *testing.T) {
	t.Parallel()
	const other = "ConfigMap"
	for _, row := range []struct {
		name   string
		change func(*stage)
		path   string
		// err is a part of the error, empty for none. stays is whether the object is left.
		err   string
		stays bool
	}{
		{"an operation begins", func(s *stage) { s.lock("kubectl-etcd-statefulset-gone", "ann", 0) }, operatetest.Path(other, "kubectl-etcd-gone"), "an operation holds the lock", true},
		{"the StatefulSet of the journal is back", func(s *stage) {
			s.object("StatefulSet", "apps/v1", "gone", apitest.Object{"metadata": apitest.Object{"uid": "u-1"}})
		}, operatetest.Path(other, "kubectl-etcd-gone"), "unfinished for more than a day", true},
		{"another journal", func(s *stage) {
			operatetest.Field(s.Get(operatetest.Path(other, "kubectl-etcd-gone")), "metadata")["uid"] = "another"
		}, operatetest.Path(other, "kubectl-etcd-gone"), "", true},
		{"the journal is gone", func(s *stage) { s.Cluster.Remove(operatetest.Path(other, "kubectl-etcd-gone")) }, operatetest.Path(other, "kubectl-etcd-gone"), "", false},
		{"the member is back", func(s *stage) { s.list = append(s.list, etcd.Listed{ID: 9, Name: "main-3"}) }, operatetest.Path("PersistentVolumeClaim", "data-main-3"), "etcd still has its member", true},
		{"a pod mounts the claim", func(s *stage) {
			s.object("Pod", "v1", "main-3", nil)
		}, operatetest.Path("PersistentVolumeClaim", "data-main-3"), "a pod uses it", true},
		{"etcd does not answer", func(s *stage) { s.listErr = errTest }, operatetest.Path("PersistentVolumeClaim", "data-main-3"), "it is not known whether etcd has its member", true},
		{"the cluster of the lock is back", func(s *stage) {
			s.object("StatefulSet", "apps/v1", "gone", nil)
		}, operatetest.Path("Lease", "kubectl-etcd-statefulset-gone"), "its cluster exists", true},
		{"etcd-webhook is installed again", func(s *stage) { s.webhook.installed = true }, "", "etcd-webhook", false},
		{"no permission any more", func(s *stage) { s.forbid("configmaps") }, operatetest.Path(other, "kubectl-etcd-gone"), "read configmap/kubectl-etcd-gone in namespace team again", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			everything(t, s)
			items := s.removable(t, "data-main-3")
			row.change(s)
			err := s.Remove(t.Context(), items)
			if err == nil && row.err != "" || err != nil && (row.err == "" || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("%v, want %q", err, row.err)
			}
			if row.path != "" && (s.Get(row.path) != nil) != row.stays {
				t.Errorf("%s is there: %t", row.path, !row.stays)
			}
			other := operatetest.Path("Lease", "away-0")
			if row.path == all[3] { // which depends on the same facts
				other = all[0]
			}
			if s.Get(other) != nil {
				t.Errorf("%s is not removed", other)
			}
			if row.name == "etcd-webhook is installed again" && len(s.webhook.restored) > 0 {
				t.Errorf("restored %q", s.webhook.restored)
			}
		})
	}
}

// TestDelete: a deletion has the UID and the version that were read. A refusal is an error.
func TestDelete(t *testing.T) {
	t.Parallel()
	path := operatetest.Path("ConfigMap", "kubectl-etcd-gone")
	for _, row := range []struct {
		name   string
		change func(*stage)
		err    string
		stays  bool
	}{
		{"as it was read", func(*stage) {}, "", false},
		{"another client has written it", func(s *stage) { operatetest.Field(s.Get(path), "metadata")["resourceVersion"] = "999" }, "delete configmap/kubectl-etcd-gone in namespace team", true},
		{"created again", func(s *stage) { operatetest.Field(s.Get(path), "metadata")["uid"] = "another" }, "delete configmap/kubectl-etcd-gone in namespace team", true},
		{"gone", func(s *stage) { s.Cluster.Remove(path) }, "delete configmap/kubectl-etcd-gone in namespace team", false},
		{"no permission", func(s *stage) {
			s.Refuse = func(method, _ string) int {
				if method == http.MethodDelete {
					return http.StatusForbidden
				}
				return 0
			}
		}, "refused by the test", true},
	} {
		s := newStage(t)
		s.journal("gone", goneJournal)
		items := s.removable(t)
		row.change(s)
		err := s.delete(t.Context(), &items[0], false)
		if err == nil && row.err != "" || err != nil && (row.err == "" || !strings.Contains(err.Error(), row.err)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.err)
		}
		if (s.Get(path) != nil) != row.stays {
			t.Errorf("%s: it is there: %t", row.name, !row.stays)
		}
	}
}

// TestRefusedWrites: the dry run reports all that the API server rejects, and a rejection of one write
// does not stop the others.
func TestRefusedWrites(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	everything(t, s)
	items := s.removable(t, "data-main-3")
	s.Refuse = func(method, path string) int {
		if method == http.MethodDelete && strings.Contains(path, "configmaps") {
			return http.StatusForbidden
		}
		return 0
	}
	if err := s.Try(t.Context(), items); err == nil || !strings.Contains(err.Error(), "kubectl-etcd-gone") {
		t.Errorf("%v", err)
	}
	if err := s.Remove(t.Context(), items); err == nil || !strings.Contains(err.Error(), "delete configmap/kubectl-etcd-gone") {
		t.Errorf("%v", err)
	}
	if s.Get(all[0]) == nil || s.Get(all[1]) != nil || s.Get(all[3]) != nil {
		t.Errorf("the journal is there: %t, the lock %t, the claim %t", s.Get(all[0]) != nil, s.Get(all[1]) != nil, s.Get(all[3]) != nil)
	}
}

// TestPlan: the plan names each object and what is done, and its subject changes with the objects.
func TestPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	everything(t, s)
	s.webhook.sizes = map[string][]string{"main": {"main had 5 members"}}
	items := s.removable(t, "data-main-3")
	p := Plan(items)
	text := strings.Join(append(p.Steps, p.Warnings...), "\n")
	for _, part := range []string{
		"delete configmap/kubectl-etcd-gone in namespace team: kubectl etcd scale: its StatefulSet does not exist",
		"restore the author's number of poddisruptionbudget/main", "restore the update strategy of statefulset/main",
		"The data of persistentvolumeclaim/data-main-3 in namespace team is deleted with it.", "without regard for the health of etcd",
		"main had 5 members",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the plan lacks %q:\n%s", part, text)
		}
	}
	if other := Plan(items[1:]); other.Subject == p.Subject || Plan(nil).Title != "" || Plan(nil).Already == "" {
		t.Errorf("subjects %q and %q", p.Subject, other.Subject)
	}
	var needs []string
	for _, n := range p.Needs {
		needs = append(needs, n.String())
	}
	for _, want := range []string{
		`verb "delete" on "configmaps" named "kubectl-etcd-gone" in namespace "team"`, `verb "patch" on "statefulsets.apps" named "main" in namespace "team"`,
		`verb "delete" on "leases.coordination.k8s.io" named "away-0" in namespace "team"`, `verb "create" on "events.events.k8s.io" in namespace "team"`,
	} {
		if !slices.Contains(needs, want) {
			t.Errorf("the needs lack %s:\n%s", want, strings.Join(needs, "\n"))
		}
	}
}

// TestMadeBudget: a budget that etcd-webhook created is deleted, in the version that was read.
func TestMadeBudget(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.webhook.budgets = []policyv1.PodDisruptionBudget{heldBudget(true)}
	items := s.removable(t)
	if len(items) != 1 || act(&items[0]) != "delete" {
		t.Fatalf("%+v", items)
	}
	var sent string
	s.Refuse = func(method, path string) int {
		if method == http.MethodDelete {
			sent = path
		}
		return 0
	}
	if err := s.write(t.Context(), &items[0], false); err == nil || len(s.webhook.restored) > 0 || !strings.HasSuffix(sent, "/poddisruptionbudgets/main") {
		t.Errorf("%v, %q, restored %q", err, sent, s.webhook.restored)
	}
}

// TestLockOfLivingHolder: a lock whose holder seems dead is watched, and stays if the holder renews it.
func TestLockOfLivingHolder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const name = "kubectl-etcd-statefulset-gone"
	s.lock(name, "ann", time.Hour)
	items := s.removable(t)
	path := operatetest.Path("Lease", name)
	renewed := 0
	s.Refuse = func(method, at string) int {
		if method == http.MethodGet && at == path {
			renewed++
			s.lock(name, "ann", time.Duration(59+renewed)*time.Minute) // its clock is behind
		}
		return 0
	}
	if err := s.Remove(t.Context(), items); err == nil || !strings.Contains(err.Error(), "is locked by ann") || s.Get(path) == nil {
		t.Errorf("%v, the lock is there: %t", err, s.Get(path) != nil)
	}
}

// TestAwaitGone: what is deleted is awaited, and what is restored is not.
func TestAwaitGone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	everything(t, s)
	items := s.removable(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if err := s.AwaitGone(ctx, items); err == nil || !strings.Contains(err.Error(), "wait until configmap/kubectl-etcd-gone in namespace team is gone") {
		t.Errorf("%v", err)
	}
	for _, path := range all {
		s.Cluster.Remove(path)
	}
	if err := s.AwaitGone(t.Context(), items); err != nil {
		t.Error(err)
	}
	s.journal("gone", goneJournal)
	operatetest.Field(s.Get(all[0]), "metadata")["uid"] = "another"
	if err := s.AwaitGone(t.Context(), items); err != nil {
		t.Error(err)
	}
}
