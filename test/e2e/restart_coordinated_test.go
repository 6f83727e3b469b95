// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"maps"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginRestartCoordinated stops all members at once under load. Killed after each of its steps,
// the same command continues, and --abort brings the members back. Every key that was acknowledged
// before stays, and so do the IDs.
func TestPluginRestartCoordinated(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	command := []string{"restart", "statefulset/main", "--strategy", "coordinated", "-n", ns}
	writing := startLoad(t, c)
	before, ids := livesOf(t, c), idsOf(t, c)
	writing.await(t, 300)

	_, printed := plugin(t, 0, append(command, "-y")...)
	wants(t, printed, "the replicas of StatefulSet main are 0", "all members have stopped", "the replicas of StatefulSet main are 3")
	restarted(t, c, before, "main-0", "main-1", "main-2")
	asBeforeRestart(t, c)

	before = livesOf(t, c)
	killRepeatedly(t, c, append(command, "-y")...)
	restarted(t, c, before, "main-0", "main-1", "main-2")
	asBeforeRestart(t, c)

	r := startPlugin(t, append(command, "-y")...)
	r.awaitOutput(t, "the replicas of StatefulSet main are 0")
	_ = r.cmd.Process.Kill()
	r.wait(t)
	unlock(t, c)
	plugin(t, 0, "restart", "statefulset/main", "--abort", "-n", ns, "-y")
	asBeforeRestart(t, c)
	votersAre(t, c, 3)
	if now := idsOf(t, c); !maps.Equal(now, ids) {
		t.Errorf("the IDs are %v, and were %v", now, ids)
	}
	writing.kept(t)
}

// asBeforeRestart requires that nothing of a coordinated restart is left.
func asBeforeRestart(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	sts, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sts.Spec.Replicas == nil || *sts.Spec.Replicas != 3 || sts.Annotations[v1alpha1.RestartAnnotation] != "" {
		t.Errorf("replicas %v, annotations %v", sts.Spec.Replicas, sts.Annotations)
	}
	if s := clientService(t, c); s.Spec.Selector[v1alpha1.ClientTrafficKey] != "" {
		t.Errorf("Service %s is cut: %v", s.Name, s.Spec.Selector)
	}
}

// idsOf returns the IDs of the members by name, and that of the cluster under an empty name.
func idsOf(t *testing.T, c *clusters.Cluster) map[string]uint64 {
	t.Helper()
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ids := map[string]uint64{}
	retry(t, "the member list", func(ctx context.Context) error {
		list, err := conn.MemberList(ctx)
		if err != nil {
			return err
		}
		ids[""] = list.Header.ClusterId
		for _, m := range list.Members {
			ids[m.Name] = m.ID
		}
		return nil
	})
	return ids
}
