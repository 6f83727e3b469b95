// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// budgetTimes are the rows of docs/rules/budget.md that take time. Each step is
// a moment, the members, what else is the case, and the minAvailable expected
// with what its budget asks to check again: a=False and b=False are the
// conditions, stale and cut the flags. What a step decides is the next one's
// current value.
var budgetTimes = []struct{ row, steps string }{
	{"B-17 Unknown from the start", "0s vvv b=Unknown 2@5m; 4m59s vvv b=Unknown 2@1s; 5m vvv b=Unknown 2@0s BackupUnknown; 6m vvv b=True 2@0s"},
	{"B-17 Unknown for a moment", "0s vvv b=True 2@0s; 1m vvv b=Unknown 2@5m; 3m vvv b=True 2@0s; 4m vvv b=Unknown 2@5m"},
	{"B-19 no budget yet", "0s vvv 2@0s"},
	{"B-20 a pod becomes unready", "0s vvv 2; 1s vvm 3@0s"},
	{"B-20 backups fail", "0s vvvvv b=True 3; 1s vvvvv b=False 5@59m"},
	{"B-20 a cut", "0s vvv 2; 1s vvv cut 3@0s"},
	{"B-20 a member more is back", "0s vvvxx 3; 1s vvvvx 4@0s"},
	{"B-21 the sick pod's member is known to be down", "0s vvv 2; 1s vvm 3; 2s vvx 2@0s"},
	{"B-21 one more is down", "0s vvvvx 4; 1s vvvxx 3@0s"},
	{"B-21 another pod ends", "0s vvm+ 4; 1s vvm 3@0s"},
	{"B-22 a pod is Ready again", "0s vvm 3; 1s vvv 3@60s; 31s vvv 3@30s; 60s vvv 3@1s; 61s vvv 2@0s"},
	{"B-22 backups are well again", "0s vvv b=False 3@59m; 1m vvv b=True 3@60s; 2m vvv b=True 2@0s"},
	{"B-22 more are down than a budget of old allows for", "0s vvvvx 4; 10s vvvvv 4@60s; 70s vvvvv 3@0s"},
	{"B-23 a pod becomes unready again", "0s vvm 3; 1s vvv 3@60s; 59s vvm 3@0s; 62s vvv 3@60s; 121s vvv 3@1s; 122s vvv 2@0s"},
	{"B-23 the sick pod may go all the same", "0s vvm 3; 1s vvv 3@60s; 59s vvx 2@0s; 60s vvv 2@0s"},
	{"B-24 to the second", "0s vvv b=False 3@59m; 59m vvv b=False 3@60s; 59m59s vvv b=False 3@1s; 1h vvv b=False 2@0s BackupFailingTooLong"},
	{"B-24 not evaluated in time", "0s vvv b=False 3@59m; 1h1s vvv b=False 3@60s BackupFailingTooLong; 1h1m1s vvv b=False 2@0s BackupFailingTooLong"},
	{"B-24 a pod was unready shortly before", "0s vvv b=False 3; 59m vvv b=False 3@60s; 59m30s vvm b=False 3@0s; 59m40s vvv b=False 3@20s; 1h vvv b=False 3@40s BackupFailingTooLong; 1h40s vvv b=False 2@0s BackupFailingTooLong"},
	{"B-24 a member was down shortly before", "0s vvvvx b=False 4; 59m50s vvvvv b=False 5@10s; 1h vvvvv b=False 5@50s BackupFailingTooLong; 1h50s vvvvv b=False 3@0s BackupFailingTooLong"},
	{"B-24 nothing to wait for", "0s vv b=False 2@1h TwoMembers; 59m vv b=False 2@1m TwoMembers; 1h vv b=False 2@0s BackupFailingTooLong TwoMembers"},
	{"B-25 well for a moment", "0s vvv b=False 3@59m; 30m vvv b=True 3@60s; 30m59s vvv b=False 3@28m1s; 59m vvv b=False 3@60s; 1h vvv b=False 2@0s BackupFailingTooLong; 2h vvv b=True 2@60s; 2h59s vvv b=False 2@0s BackupFailingTooLong"},
	{"B-25 a failure while a member is down", "0s vvx b=False 2; 59m vvv b=False 3@60s; 1h vvv b=False 2@0s BackupFailingTooLong"},
	{"B-26 well for the settle time", "0s vvv b=False 3; 1h vvv b=False 3 BackupFailingTooLong; 2h vvv b=False 2@0s BackupFailingTooLong; 3h vvv b=True 2@60s; 3h1m vvv b=True 2@0s; 3h1m1s vvv b=False 3@59m"},
	{"B-27 to the second", "0s ppx stale 3@10m; 9m59s ppx stale 3@1s; 10m ppx stale 2@0s FactsStaleTooLong"},
	{"B-27 fresh for a moment", "0s ppx stale 3@10m; 5m vvx 2@0s; 5m1s ppx stale 3@10m; 15m1s ppx stale 2@0s FactsStaleTooLong"},
	{"B-29 after a failure", "0s vvv b=False 3@59m; 1m vvv b=Unknown 3@5m; 6m vvv b=Unknown 3@60s BackupUnknown; 7m vvv b=Unknown 2@0s BackupUnknown"},
	{"B-29 not beyond the hold", "0s vvv b=False 3@59m; 58m vvv b=Unknown 3@60s; 59m vvv b=Unknown 3@60s; 1h vvv b=Unknown 2@3m BackupFailingTooLong; 1h3m vvv b=Unknown 2@0s BackupUnknown"},
	{"B-29 Unknown is not True", "0s vvv b=False 3; 1m vvv b=True 3@60s; 1m30s vvv b=Unknown 3@5m; 2m vvv b=True 3@60s; 3m vvv b=True 2@0s"},
	{"B-29 and keeps every hold", "0s vvv b=False 3@59m; 1m vvv b=True 3@60s; 1m30s vvv b=Unknown 3@5m; 2m vvv b=True 3@60s; 2m30s vvv b=False 3@56m30s"},
	{"B-31 the author asks for more", "0s vvv floor=3 3@0s; 1h vvv floor=3 3@0s; 2h vvx floor=3 3@0s; 3h vvv 3@60s; 3h1m vvv 2@0s"},
	{"B-31 the author asks for less", "0s vvvvv floor=1 3@0s; 1h vvvvx floor=1 4@0s"},
	{"B-31 the author asks for more after a hold", "0s vvvvv floor=4 b=False 5@59m; 1h vvvvv floor=4 b=False 5@60s BackupFailingTooLong; 1h1m vvvvv floor=4 b=False 4@0s BackupFailingTooLong"},
	{"B-31 one member", "0s v floor=1 1@0s; 1m v 0@0s"},
	{"B-32 nothing becomes looser", "0s vvv 2; 1s vvm hold 3@0s; 1m vvv hold 3@0s; 1h vvx hold 3@0s; 2h vvv 3@60s; 2h1m vvv 2@0s"},
	{"B-46 nothing becomes looser", "0s vvp 3; 1s vvv unconfirmed 3@0s; 2m vvv 3@60s; 3m vvv 2@0s"},
	{"B-46 it becomes stricter", "0s vvv 2; 1s vvm unconfirmed 3@0s; 2s vvp unconfirmed 3@0s"},
	{"B-46 a running wait goes on", "0s vvm 3; 1s vvv 3@60s; 31s vvv unconfirmed 3@0s; 61s vvv 2@0s"},
	{"B-46 a single member is left", "0s vvv 2; 1s v unconfirmed 2@0s; 2s v 0@0s"},
	{"B-32 a hold has no end", "0s vvv hold b=False 3; 1h vvv hold b=False 3@0s BackupFailingTooLong; 9h vvv hold b=True 3"},
	{"B-47 a third joins", "0s vv 2 TwoMembers; 1s vvx 2@0s; 2s vvj joined=1s 3@59s; 32s vvj joined=31s 3@29s; 62s vvj joined=61s 2@0s"},
	{"B-47 a fifth joined while no controller ran", "0s vvvv 3 EvenSize; 1h vvvvj joined=20s 4@40s; 1h40s vvvvj joined=1m 4@20s; 1h1m vvvvj joined=80s 3@0s"},
	{"B-47 it is down again", "0s vvj 3@60s; 30s vvx 2@0s; 40s vvj 3@60s; 100s vvj joined=1m 2@0s"},
	{"B-32 one member is left", "0s vvv 2; 1h v hold 2@0s; 2h v 0@0s"},
}

