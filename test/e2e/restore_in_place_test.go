// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// restoring is a cluster with a snapshot of its first keys, and more keys after it.
type restoring struct {
	c           *clusters.Cluster
	dir, file   string
	saved       int64
	then, after string
}

func savedBefore(t *testing.T, c *clusters.Cluster) *restoring {
	t.Helper()
	r := &restoring{c: c, dir: t.TempDir()}
	r.file = filepath.Join(r.dir, "main.db")
	put(t, c, 20)
	r.then = contents(t, c)
	r.saved = decode[output.Snapshot](t, first(plugin(t, 0, "snapshot", "save", target(c), r.file, "-n", c.Namespace, "-o", "json"))).Revision
	put(t, c, 40)
	r.after = contents(t, c)
	return r
}

// start starts kubectl etcd snapshot restore in the directory of the snapshot.
func (r *restoring) start(t *testing.T, args ...string) *running {
	t.Helper()
	return r.startCommand(t, append([]string{"snapshot", "restore"}, append(args, target(r.c), "-n", r.c.Namespace, "--helper-image", images.Alpine, "-y")...)...)
}

// startCommand starts a command in the directory of the snapshot, with the tools of etcd in its PATH.
func (r *restoring) startCommand(t *testing.T, args ...string) *running {
	t.Helper()
	cmd := pluginCommand(t, args...)
	cmd.Dir = r.dir
	for i, v := range cmd.Env {
		if path, found := strings.CutPrefix(v, "PATH="); found {
			cmd.Env[i] = "PATH=" + strings.Join([]string{filepath.Join(r.dir, "bin"), bed.Bin(), path}, ":")
		}
	}
	return startRunning(t, cmd)
}

func (r *restoring) succeeds(t *testing.T, args ...string) (stderr string) {
	t.Helper()
	run := r.start(t, args...)
	if code := run.wait(t); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &run.stdout, &run.stderr)
	}
	t.Logf("%s%s", &run.stdout, &run.stderr)
	return run.stderr.String()
}

// restored checks that the cluster has the data of the snapshot and nothing of the restore's own.
func (r *restoring) restored(t *testing.T, members int) {
	t.Helper()
	votersAre(t, r.c, members)
	if now := contents(t, r.c); now != r.then {
		t.Errorf("the contents are %q, want %q", now, r.then)
	}
	aheadOf(t, r.c, r.saved)
	r.tidy(t)
}

// tidy checks that no journal, helper pod or cut is left.
func (r *restoring) tidy(t *testing.T) {
	t.Helper()
	if done, there := r.done(t); there {
		t.Errorf("the journal is left, with %d steps", done)
	}
	var pods corev1.PodList
	if err := kube.List(t.Context(), &pods, client.InNamespace(r.c.Namespace)); err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		if p.Labels[v1alpha1.RestoreOfLabel] != "" && p.DeletionTimestamp == nil {
			t.Errorf("pod %s is left", p.Name)
		}
	}
	local, err := filepath.Glob(filepath.Join(r.dir, "restored-*"))
	if err != nil || len(local) > 0 {
		t.Errorf("%q are left on this machine: %v", local, err)
	}
}

// done returns how many steps the journal has, and whether there is one.
func (r *restoring) done(t *testing.T) (int, bool) {
	t.Helper()
	var config corev1.ConfigMap
	err := kube.Get(t.Context(), client.ObjectKey{Namespace: r.c.Namespace, Name: "kubectl-etcd-" + r.c.Name}, &config)
	if apierrors.IsNotFound(err) {
		return 0, false
	}
	var journal struct{ Payload struct{ Done int } }
	if err == nil {
		err = json.NewDecoder(bytes.NewReader([]byte(config.Data["journal.json"]))).Decode(&journal)
	}
	if err != nil {
		t.Fatal(err)
	}
	return journal.Payload.Done, true
}

// killed kills a command that was started when so many steps are done. It reports whether the command ended
// before that.
func (r *restoring) killed(t *testing.T, steps int, run *running) (ended bool) {
	t.Helper()
	over := make(chan int, 1)
	go func() { over <- run.wait(t) }()
	for {
		select {
		case code := <-over:
			if code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, &run.stdout, &run.stderr)
			}
			return true
		case <-time.After(20 * time.Millisecond):
		}
		if done, there := r.done(t); there && done >= steps {
			_ = run.cmd.Process.Kill() // it may have ended
			code := <-over
			unlock(t, r.c)
			return code == 0
		}
	}
}

// killedAtEachStep kills a command after each of its steps, and starts it again, until it ends.
func (r *restoring) killedAtEachStep(t *testing.T, start func() *running) {
	t.Helper()
	steps := 0
	for ; !r.killed(t, steps, start()); steps++ {
		done, there := r.done(t)
		if !there && steps > 0 { // it was killed after its last step
			break
		}
		steps = max(steps, done)
	}
	if steps < 10 {
		t.Errorf("the command was killed after %d steps only", steps)
	}
}

