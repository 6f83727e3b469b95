// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// reading are commands that change nothing.
var reading = []verb{
	{path: "status", args: "statefulset/main"},
	{path: "check", args: "statefulset/main"},
	{path: "diagnose", args: "statefulset/main"},
	{path: "alarm list", args: "statefulset/main"},
	{path: "member list", args: "statefulset/main"},
	{path: "list", args: "--all"},
	{path: "webhook status", lockless: true},
	{path: "status", args: "etcd/main", set: (*world).druid},
	{path: "check", args: "etcd/main", set: (*world).druid},
	{path: "diagnose", args: "etcd/main", set: (*world).druid},
	{path: "snapshot list", args: "etcd/main", set: (*world).druid},
	{path: "move-leader", args: "statefulset/main main-1"},
}

// states are what makes commands advise other commands.
var states = map[string]func(*world){
	"healthy":    func(*world) {},
	"unfinished": (*world).unfinished,
	"no quorum":  func(w *world) { w.Etcd.Stop("main-1"); w.Etcd.Stop("main-2") },
	"corrupt":    func(w *world) { w.Etcd.Alarms = []*pb.AlarmMember{{MemberID: 3, Alarm: pb.AlarmType_CORRUPT}} },
	"no pod":     func(w *world) { w.Remove(operatetest.Path("Pod", "main-2")) },
}

// TestGivenFlags: a command that is printed acts on the cluster of the command that prints it, as
// the same user, and logs in to the members in the same way.
func TestGivenFlags(t *testing.T) {
	t.Parallel()
	const config = "apiVersion: v1\nkind: Config\ncurrent-context: other\nusers: [{name: u}]\nclusters: [{name: c, cluster: {server: 'http://c'}}]\n" +
		"contexts: [{name: other, context: {cluster: c, user: u}}, {name: desk, context: {cluster: c, user: u}}]\n"
	var mu sync.Mutex
	seen := map[string]bool{}
	t.Run("verbs", func(t *testing.T) {
		for name, set := range states {
			for _, v := range slices.Concat(verbs, reading) {
				if v.lockless && name != "healthy" {
					continue // there is no cluster
				}
				t.Run(name+"/"+v.name(), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, v)
					if err := os.WriteFile(w.config, []byte(config), 0o600); err != nil {
						t.Fatal(err)
					}
					set(w)
					flags := []string{"--context", "desk", "--server-name", "etcd.team"}
					if slices.ContainsFunc(verbs, func(o verb) bool { return o.path == v.path }) {
						flags = append(flags, "--dry-run=client")
					}
					w.run(t.Context(), v, flags...)
					for _, command := range printedCommands(w.out.String() + w.err.String()) {
						wantFlags(t, command)
						mu.Lock()
						seen[strings.ReplaceAll(command, w.config, "")] = true
						mu.Unlock()
					}
				})
			}
		}
	})
	if len(seen) < 20 {
		t.Errorf("only %d different commands were printed", len(seen))
	}
}

// printedCommands returns the texts that begin with a command and have a namespace or delete
// something. Others may be prose.
func printedCommands(text string) []string {
	var commands []string
	for line := range strings.Lines(text) {
		for i, command := range strings.Split(line, "kubectl ") {
			if i > 0 && (strings.Contains(command, "-n team") || strings.Contains(command, "delete ")) {
				commands = append(commands, command)
			}
		}
	}
	return commands
}

func wantFlags(t *testing.T, command string) {
	t.Helper()
	login := 0
	if strings.HasPrefix(command, "etcd ") {
		login = 1
		if strings.Contains(command, " main ") {
			t.Errorf("another object may have this name: kubectl %s", command)
		}
	}
	if n := strings.Count(command, "--context desk"); n != 1 {
		t.Errorf("the flags of the context are there %d times: kubectl %s", n, command)
	}
	if n := strings.Count(command, "--server-name etcd.team"); n != login {
		t.Errorf("the flags of the login are there %d times, want %d: kubectl %s", n, login, command)
	}
}