func TestBudgetTimes(t *testing.T) {
	t.Parallel()
	for _, r := range budgetTimes {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			f := Facts{Current: -1}
			for step := range strings.SplitSeq(r.steps, "; ") {
				want, recheck, notes := parseStep(t, step, &f)
				v := Evaluate(f, settings)
				if v.MinAvailable != want || recheck >= 0 && v.Recheck != recheck || policytest.ReasonsOf(v.Notes) != notes {
					t.Fatalf("%s: got %d@%s %s (%s), want %d@%s %s", step, v.MinAvailable, v.Recheck, policytest.ReasonsOf(v.Notes), v.Message, want, recheck, notes)
				}
				f.Current, f.State = v.MinAvailable, v.State
			}
		})
	}
}

// parseStep reads one step into f. A recheck of -1 stands for any.
func parseStep(t *testing.T, step string, f *Facts) (want int, recheck time.Duration, notes string) {
	t.Helper()
	duration := func(s string) time.Duration {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	fields := strings.Fields(step)
	f.Now = start.Add(duration(fields[0]))
	f.Cluster, f.Hold, f.Unconfirmed, f.Floor = policytest.ClusterOf(fields[1]), false, false, 0
	recheck = -1
	for i, word := range fields[2:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "a":
			f.Cluster.AllMembersReady.Status = policy.Status(value)
		case "b":
			f.Cluster.BackupReady.Status = policy.Status(value)
		case "stale":
			f.Cluster.Stale = true
		case "cut":
			f.Cluster.TrafficCut = true
		case "hold":
			f.Hold = true
		case "unconfirmed":
			f.Unconfirmed = true
		case "joined":
			f.Cluster.Members[len(f.Cluster.Members)-1].ReadyFor = duration(value)
		case "floor":
			f.Floor, _ = strconv.Atoi(value)
		default:
			n, at, _ := strings.Cut(word, "@")
			want, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			if at != "" {
				recheck = duration(at)
			}
			return want, recheck, strings.Join(fields[i+3:], " ")
		}
	}
	t.Fatalf("no expectation in %q", step)
	return 0, 0, ""
}

