// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// cure is the command that the cure of a reason names.
type cure struct {
	reason policy.Reason
	// named is what the cure has of the command.
	named, path, args string
	set               func(*world)
}

// cures has, for each reason at which a change of members stops, the command that its cure names.
var cures = []cure{
	{membership.MemberWithoutOrdinal, "kubectl etcd member remove NAME MEMBER", "member remove", "statefulset/main 9 -y", func(w *world) {
		w.Etcd.Members = append(w.Etcd.Members, &pb.Member{ID: 9, Name: "old", PeerURLs: []string{"http://old.example.com:2380"}, IsLearner: true})
	}},
	{membership.MemberGap, "undo that change with --abort", "scale", "statefulset/main --abort --dry-run=client", nil},
	{policy.LearnerPresent, "undo that change with --abort", "scale", "statefulset/main --abort --dry-run=client", (*world).learner},
}

// TestCuresOfStops: a change of members that stopped does not block the command that cures it.
func TestCuresOfStops(t *testing.T) {
	t.Parallel()
	for _, c := range cures {
		t.Run(c.reason.Name(), func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(c.reason.Cure(), c.named) {
				t.Errorf("the cure does not name %q: %s", c.named, c.reason.Cure())
			}
			w := newWorld(t, verb{set: c.set})
			w.unfinished()
			if code := w.run(t.Context(), verb{path: c.path, args: c.args}); code != 0 {
				t.Errorf("exit code %d:\n%s", code, &w.err)
			}
		})
	}
}

// TestCuresOfStopsComplete: the table has each reason at which the rules stop a change, and no other. A journal of
// another version has no command as its cure.
func TestCuresOfStopsComplete(t *testing.T) {
	t.Parallel()
	stops := membership.Stops()
	for _, reason := range stops {
		if reason != membership.UnknownOperation && !slices.ContainsFunc(cures, func(c cure) bool { return c.reason == reason }) {
			t.Errorf("a change of members stops at %s, which cures lacks", reason.Name())
		}
	}
	for _, c := range cures {
		if !slices.Contains(stops, c.reason) {
			t.Errorf("cures has %s, at which no change of members stops", c.reason.Name())
		}
	}
}

// TestCutOfUnfinished: while an operation is unfinished that cut client traffic, the cut ends with it only. Clients would
// reach members without data.
func TestCutOfUnfinished(t *testing.T) {
	t.Parallel()
	const restore = "kubectl etcd snapshot restore"
	for name, row := range map[string]struct {
		kind, payload string
		open, running bool
		code          int
		want          []string
	}{
		"restore":                                {kind: "snapshot restore", payload: "{}", code: 2, want: []string{"continue it with " + restore + " FILE statefulset/main -n team", restore + " statefulset/main --abort -n team"}},
		"restore that runs":                      {kind: "snapshot restore", payload: "{}", running: true, code: 2, want: []string{"cat@desk is running kubectl etcd snapshot restore, so wait until it ends; if that process no longer exists, continue it with " + restore}},
		"restore, and no cut":                    {kind: "snapshot restore", payload: "{}", open: true, want: []string{"is not cut"}},
		"coordinated restart":                    {kind: "restart", payload: `{"strategy":"coordinated"}`, code: 2, want: []string{"kubectl etcd restart statefulset/main --strategy coordinated -n team", "--abort"}},
		"restart of a strategy that is not read": {kind: "restart", payload: `[]`, code: 2, want: []string{"kubectl etcd restart statefulset/main"}},
		"rolling restart":                        {kind: "restart", payload: `{"strategy":"rolling"}`, want: []string{"is restored"}},
		"scale":                                  {kind: "scale", payload: `{"Operation":"ScaleOut","Target":4,"Replicas":3}`, want: []string{"is restored"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verb{path: "restore-client-traffic", args: "statefulset/main"}
			if !row.open {
				v.set = (*world).cut
			}
			w := newWorld(t, v)
			w.unfinishedCut(row.kind, row.payload)
			if row.running {
				w.held()
			}
			if code := w.run(t.Context(), v, "-y", "--wait=false"); code != row.code || isCut(w) != (row.code != 0) {
				t.Errorf("exit code %d, cut %t:\n%s", code, isCut(w), &w.err)
			}
			text := regexp.MustCompile(` --kubeconfig \S+ --server \S+`).ReplaceAllString(w.err.String(), "")
			for _, want := range row.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %s", want, &w.err)
				}
			}
		})
	}
}
