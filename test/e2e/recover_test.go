// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// recovering is a cluster with keys, of which each member has all.
func recovering(t *testing.T, c *clusters.Cluster) *restoring {
	t.Helper()
	put(t, c, 20)
	return &restoring{c: c, dir: t.TempDir(), then: contents(t, c), saved: 21}
}

// recover starts kubectl etcd recover in the directory of the survivor's data.
func (r *restoring) recover(t *testing.T, args ...string) *running {
	t.Helper()
	return r.startCommand(t, append([]string{"recover", target(r.c), "-n", r.c.Namespace, "--helper-image", images.Alpine, "-y"}, args...)...)
}

// recovers recovers the cluster.
func (r *restoring) recovers(t *testing.T, args ...string) {
	t.Helper()
	run := r.recover(t, args...)
	if code := run.wait(t); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &run.stdout, &run.stderr)
	}
	t.Logf("%s%s", &run.stdout, &run.stderr)
}

// scaledIn scales a plain cluster in to one member behind etcd's back, and deletes the other volumes.
func scaledIn(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	scale(t, c, 1)
	refuses(t, []string{"voters were scaled away, and the volumes of their pods are there"}, "recover", "main", "-n", c.Namespace, "-y")
	for _, pod := range []string{"main-1", "main-2"} {
		remove(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "data-" + pod}})
	}
}

// wiped deletes the volumes of two members of an Etcd at the same moment: with a quorum, the sidecar of the first
// one would replace its member. The claims are gone when it returns, or new ones have their names.
func wiped(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	old := map[string]types.UID{}
	for _, pod := range []string{"main-1", "main-2"} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "main-" + pod}}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
			t.Fatal(err)
		}
		old[claim.Name] = claim.UID
		remove(t, claim)
	}
	for _, pod := range []string{"main-1", "main-2"} {
		remove(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: pod}})
	}
	eventually(t, "the old claims to be gone", func(ctx context.Context) (string, bool, error) {
		for name, uid := range old {
			var claim corev1.PersistentVolumeClaim
			err := client.IgnoreNotFound(kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &claim))
			if err != nil || claim.UID == uid {
				return "claim " + name + " is there", false, err
			}
		}
		return "", true, nil
	})
	refuses(t, []string{"of 3 voters still answer", "--lost"}, "recover", "main", "-n", c.Namespace, "-y")
}

// TestPluginRecover recovers a cluster that was scaled in behind etcd's back, and whose other volumes were
// deleted. The survivor has everything.
func TestPluginRecover(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	r := recovering(t, start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3}))
	refuses(t, []string{"it is not certain that the quorum is lost: 3 of 3 voters healthy"}, "recover", "main", "-n", ns, "-y")
	scaledIn(t, r.c)
	refuses(t, []string{"main-0 is declared to be lost, and it answers"}, "recover", "main", "--lost", "main-0", "-n", ns, "-y")
	r.recovers(t, "--replicas", "3")
	r.restored(t, 3)
}

// TestPluginRecoverKilled kills the recovery after each of its steps. The same command continues.
func TestPluginRecoverKilled(t *testing.T) {
	operating(t, 3)
	r := recovering(t, start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain, Size: 3}))
	scaledIn(t, r.c)
	r.killedAtEachStep(t, func() *running { return r.recover(t, "--replicas", "3") })
	r.restored(t, 3)
}

// TestPluginRecoverDruid recovers an Etcd of which two members have lost their volumes at once.
func TestPluginRecoverDruid(t *testing.T) {
	operating(t, 3)
	r := recovering(t, start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Druid, Size: 3, TLS: true}))
	before := surveyOf(t, r.c)
	wiped(t, r.c)
	restores(t, r.dir, "3.5") // the release of druid's etcd image
	r.recovers(t, "--lost", "main-1,main-2")
	r.restored(t, 3)
	if after := surveyOf(t, r.c); after == before {
		t.Errorf("the cluster ID is still %s, so the lost members can join", after)
	}
}

// TestPluginRecoverDruidKilled kills the recovery of an Etcd after each of its steps, which are those of a restore
// through the store, too. The same command continues.
func TestPluginRecoverDruidKilled(t *testing.T) {
	operating(t, 3)
	r := recovering(t, start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Druid, Size: 3, TLS: true}))
	wiped(t, r.c)
	restores(t, r.dir, "3.5")
	r.killedAtEachStep(t, func() *running { return r.recover(t, "--lost", "main-1,main-2") })
	r.restored(t, 3)
}
