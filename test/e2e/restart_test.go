// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

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

	refuses(t, []string{"it is none of its pods: main-0, main-1, main-2"}, "restart", "main", "--member", "main-7", "-n", ns, "-y")
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
	refuses(t, []string{"kubectl etcd restart is unfinished since", "--abort -n " + c.Namespace}, "defrag", "main", "-n", c.Namespace, "-y")
	_, printed := plugin(t, 0, "restart", "main", "--abort", "-n", c.Namespace, "-y")
	wants(t, printed, "restart no other member")
	changed := 0
	for pod, life := range livesOf(t, c) {
		if life != before[pod] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d pods restarted, want 1", changed)
	}
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

// TestPluginRestartCoordinated stops all members at once under load. Killed after each of its
// steps, the same command continues.
func TestPluginRestartCoordinated(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	together(t, c, "statefulset/main")
}

// TestPluginRestartCoordinatedDruid stops all members of an Etcd at once.
func TestPluginRestartCoordinatedDruid(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 3, Druid: clusters.DruidSpec{NoBackups: true}})
	together(t, c, "etcd/main")
}

// together restarts a cluster at once, once without a kill. Every key that was acknowledged before
// stays, and so does the cluster ID.
func together(t *testing.T, c *clusters.Cluster, target string) {
	t.Helper()
	writing := startLoad(t, c)
	before, id := livesOf(t, c), clusterIDOf(t, c)
	time.Sleep(5 * time.Second) // some hundreds of keys
	_, printed := plugin(t, 0, "restart", target, "--strategy", "coordinated", "-n", c.Namespace, "-y")
	wants(t, printed, "all members have stopped")
	restarted(t, c, before, "main-0", "main-1", "main-2")
	before = livesOf(t, c)
	plugin(t, 0, "restart", target, "--strategy", "coordinated", "-n", c.Namespace, "--dry-run=client")
	killRepeatedly(t, c, "restart", target, "--strategy", "coordinated", "-n", c.Namespace, "-y")
	restarted(t, c, before, "main-0", "main-1", "main-2")
	votersAre(t, c, 3)
	if now := clusterIDOf(t, c); now != id {
		t.Errorf("the cluster ID is %x, and was %x", now, id)
	}
	writing.kept(t)
}

func clusterIDOf(t *testing.T, c *clusters.Cluster) (id uint64) {
	t.Helper()
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	retry(t, "the member list", func(ctx context.Context) error {
		list, err := conn.MemberList(ctx)
		if err == nil {
			id = list.Header.ClusterId
		}
		return err
	})
	return id
}
