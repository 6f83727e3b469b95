// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// TestRestoreLost has a row per revision of the members beside that of the snapshot, which is 500.
func TestRestoreLost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		newest int64
		saved  bool
		want   string
	}{
		{0, false, "no member answered, so it is not known what was written after the snapshot"},
		{500, false, "they have nothing that is newer than the snapshot"},
		{501, false, "1 revision after the snapshot is lost"},
		{540, false, "40 revisions after the snapshot are lost"},
		{499, false, "they lag, or the cluster lost its data and started again. What it has written since is lost, and it is not known how much that is"},
		{499, true, "they have nothing that is newer than the snapshot"},
	} {
		r := plainRestore()
		r.Newest, r.Snapshot.Revision, r.Saved, r.Led = row.newest, 500, row.saved, true
		if got := r.lost(); !strings.Contains(got, row.want) || strings.Contains(got, "only main-") {
			t.Errorf("%d, saved %t: %s", row.newest, row.saved, got)
		}
	}
	split := plainRestore()
	split.Newest, split.Split = 540, true
	if got := split.lost(); !strings.Contains(got, "several etcd clusters") || !strings.Contains(got, "not known what is lost") {
		t.Errorf("several clusters: %s", got)
	}
}

// TestRestoreLostUnanswered: members that don't answer may have writes that the others lack, unless these follow a
// leader.
func TestRestoreLostUnanswered(t *testing.T) {
	t.Parallel()
	const only = "What only main-1 and main-2 had is also lost, and it is not known what that is"
	for _, row := range []struct {
		leader   uint64
		revision int64
		want     []string
	}{
		{leader: 7, revision: 500, want: []string{"the members reported revision 500: they have nothing that is newer"}},
		{revision: 500, want: []string{"the members that answered reported revision 500: they have nothing that is newer", only}},
		{revision: 502, want: []string{"the members that answered reported revision 502: 2 revisions after the snapshot are lost", only}},
	} {
		r := plainRestore()
		r.Snapshot.Revision = 500
		survey := etcd.Survey{Members: []etcd.Member{{Pod: "main-0"}, {Pod: "main-1", Err: errors.New("refused")}, {Pod: "main-2", Err: errors.New("refused")}}}
		survey.Members[0].Revision, survey.Members[0].LeaderID = row.revision, row.leader
		r.SetSurvey(survey, false)
		for _, want := range row.want {
			if got := r.lost(); !strings.Contains(got, want) || strings.Contains(got, only) != (row.leader == 0) {
				t.Errorf("led by %d: %s", row.leader, got)
			}
		}
	}
}

// TestRestoreEndedLost: the end has what is lost, also of a command that continues, whose members have the restored data.
func TestRestoreEndedLost(t *testing.T) {
	t.Parallel()
	const lost = "before the restore, the members reported revision 102: 2 revisions after the snapshot are lost"
	began := plainRestore()
	began.Newest, began.Led = 102, true
	if got := began.Ended(); !strings.HasPrefix(got, lost+"; the old data is in ") {
		t.Errorf("without an interruption: %s", got)
	}
	text, err := json.Marshal(NewRecord(began))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ record, want string }{
		"continued":             {string(text), lost},
		"of an earlier version": {"{}", "before the restore, no record was made of what is lost"},
		"written by another":    {`{"loss":"al\u001b[2Jl\nmore"}`, "before the restore, al"},
	} {
		rec := &progress.Record{}
		if err := json.Unmarshal([]byte(row.record), rec); err != nil {
			t.Fatal(err)
		}
		r := plainRestore()
		r.Newest, r.Loss = 1_000_000_102, recordedLoss(rec)
		if got := r.Ended(); !strings.HasPrefix(got, row.want) || strings.ContainsAny(got, "\x1b\n") {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
		if facts := strings.Join(r.ProposeRest(rec, nil, false).Facts, "\n"); !strings.Contains(facts, row.want) {
			t.Errorf("%s: the plan lacks %q:\n%s", name, row.want, facts)
		}
	}
	druid := druidRestore()
	if got := druid.Ended(); !strings.HasPrefix(got, "before the restore, no member answered") {
		t.Errorf("druid: %s", got)
	}
}

// TestUndoneLost: the end of an undoing has what clients have lost by it.
func TestUndoneLost(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	all := r.steps()
	for done, s := range all[:len(all)-1] {
		rec := &progress.Record{Done: done}
		const lost = "What clients have written to it since is not in the old data"
		if got := r.Undone(rec); strings.Contains(got, lost) != slices.Contains(r.begun(rec), started) || strings.HasSuffix(got, ".") {
			t.Errorf("before %q: %s", s.Title, got)
		}
	}
}

// TestLostToBackup: the loss of a recovery has the backup that has more than the survivor, also after an interruption.
func TestLostToBackup(t *testing.T) {
	t.Parallel()
	r := changed(plainRestore(), func(r *Plan) {
		r.Saved, r.Survivor, r.Snapshot.Revision, r.Newest, r.Backup = true, "main-2", 4000, 4000, 5000
	})
	const want = "The backups have revision 5000: what only they have is not restored"
	rec := NewRecord(r)
	if !strings.Contains(r.lost(), want) || !strings.Contains(recordedLoss(rec), want) || rec.Backup != 5000 {
		t.Errorf("the loss is %q, recorded as %q, with a backup of %d", r.lost(), recordedLoss(rec), rec.Backup)
	}
}
