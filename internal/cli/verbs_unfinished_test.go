// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
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

// TestCuresOfStopsComplete: the table has each reason for which the rules stop a change. A journal of
// another version has no command as its cure.
func TestCuresOfStopsComplete(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../policy/membership/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, stop := range regexp.MustCompile(`\bstop\((?:policy\.)?([A-Z]\w+),`).FindAllSubmatch(text, -1) {
			name := string(stop[1])
			if name != "UnknownOperation" && !slices.ContainsFunc(cures, func(c cure) bool { return c.reason.Name() == name }) {
				t.Errorf("%s stops for %s, which cures lacks", file, name)
			}
		}
	}
}