// TestPluginRestoreInPlace restores a cluster whose log is on another volume.
func TestPluginRestoreInPlace(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	r := savedBefore(t, start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, TLS: true, Mutate: logApart}))
	printed := r.succeeds(t, r.file, "--reason", "a test")
	wants(t, printed, "40 revisions after the snapshot are lost", "Client traffic through Service ", "Check the cluster")
	r.restored(t, 3)
	plugin(t, 0, "check", "main", "-n", ns, "--only", "Q001,D004,T001")
}

// TestPluginRestoreInPlaceKilled kills the command after each of its steps. The same command continues.
func TestPluginRestoreInPlaceKilled(t *testing.T) {
	operating(t, 3)
	r := savedBefore(t, start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain, Size: 3}))
	r.killedAtEachStep(t, func() *running { return r.start(t, r.file) })
	r.restored(t, 3)
}

// TestPluginRestoreInPlaceAborted undoes a restore from each state, until clients are let in.
func TestPluginRestoreInPlaceAborted(t *testing.T) {
	operating(t, 3)
	r := savedBefore(t, start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain, Size: 3}))
	before := surveyOf(t, r.c)
	for _, steps := range []int{0, 4, 5, 7, 9} {
		if r.killed(t, steps, r.start(t, r.file)) {
			t.Fatalf("the command has ended before step %d", steps)
		}
		refuses(t, []string{"kubectl etcd snapshot restore has been unfinished since", "--abort"}, "defrag", "main", "-n", r.c.Namespace, "-y")
		r.succeeds(t, "--abort")
		votersAre(t, r.c, 3)
		if now := contents(t, r.c); now != r.after {
			t.Fatalf("after %d steps and --abort, the contents are %q, want %q", steps, now, r.after)
		}
		if now := surveyOf(t, r.c); now != before {
			t.Errorf("after %d steps and --abort, the cluster is %s, want %s", steps, now, before)
		}
		r.tidy(t)
	}
}

// surveyOf returns the cluster ID of the members.
func surveyOf(t *testing.T, c *clusters.Cluster) string {
	t.Helper()
	members, id := membersOf(t, c), ""
	eventually(t, "the members to answer", func(ctx context.Context) (string, bool, error) {
		s, err := members.Survey(ctx)
		if err != nil || len(s.Members) == 0 || s.Members[0].Err != nil {
			return fmt.Sprint(s.Members), false, err
		}
		id = fmt.Sprintf("%x", s.Members[0].ClusterID)
		return "", true, nil
	})
	return id
}

// TestPluginRestoreInPlaceOneByOne restores members that start one after the other: one is restored,
// and the others join it.
func TestPluginRestoreInPlaceOneByOne(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 1, TLS: true, Mutate: func(set *appsv1.StatefulSet) {
		set.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}})
	plugin(t, 0, "scale", target(c), "--replicas", "3", "-n", ns, "-y")
	r := savedBefore(t, c)
	r.succeeds(t, r.file)
	r.restored(t, 3)
}

// TestPluginRestoreInPlaceDruid restores through the store and the sidecars of etcd-druid.
func TestPluginRestoreInPlaceDruid(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	r := savedBefore(t, start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 3, TLS: true}))
	plugin(t, 0, "snapshot", "save", target(r.c), "-n", ns, "--via", "backup-restore", "-y")
	before := volumesOf(t, ns)
	restores(t, r.dir, "3.5") // the release of druid's etcd image
	r.succeeds(t, r.file)
	r.restored(t, 3)
	volumesRemain(t, before)
}

// TestPluginRestoreInPlaceDruidOne kills a restore of an Etcd with one member when the snapshot is copied, and deletes the
// member's pod. The sidecar of the next pod would restore a snapshot with a higher revision, and delete the present data: it
// finds none. The same command continues, and --abort leaves nothing in the store.
func TestPluginRestoreInPlaceDruidOne(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	r := savedBefore(t, start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 1}))
	plugin(t, 0, "snapshot", "save", target(r.c), "-n", ns, "--via", "backup-restore", "-y")
	restores(t, r.dir, "3.5")
	before := surveyOf(t, r.c)
	keeps := func(when string) {
		pod := &members(t, r.c)[0].Pod
		remove(t, pod.DeepCopy())
		eventually(t, "another pod to be Ready", func(ctx context.Context) (string, bool, error) {
			var now corev1.Pod
			err := client.IgnoreNotFound(kube.Get(ctx, client.ObjectKeyFromObject(pod), &now))
			ready := now.UID != pod.UID && slices.ContainsFunc(now.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			})
			return string(now.Status.Phase), ready, err
		})
		if now := contents(t, r.c); now != r.after {
			t.Fatalf("%s, the contents are %q, want %q", when, now, r.after)
		}
		if now := surveyOf(t, r.c); now != before {
			t.Errorf("%s, the cluster is %s, want %s", when, now, before)
		}
	}
	const copied = 3 // the check, the raised revision and the copy
	if r.killed(t, copied, r.start(t, r.file)) {
		t.Fatal("the command has ended before it was killed")
	}
	keeps("killed when the snapshot is copied")
	r.succeeds(t, "--abort")
	keeps("after --abort")
	if r.killed(t, copied, r.start(t, r.file)) {
		t.Fatal("the command has ended before it was killed")
	}
	keeps("killed again")
	r.succeeds(t, r.file)
	r.restored(t, 1)
}
