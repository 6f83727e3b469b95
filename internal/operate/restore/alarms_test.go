// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// TestWarnOfAlarms: a plan shows the alarms of its snapshot, and the printed commands disarm NOSPACE alone.
func TestWarnOfAlarms(t *testing.T) {
	t.Parallel()
	const disarm = "kubectl etcd -n team alarm disarm statefulset/main -y"
	for _, row := range []struct {
		alarms string
		want   []string
		disarm bool
	}{
		{alarms: ""},
		{alarms: "NOSPACE", want: []string{"the alarm NOSPACE: its cluster was out of space", "until you run kubectl etcd -n team defrag statefulset/main"}, disarm: true},
		{alarms: "CORRUPT", want: []string{"the alarm CORRUPT: the data of its members differed", "until you run kubectl etcd -n team alarm disarm statefulset/main"}},
		{alarms: "CORRUPT NOSPACE", want: []string{"the alarm CORRUPT", "the alarm NOSPACE"}},
		{alarms: "3", want: []string{"the snapshot has the alarm 3, and the restored cluster has it, too"}},
	} {
		for _, r := range []Plan{plainRestore(), druidRestore()} {
			r.Snapshot.Alarms = strings.Fields(row.alarms)
			steps, warnings, err := Steps(r)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(strings.Join(warnings, "\n"), r.Target(), "statefulset/main")
			for _, want := range row.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q in %s", row.alarms, want, text)
				}
			}
			if strings.Contains(text, "the alarm") != (row.alarms != "") {
				t.Errorf("%s: %s", row.alarms, text)
			}
			var commands strings.Builder
			for _, s := range steps {
				for _, c := range s.Commands(r.Flags) {
					commands.WriteString(strings.ReplaceAll(c, r.Target(), "statefulset/main") + "\n")
				}
			}
			if strings.Contains(commands.String(), disarm) != row.disarm {
				t.Errorf("%s: %s", row.alarms, &commands)
			}
		}
	}
}

// TestStartWithAlarms: members that may not be ready before NOSPACE is disarmed are awaited by what they answer, and then
// until they are ready. With CORRUPT the start still waits until they are ready, and explains why they may never be.
func TestStartWithAlarms(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		alarms              string
		oneByOne            bool
		start, check, cause string
	}{
		{start: "Wait=3", check: "Agree"},
		{oneByOne: true, start: "Wait Wait", check: "Agree"},
		{alarms: "NOSPACE", start: "Wait Running", check: "Agree unready, AwaitReady=3"},
		{alarms: "NOSPACE", oneByOne: true, start: "Wait Running", check: "Agree unready, AwaitReady=1"},
		{alarms: "CORRUPT", start: "Explained=3", check: "Agree", cause: "the snapshot has the alarm CORRUPT"},
		{alarms: "CORRUPT", oneByOne: true, start: "Wait Explained", check: "Agree", cause: "kubectl etcd -n team alarm disarm statefulset/main"},
		{alarms: "CORRUPT NOSPACE", start: "Explained=3", check: "Agree", cause: "fails while the alarm is in force"},
	} {
		r := plainRestore()
		r.Snapshot.Alarms, r.OneByOne = strings.Fields(row.alarms), row.oneByOne
		steps, _, err := Steps(r)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == started })
		start, cause := waits(steps[at].Acts[1:])
		check, _ := waits(steps[at+1].Acts)
		if start != row.start || check != row.check || !strings.Contains(cause, row.cause) || cause != "" && row.cause == "" {
			t.Errorf("%q, one by one %t: %q, then %q, %q", row.alarms, row.oneByOne, start, check, cause)
		}
	}
	r := druidRestore()
	r.Snapshot.Alarms = []string{maintenance.NoSpace}
	steps, _, err := Steps(r)
	if err != nil || slices.ContainsFunc(steps, func(s step.Step) bool { all, _ := waits(s.Acts); return strings.Contains(all, "nready") }) {
		t.Errorf("%v: the probes of druid don't ask for alarms", err)
	}
}

