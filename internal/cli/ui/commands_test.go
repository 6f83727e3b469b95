// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var given = Given{Context: " --context desk --as ann", Login: " --cert a.crt"}

// TestComplete: + stands for the flags of the context, and # for these and those of the login.
func TestComplete(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"kubectl+ delete pvc data-main-3 -n team", "then kubectl+ scale statefulset/main --replicas 0 -n team.",
		"if it is gone for good: kubectl+ delete node n-1, or kubectl+ delete pod main-1 -n team --force --grace-period=0",
		"To start it: kubectl+ -n etcd-webhook scale deployment/etcd-webhook --replicas 2",
		"shows why (kubectl+ describe statefulset main -n team shows what it waits for)",
		"  fix: kubectl+ patch etcdtopologypolicy x --type=merge -p '{\"spec\":{\"priority\":2}}'",
		"operation=$(kubectl+ get etcd/main -o name)\nkubectl+ delete namespace x",
		"kubectl etcd# status statefulset/main -n team",
		"Find the member with kubectl etcd# check main -n team, and replace it",
		"kubectl etcd# status etcd/main shows the progress",
		"kubectl etcd# member replace statefulset/main main-0 -n team --force; then kubectl etcd# list -A",
		"kubectl etcd# defrag NAME frees space: kubectl etcd# member list NAME; kubectl etcd# webhook status.",
		"kubectl etcd# snapshot save main - -n team",

		// These are no commands.
		"kubectl drain retries by itself", "kubectl logs of its pod", "kubectl scale of an Etcd", "kubectl-etcd.dev/etcd=true", "use kubectl.",
		"kubectl etcd scale removes the last member with its pod and volume, and --force deletes it",
		"kubectl etcd restart has been unfinished since 5m: continue it with kubectl etcd# restart statefulset/main -n team",
		"kubectl etcd scale on StatefulSet team/main (1 pod) is unfinished", "by ann with kubectl etcd: for the move",

		"unknown flag: --replica; see kubectl etcd scale --help", "usage: kubectl etcd scale TARGET --replicas N", "usage: kubectl etcd snapshot status FILE",

		// These are quoted.
		`pod main-0: "run kubectl delete pvc data -n team": kubectl+ describe pod main-0 -n team`,
		`command "kubectl etcd status main -n team" failed`,

		// These have the flags.
		"kubectl delete node n-1 --context desk --as ann", "kubectl --context desk --as ann -n team scale statefulset/main --replicas=0",
		"kubectl etcd --context desk --as ann --cert a.crt status etcd/main", "kubectl etcd check main -n team --context desk --as ann --cert a.crt; more",
		"kubectl+ delete pod a -n team; kubectl delete node b --context desk --as ann",
		"kubectl+ delete node n-1 --context desk --as anna",
	} {
		want := strings.NewReplacer("+", given.Context, "#", given.Context+given.Login).Replace(text)
		bare := strings.NewReplacer("+", "", "#", "").Replace(text)
		if diff := cmp.Diff(want, given.Complete(bare)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if again := given.Complete(want); again != want {
			t.Errorf("completed twice:\n%s", again)
		}
		if got := (Given{}).Complete(bare); got != bare {
			t.Errorf("without flags, %q becomes %q", bare, got)
		}
	}
	login := Given{Login: " --cert a.crt"}
	if got, want := login.Complete("kubectl delete pod a; kubectl etcd list -A"), "kubectl delete pod a; kubectl etcd --cert a.crt list -A"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCompleteGoldens completes all texts that the tests of this program have. testdata/prose.txt
// has the beginnings of what remains: each must be prose.
func TestCompleteGoldens(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"../*/testdata/*.txt", "../*/testdata/*/*.txt", "../../*/testdata/*.txt", "../../*/testdata/*/*.txt", "../../*/*/testdata/*.txt", "../../*/*/testdata/*/*.txt"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	left := regexp.MustCompile(`kubectl( etcd)? [a-z-]+[^ ]*( [^ ]+){0,2}`)
	var prose []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(given.Complete(string(text))) {
			line = strings.NewReplacer("kubectl"+given.Context, "", "kubectl etcd"+given.Context, "").Replace(line)
			prose = append(prose, left.FindAllString(strings.TrimSuffix(line, "\n"), -1)...)
		}
	}
	slices.Sort(prose)
	got := strings.Join(slices.Compact(prose), "\n") + "\n"
	const golden = "testdata/prose.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
