// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// twoOfFive has five voters, of which two answer and have no leader.
func (w *world) twoOfFive(t *testing.T) {
	t.Helper()
	operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "spec")["replicas"] = 5
	w.Reconcile(t)
	for id := uint64(4); id <= 5; id++ {
		pod := fmt.Sprintf("main-%d", id-1)
		w.Etcd.Members = append(w.Etcd.Members, &pb.Member{ID: id, Name: pod, PeerURLs: []string{"http://" + pod + ".main-peer.team.svc:2380"}})
	}
	w.Etcd.Leader = 0
	w.Etcd.Stop("main-2")
	for _, pod := range []string{"main-2", "main-3", "main-4"} {
		status := operatetest.Field(w.Get(operatetest.Path("Pod", pod)), "status")
		status["conditions"] = []any{apitest.Object{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}}
	}
}

// TestRecoverDifferent: recover doesn't choose between members whose data differs. The user does.
func TestRecoverDifferent(t *testing.T) {
	t.Parallel()
	recovery := verb{path: "recover", args: "statefulset/main --lost main-2,main-3,main-4 --tool ETCDUTL --save-to SURVIVOR"}
	for _, row := range []struct {
		name, odd, flag string
		code            int
		want            []string
	}{
		{name: "equal", want: []string{
			"main-0 has applied most", "main-0 and main-1 have the same data at revision", "What only main-2, main-3 and main-4 had is also lost",
		}},
		{name: "different", odd: "main-1", code: 2, want: []string{"the data of main-0 (hash 2a) and of main-1 (hash 2b) differs at revision", "main-1.db --member main-1"}},
		{name: "chosen", odd: "main-1", flag: "--member=main-1", want: []string{"main-1 is chosen with --member", "Saved and verified the data of main-1", "that of main-1 is restored"}},
		{name: "a lost one is chosen", flag: "--member=main-2", code: 2, want: []string{"main-2 is chosen with --member, and only main-0 and main-1 can provide the data"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, recovery)
			w.twoOfFive(t)
			w.Etcd.Odd = row.odd
			flags := []string{"--dry-run=client"}
			if row.flag != "" {
				flags = append(flags, row.flag)
			}
			if code := w.run(t.Context(), recovery, flags...); code != row.code {
				t.Errorf("exit code %d, want %d", code, row.code)
			}
			text := w.err.String() + w.out.String()
			for _, want := range row.want {
				if !strings.Contains(text, want) {
					t.Errorf("it lacks %q:\n%s", want, text)
				}
			}
		})
	}
}

// cordon has no node accept another pod.
func (w *world) cordon() {
	for _, path := range w.Paths() {
		if node := w.Get(path); node["kind"] == "Node" {
			node["spec"] = apitest.Object{"unschedulable": true}
		}
	}
}

// TestRecoverBelowBackup: recover doesn't restore a member if a backup has more, and saves nothing then. The user may choose
// the member.
func TestRecoverBelowBackup(t *testing.T) {
	t.Parallel()
	recovery := verb{path: "recover", args: "statefulset/main --lost main-2,main-3,main-4 --tool ETCDUTL --save-to SURVIVOR"}
	for _, row := range []struct {
		name, revision, flag string
		code                 int
		want                 string
	}{
		{name: "older", revision: "10", want: "main-0 has applied most"},
		{name: "newer", revision: "5000", code: 2, want: "main-0 has revision 1000, and the backups have revision 5000, by Lease nightly: data that only the backups have would be lost"},
		{name: "newer, and chosen", revision: "5000", flag: "--member=main-0", want: "The backups have revision 5000: what only they have is not restored"},
	} {
		w := newWorld(t, recovery)
		w.twoOfFive(t)
		operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "metadata")["annotations"] = apitest.Object{
			v1alpha1.BackupLeaseAnnotation: "nightly", v1alpha1.BackupMaxAgeAnnotation: "25h",
		}
		w.Put(operatetest.Path("Lease", "nightly"), apitest.Object{
			"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": apitest.Object{"namespace": "team", "name": "nightly"},
			"spec": apitest.Object{"holderIdentity": row.revision, "renewTime": "2026-01-01T00:00:00.000000Z"},
		})
		flags := []string{"--dry-run=client"}
		if row.flag != "" {
			flags = append(flags, row.flag)
		}
		code := w.run(t.Context(), recovery, flags...)
		if code != row.code || !strings.Contains(w.err.String(), row.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", row.name, code, row.code, row.want, &w.err)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(w.config), "SURVIVOR")); os.IsNotExist(err) != (row.code != 0) {
			t.Errorf("%s: the data was saved, or not: %v", row.name, err)
		}
	}
}

// quota has the namespace refuse more pods.
func (w *world) quota() {
	w.Refuse = func(method, path string) int {
		if method == "POST" && strings.HasSuffix(path, "/namespaces/team/pods") {
			return 403
		}
		return 0
	}
}

// TestRecoverSavesNothingInVain: if the recovery would be refused for a reason that is known before, the data of the
// survivor is neither compared nor transferred.
func TestRecoverSavesNothingInVain(t *testing.T) {
	t.Parallel()
	recovery := verb{path: "recover", args: "statefulset/main --lost main-2,main-3,main-4 --tool ETCDUTL --save-to SURVIVOR"}
	for _, row := range []struct {
		name, flag string
		deny       func(verb, resource string) bool
		set        func(*world)
		code       int
		want       string
	}{
		{name: "no terminal", code: 2, want: "To see the plan, add --dry-run=client"},
		{name: "no wait", flag: "-y --wait=false", code: 1, want: "--wait=false is not possible with this command"},
		{name: "no permission of the plan", flag: "-y", deny: func(verb, resource string) bool { return verb == "delete" && resource == "persistentvolumeclaims" }, code: 1, want: `verb "delete" on "persistentvolumeclaims`},
		{name: "no node", flag: "--dry-run=client", set: (*world).cordon, code: 2, want: "The restore stops all members, and"},
		{name: "a quota", flag: "-y", set: (*world).quota, code: 1, want: "create pod main-0-restore: refused by the test"},
		{name: "a tool of another release", flag: "--dry-run=client --tool=/bin/true", code: 2, want: "doesn't show its version"},
		{name: "no permission", flag: "-y", deny: func(verb, resource string) bool { return verb == "patch" && resource == "statefulsets" }, code: 1, want: `verb "patch" on "statefulsets`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, recovery)
			w.twoOfFive(t)
			w.Deny = row.deny
			if row.set != nil {
				row.set(w)
			}
			if code := w.run(t.Context(), recovery, strings.Fields(row.flag)...); code != row.code || !strings.Contains(w.err.String(), row.want) {
				t.Errorf("exit code %d, want %d: %s", code, row.code, w.err.String())
			}
			if strings.Contains(w.err.String(), "Comparing the data") {
				t.Errorf("the data was compared: %s", w.err.String())
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(w.config), "SURVIVOR")); !os.IsNotExist(err) {
				t.Errorf("the data was saved: %v", err)
			}
		})
	}
}
