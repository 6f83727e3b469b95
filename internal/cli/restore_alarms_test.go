// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// TestRestoreAlarms: a restore is no success while an alarm is in force, and the command that it names ends the alarm.
func TestRestoreAlarms(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	noSpace, corrupt := &pb.AlarmMember{MemberID: 77, Alarm: pb.AlarmType_NOSPACE}, &pb.AlarmMember{MemberID: 77, Alarm: pb.AlarmType_CORRUPT}
	for _, row := range []struct {
		name   string
		alarms []*pb.AlarmMember
		size   int64 // of each database, 0 for little
		code   int
		want   string
		next   verb
	}{
		{name: "none"},
		{name: "room", alarms: []*pb.AlarmMember{noSpace}, want: "alarm NOSPACE of member 000000000000004d (no longer in the member list) is disarmed"},
		{name: "full", alarms: []*pb.AlarmMember{noSpace}, size: 2 << 30, code: 3, want: "unhealthy: the snapshot is restored into StatefulSet team/main, and alarm NOSPACE is in force", next: verb{path: "defrag", args: "statefulset/main"}},
		{name: "corrupt", alarms: []*pb.AlarmMember{corrupt}, code: 3, want: "unhealthy: the snapshot is restored into StatefulSet team/main, and alarm CORRUPT is in force", next: verb{path: "alarm disarm", args: "statefulset/main"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, restore)
			w.Etcd.Alarms = row.alarms
			if row.size > 0 {
				w.Etcd.Size = row.size
			}
			// All steps are done, and the command was interrupted before its end.
			w.unfinishedCut("snapshot restore", fmt.Sprintf(`{"sha256":"%x","at":"2026-01-01T00:00:00Z","size":3,"replicas":3,"done":99}`, sha256.Sum256(w.Etcd.Database)))
			code := w.run(t.Context(), restore, "-y", "--bump-revision", "0")
			if text := w.err.String(); code != row.code || !strings.Contains(text, row.want) || w.Get("/api/v1/namespaces/team/configmaps/kubectl-etcd-main") != nil {
				t.Fatalf("exit code %d, want %d with %q:\n%s", code, row.code, row.want, text)
			}
			if row.code == 0 {
				if len(w.Etcd.Alarms) > 0 {
					t.Errorf("%v is in force", w.Etcd.Alarms)
				}
				return
			}
			next := row.next.path + " " + row.next.args
			if text := w.err.String(); !strings.Contains(text, " -n team "+next) {
				t.Errorf("no %q in %s", next, text)
			}
			if code := w.run(t.Context(), row.next, "-y"); code != 0 || len(w.Etcd.Alarms) > 0 {
				t.Errorf("%s: exit code %d, and %v is in force:\n%s", next, code, w.Etcd.Alarms, &w.err)
			}
		})
	}
}