// waits describes what actions wait for, and returns the cause that one of them has.
func waits(acts []step.Action) (text, cause string) {
	var out []string
	number := func(w step.Wait) string {
		if of := w.For.String(); strings.Contains(of, "readyReplicas") {
			return of[strings.LastIndex(of, "="):]
		}
		return ""
	}
	for _, a := range acts {
		switch a := a.(type) {
		case step.Wait:
			kind := "Wait" + number(a)
			if strings.HasSuffix(a.For.String(), "=Running") {
				kind = "Running"
			}
			out = append(out, kind)
		case step.Explained:
			wait, _ := a.Action.(step.Wait)
			out, cause = append(out, "Explained"+number(wait)), a.Cause
		case step.AwaitReady:
			return strings.Join(out, " ") + ", AwaitReady" + number(a.Wait), cause
		case step.Agree:
			kind := "Agree"
			if a.Unready {
				kind += " unready"
			}
			out = append(out, kind)
		}
	}
	return strings.Join(out, " "), cause
}

// TestUnready: no alarm but CORRUPT ends a restore before clients are let in.
func TestUnready(t *testing.T) {
	t.Parallel()
	noSpace, corrupt := etcd.Alarm{Type: maintenance.NoSpace}, etcd.Alarm{Type: maintenance.Corrupt}
	for _, row := range []struct {
		alarms    []etcd.Alarm
		why, ends string
	}{
		{},
		{alarms: []etcd.Alarm{noSpace}, why: "alarm NOSPACE is in force"},
		{alarms: []etcd.Alarm{corrupt}, ends: "alarm CORRUPT is in force"},
		{alarms: []etcd.Alarm{noSpace, corrupt}, ends: "the alarms CORRUPT and NOSPACE are in force"},
	} {
		why, err := plainRestore().Unready(row.alarms, policy.Refuse(maintenance.DatabaseFull, "main-0 is full"))
		if !strings.HasPrefix(why, row.why) || (why == "") != (row.why == "") || (err == nil) != (row.ends == "") || err != nil && (!strings.HasPrefix(err.Error(), row.ends) || !operate.Permanent(err)) {
			t.Errorf("%v: %q, %v", row.alarms, why, err)
		}
	}
}

// TestInForce: an alarm that stays in force is reported with the command that ends it, and with what is left to do.
func TestInForce(t *testing.T) {
	t.Parallel()
	noSpace, corrupt := etcd.Alarm{MemberID: 7, Type: maintenance.NoSpace, Gone: true}, etcd.Alarm{MemberID: 8, Type: maintenance.Corrupt}
	full := policy.Refuse(maintenance.DatabaseFull, "main-0 is full")
	for _, row := range []struct {
		alarms   []etcd.Alarm
		room     policy.Verdict
		oneByOne bool
		want     string
	}{
		{},
		{oneByOne: true},
		{alarms: []etcd.Alarm{noSpace}, room: full, want: "alarm NOSPACE is in force: the cluster refuses all writes: main-0 is full. This compacts and defragments the databases, and disarms the alarm if there is room: kubectl etcd -n team defrag statefulset/main"},
		{alarms: []etcd.Alarm{noSpace, noSpace}, room: policy.Allow(maintenance.SpaceFree, ""), want: "alarm NOSPACE is in force: the cluster refuses all writes: the alarm was raised again after it was disarmed. This compacts and defragments the databases, and disarms it if there is room: kubectl etcd -n team defrag statefulset/main"},
		{alarms: []etcd.Alarm{noSpace}, room: full, oneByOne: true, want: "alarm NOSPACE is in force: the cluster refuses all writes: main-0 is full. This compacts and defragments the databases, and disarms the alarm if there is room: kubectl etcd -n team defrag statefulset/main; then kubectl etcd -n team scale statefulset/main --replicas 3 -y"},
		{alarms: []etcd.Alarm{corrupt}, want: "alarm CORRUPT is in force: the cluster refuses all writes. Check first that the snapshot has the right data. This compares the data of the members and disarms the alarm: kubectl etcd -n team alarm disarm statefulset/main"},
		{alarms: []etcd.Alarm{noSpace, corrupt}, room: full, want: "the alarms CORRUPT and NOSPACE are in force: the cluster refuses all writes. Check first that the snapshot has the right data. This compares the data of the members and disarms the alarm: kubectl etcd -n team alarm disarm statefulset/main"},
		{alarms: []etcd.Alarm{{Type: "3"}}, want: "alarm 3 is in force: to show it: kubectl etcd -n team alarm list statefulset/main"},
	} {
		r := plainRestore()
		r.OneByOne = row.oneByOne
		steps, _, err := Steps(r)
		if got := r.InForce(row.alarms, row.room, steps); err != nil || got != row.want {
			t.Errorf("%v: %v\n got %s\nwant %s", row.alarms, err, got, row.want)
		}
	}
}