func TestBudgetTimesToCome(t *testing.T) {
	t.Parallel()
	// B-30: another replica's clock was ahead by an hour.
	ahead := start.Add(time.Hour)
	f := Facts{Cluster: policytest.ClusterOf("vvv"), Current: 3, Now: start, State: State{LooserSince: ahead}}
	if v := Evaluate(f, settings); v.MinAvailable != 3 || v.Recheck != time.Minute || !v.State.LooserSince.Equal(start) {
		t.Errorf("settle: got %d@%s since %s, want 3@1m0s since now", v.MinAvailable, v.Recheck, v.State.LooserSince)
	}
	f.Cluster.BackupReady.Status = policy.False
	f.State = State{HoldSince: ahead}
	if v := Evaluate(f, settings); v.MinAvailable != 3 || v.Recheck != 59*time.Minute || !v.State.HoldSince.Equal(start) {
		t.Errorf("hold: got %d@%s since %s, want 3@59m0s since now", v.MinAvailable, v.Recheck, v.State.HoldSince)
	}
}

// TestTakeOver checks that a budget that replaces another one continues the clocks of that, if its own don't
// run, and that since when less is due is known from the budget with the higher number.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	other := State{LooserSince: at(1), HoldSince: at(2), BackupTrueSince: at(3), BackupUnknownSince: at(4), StaleSince: at(5)}
	own := State{LooserSince: at(11), HoldSince: at(12), BackupUnknownSince: at(14), StaleSince: at(15)}
	if got := (State{}).TakeOver(other, true); got != other {
		t.Errorf("a new budget has %+v, want %+v", got, other)
	}
	if got := own.TakeOver(other, false); got != own {
		t.Errorf("a budget with clocks has %+v, want %+v", got, own)
	}
	if got := own.TakeOver(State{}, true); !got.LooserSince.IsZero() || got.HoldSince != own.HoldSince {
		t.Errorf("under a higher number that is due, it has %+v", got)
	}
}
