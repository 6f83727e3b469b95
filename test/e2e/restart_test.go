// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginRestart restarts members of a StatefulSet under load. Killed after each of its steps,
// the same command continues.
func TestPluginRestart(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	writing := startLoad(t, c)
	template := templateOf(t, c)

	refuses(t, []string{"it is not one of its pods: main-0, main-1, main-2"}, "restart", "main", "--member", "main-7", "-n", ns, "-y")
	before := livesOf(t, c)
	_, printed := plugin(t, 0, "restart", "main", "--member", "main-1", "-n", ns, "-y")
	wants(t, printed, "main-1 is evicted")
	restarted(t, c, before, "main-1")

	before = livesOf(t, c)
	leader, _ := leads(t, c)
	_, printed = plugin(t, 0, "restart", "main", "-n", ns, "-y", "--reason", "a test")
	wants(t, printed, "the leadership went from ", "is evicted")
	restarted(t, c, before, "main-0", "main-1", "main-2")
	if last := printed[strings.LastIndex(printed, "✓"):]; !strings.Contains(last, "is evicted") {
		t.Errorf("the last step is %q; the first leader was %s", last, leader)
	}

	before = livesOf(t, c)
	if runs := killRepeatedly(t, c, "restart", "main", "-n", ns, "-y"); runs < 4 {
		t.Errorf("only %d runs: the plugin was not killed often enough", runs)
	}
	restarted(t, c, before, "main-0", "main-1", "main-2")
	abortedRestart(t, c)
	votersAre(t, c, 3)
	if now := templateOf(t, c); now != template {
		t.Errorf("the pod template changed: %s", now)
	}
	writing.check(t)
}

// abortedRestart kills the plugin after its first eviction, and ends the restart.
func abortedRestart(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	before := livesOf(t, c)
	r := startPlugin(t, "restart", "main", "-n", c.Namespace, "-y")
	r.awaitOutput(t, "is evicted")
	_ = r.cmd.Process.Kill()
	r.wait(t)
	unlock(t, c)
	refuses(t, []string{"kubectl etcd restart has been unfinished since", "--abort -n " + c.Namespace}, "defrag", "main", "-n", c.Namespace, "-y")
	_, printed := plugin(t, 0, "restart", "main", "--abort", "-n", c.Namespace, "-y")
	wants(t, printed, "restart no other member")
	eventually(t, "one pod to restart", func(context.Context) (string, bool, error) { // the evicted one may not have ended yet
		changed := 0
		for pod, life := range livesOf(t, c) {
			if life != before[pod] {
				changed++
			}
		}
		if changed > 1 {
			t.Fatalf("%d pods restarted, want 1", changed)
		}
		return fmt.Sprintf("%d pods restarted", changed), changed == 1, nil
	})
}

// restarted requires that exactly these pods are other ones than before, and that the cluster is
// as it was otherwise.
func restarted(t *testing.T, c *clusters.Cluster, before map[string]string, pods ...string) {
	t.Helper()
	now := livesOf(t, c)
	for _, pod := range pods {
		if now[pod] == before[pod] {
			t.Errorf("%s did not restart", pod)
		}
		delete(before, pod)
	}
	for pod, life := range before {
		if now[pod] != life {
			t.Errorf("%s restarted: %s, then %s", pod, life, now[pod])
		}
	}
}

// TestPluginRestartDruid restarts members of an Etcd under load.
func TestPluginRestartDruid(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 3, Druid: clusters.DruidSpec{NoBackups: true}})
	writing := startLoad(t, c)
	before := livesOf(t, c)
	refuses(t, []string{"kubectl etcd scale etcd/main -n " + ns + " --replicas 0; then: "}, "restart", "etcd/main", "--strategy", "coordinated", "-n", ns, "-y")
	_, printed := plugin(t, 0, "restart", "etcd/main", "-n", ns, "-y")
	wants(t, printed, "the leadership went from ", "is evicted")
	restarted(t, c, before, "main-0", "main-1", "main-2")
	before = livesOf(t, c)
	// etcd-druid reports AllMembersReady some time after the last member is back.
	plugin(t, 0, "restart", "etcd/main", "-n", ns, "--dry-run=client")
	killRepeatedly(t, c, "restart", "etcd/main", "-n", ns, "-y")
	restarted(t, c, before, "main-0", "main-1", "main-2")
	votersAre(t, c, 3)
	writing.check(t)
}

// TestPluginRestartKeepsData refuses members whose data goes with their pod.
func TestPluginRestartKeepsData(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 1, Ephemeral: true})
	refuses(t, []string{"the data of main-0 is in emptyDir data, and a new pod would start without it"}, "restart", "main", "-n", ns, "-y")
}
