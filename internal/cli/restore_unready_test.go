// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// unready makes the members' pods unready for as long as etcd has an alarm, as a readiness probe does that asks for it.
func (w *world) unready() {
	ready := func(n int) {
		sts := maps.Clone(w.Get(operatetest.Path("StatefulSet", "main")))
		status := maps.Clone(operatetest.Field(sts, "status"))
		status["readyReplicas"], sts["status"] = n, status
		w.Put(operatetest.Path("StatefulSet", "main"), sts)
	}
	ready(0)
	var once sync.Once
	w.Refuse = func(string, string) int {
		if len(w.Etcd.Alarms) == 0 {
			once.Do(func() { ready(3) })
		}
		return 0
	}
}

// TestRestoreUnready: a restore of a snapshot with NOSPACE goes on although a readiness probe fails under that alarm. With
// CORRUPT it ends before clients are let in, and the command that it names lets it go on.
func TestRestoreUnready(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	noSpace, corrupt := &pb.AlarmMember{MemberID: 77, Alarm: pb.AlarmType_NOSPACE}, &pb.AlarmMember{MemberID: 77, Alarm: pb.AlarmType_CORRUPT}
	for _, row := range []struct {
		name   string
		alarms []*pb.AlarmMember
		size   int64 // of each database, 0 for little
		code   int
		ended  bool
		want   string
	}{
		{name: "room", alarms: []*pb.AlarmMember{noSpace}, ended: true, want: "Check the cluster, and disarm NOSPACE if there is room"},
		{name: "full", alarms: []*pb.AlarmMember{noSpace}, size: 2 << 30, code: 3, ended: true, want: "This step does not wait until the members are ready: alarm NOSPACE is in force"},
		{name: "corrupt", alarms: []*pb.AlarmMember{noSpace, corrupt}, code: 2, want: "stopped: Check the cluster, and disarm NOSPACE if there is room: alarm CORRUPT is in force"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, restore)
			w.Etcd.Database = etcdtest.Database(t, pb.AlarmType_NOSPACE)
			if err := os.WriteFile(filepath.Join(filepath.Dir(w.config), "SNAPSHOT"), w.Etcd.Database, 0o600); err != nil {
				t.Fatal(err)
			}
			if w.Etcd.Alarms = row.alarms; row.size > 0 {
				w.Etcd.Size = row.size
			}
			w.unready()
			operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "metadata")["annotations"] = apitest.Object{v1alpha1.RestoreAnnotation: "2026-01-01T00:00:00Z 3"}
			w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":3,"replicas":3,"loss":"2 revisions are lost","done":%d}`, sha256.Sum256(w.Etcd.Database), beforeStart))
			code := w.run(t.Context(), restore, "-y", "--bump-revision", "0")
			text, ended := w.err.String(), w.Get("/api/v1/namespaces/team/configmaps/kubectl-etcd-main") == nil
			if code != row.code || ended != row.ended || !strings.Contains(text, row.want) || !strings.Contains(text, "Start all members") {
				t.Fatalf("exit code %d, want %d, ended %t, with %q:\n%s", code, row.code, ended, row.want, text)
			}
			if lost := "before the restore, 2 revisions are lost; the old data is in"; strings.Contains(w.out.String(), lost) != row.ended {
				t.Errorf("ended %t, with %q:\n%s", row.ended, lost, &w.out)
			}
			if row.ended {
				return
			}
			w.Etcd.Alarms = slices.DeleteFunc(w.Etcd.Alarms, func(a *pb.AlarmMember) bool { return a.Alarm == pb.AlarmType_NOSPACE })
			if code := w.run(t.Context(), verb{path: "alarm disarm", args: "statefulset/main"}, "-y"); code != 0 {
				t.Fatalf("alarm disarm: exit code %d:\n%s", code, &w.err)
			}
			if code := w.run(t.Context(), restore, "-y", "--bump-revision", "0"); code != 0 {
				t.Errorf("the same command again: exit code %d:\n%s", code, &w.err)
			}
		})
	}
}

// beforeStart is how many steps of a restore into a StatefulSet come before the start of its members, if no member
// answered.
const beforeStart = 9

// TestRestoreOrderedUnready: members that start one after the other, and that are ready without a quorum but not under
// NOSPACE, are restored as one: no quorum of them would run that can disarm it. A restore that an earlier version began
// goes on with its own steps.
func TestRestoreOrderedUnready(t *testing.T) {
	t.Parallel()
	const one, all = "Start the first member, as a cluster of one", "Start all members"
	for _, row := range []struct {
		name, probe, record string
		alarms              []pb.AlarmType
		want                string
	}{
		{name: "no alarm", probe: "/health?serializable=true", want: all},
		{name: "an alarm", probe: "/health?serializable=true", alarms: []pb.AlarmType{pb.AlarmType_NOSPACE}, want: one},
		{name: "a probe without it", probe: "/health?serializable=true&exclude=NOSPACE", alarms: []pb.AlarmType{pb.AlarmType_NOSPACE}, want: all},
		{name: "continued", probe: "/health?serializable=true", record: `,"oneByOne":true`, alarms: []pb.AlarmType{pb.AlarmType_NOSPACE}, want: one},
		{name: "continued, of an earlier version", probe: "/health?serializable=true", record: " ", alarms: []pb.AlarmType{pb.AlarmType_NOSPACE}, want: all},
	} {
		w := newWorld(t, verb{args: "ETCDUTL"})
		w.Etcd.Database = etcdtest.Database(t, row.alarms...)
		if err := os.WriteFile(filepath.Join(filepath.Dir(w.config), "SNAPSHOT"), w.Etcd.Database, 0o600); err != nil {
			t.Fatal(err)
		}
		spec := operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "spec")
		spec["podManagementPolicy"] = "OrderedReady"
		containers, _ := operatetest.Field(spec, "template", "spec")["containers"].([]any)
		container, _ := containers[0].(apitest.Object)
		container["readinessProbe"] = apitest.Object{"httpGet": apitest.Object{"path": row.probe, "port": 2381}}
		if row.record != "" {
			w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":3,"replicas":3,"led":true,"answers":true,"done":2%s}`, sha256.Sum256(w.Etcd.Database), row.record))
		}
		code := w.run(t.Context(), verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}, "--dry-run=client")
		if text := w.err.String(); code != 0 || strings.Contains(text, one) != (row.want == one) || strings.Contains(text, all) != (row.want == all) {
			t.Errorf("%s: exit code %d, want %q:\n%s", row.name, code, row.want, text)
		}
	}
}
