// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginScale scales a cluster from one member to three, to five, and back to three, while
// clients make a hundred writes a second. From the second scale on, the test kills the plugin
// after each step and starts it again.
func TestPluginScale(t *testing.T) {
	operating(t, 6)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 1, TLS: true})
	writing := startLoad(t, c)
	before := livesOf(t, c)

	printed, _ := plugin(t, 0, "scale", "statefulset/main", "--replicas", "3", "-n", ns, "-y")
	if printed != "statefulset/main scaled to 3 members\n" {
		t.Errorf("stdout %q", printed)
	}
	scaled(t, c, 3, before)
	before = livesOf(t, c)
	for _, size := range []int{5, 3} {
		runs := killRepeatedly(t, c, "scale", "main", "--replicas", fmt.Sprint(size), "-n", ns, "-y")
		t.Logf("scaled to %d members in %d runs", size, runs)
		if runs < 5 {
			t.Errorf("only %d runs: the plugin was not killed often enough", runs)
		}
		scaled(t, c, size, before)
	}
	writing.check(t)
}

// TestPluginScaleIdle: a learner that got its data as a snapshot of more than 5000 entries answers only after a write,
// and no client writes.
func TestPluginScaleIdle(t *testing.T) {
	operating(t, 5)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	put(t, c, 5200)
	plugin(t, 0, "scale", "main", "--replicas", "5", "-n", ns, "-y")
	votersAre(t, c, 5)
}

// TestPluginScaleAlmost starts scales that can't finish, and scales that the plugin must refuse.
// The quorum, the members and the rest of the cluster don't change.
func TestPluginScaleAlmost(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Version: "3.5", Plain: clusters.PlainSpec{Shell: true}})
	before := livesOf(t, c)
	template := templateOf(t, c)
	unchanged := func(what string) {
		t.Helper()
		scaled(t, c, 3, before)
		if now := templateOf(t, c); now != template {
			t.Errorf("%s changed the template to %s", what, now)
		}
	}
	for size, texts := range map[string]string{
		"4": "4 members tolerate no more failures than 3, and cost more",
		"0": "a cluster can't have 0 members",
	} {
		refuses(t, []string{"refused: cannot scale StatefulSet " + ns + "/main to " + size, texts}, "scale", "main", "--replicas", size, "-n", ns, "-y")
	}
	stale := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data-main-4"}}
	stale.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	stale.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	create(t, stale)
	refuses(t, []string{"PersistentVolumeClaim data-main-4 is left from an earlier member"}, "scale", "main", "--replicas", "5", "-n", ns, "-y")
	remove(t, stale)

	// A resource quota prevents a fourth pod.
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "three"}}
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}
	create(t, quota)
	eventually(t, "the quota to be evaluated", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(quota), quota)
		used := quota.Status.Used[corev1.ResourcePods]
		return used.String(), used.Value() == 3, err
	})
	runsOutOfTime(t, c)
	unchanged("a scale that ran out of time")

	r := startPlugin(t, "scale", "main", "--replicas", "5", "-n", ns, "-y")
	r.awaitOutput(t, "does not answer yet")
	status := []string{"kubectl etcd scale (scale from 3 to 5 members), begun", fmt.Sprintf("(pid %d)", r.cmd.Process.Pid)}
	prints(t, 3, status, "status", "main", "-n", ns)
	living := fmt.Sprintf("(pid %d) is running it, so wait until it ends; if that process no longer exists, continue it with kubectl etcd scale", r.cmd.Process.Pid)
	refuses(t, []string{living}, "cut-client-traffic", "main", "--for", "5m", "--reason", "test", "-n", ns, "-y")
	takeLock(t, c, r)
	halfDone(t, c)
	under := "a scale of StatefulSet " + ns + "/main to 5 members has been unfinished since "
	ways := "continue it with kubectl etcd scale statefulset/main --replicas 5 -n " + ns + ", or undo it with kubectl etcd scale statefulset/main --abort -n " + ns
	refuses(t, []string{under, ways}, "scale", "main", "--replicas", "7", "-n", ns, "-y")
	refuses(t, []string{"kubectl etcd scale on StatefulSet "}, "member", "replace", "main-1", "-n", ns, "-y")
	plugin(t, 0, "scale", "main", "--abort", "-n", ns, "-y")
	unchanged("a scale that was aborted")
	_, printed := plugin(t, 0, "scale", "main", "--abort", "-n", ns, "-y")
	wants(t, printed, "there is nothing to undo")
	abortedIn(t, c)
	abortedChanged(t, c)
}

// abortedIn rolls back a scale-in after one of its removals. No other member is removed.
func abortedIn(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	before := livesOf(t, c)
	retainClaims(t, c, appsv1.DeletePersistentVolumeClaimRetentionPolicyType)
	refuses(t, []string{`"whenScaled":"Retain"`}, "scale", "main", "--replicas", "1", "--keep-pvc", "-n", c.Namespace, "-y")
	retainClaims(t, c, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	r := startPlugin(t, "scale", "main", "--replicas", "1", "-n", c.Namespace, "-y")
	r.awaitOutput(t, "removed main-2")
	kill(t, c, r)
	_, printed := plugin(t, 0, "scale", "main", "--abort", "-n", c.Namespace, "-y")
	wants(t, printed, "remove no other member")
	scaled(t, c, 2, before)
	plugin(t, 0, "scale", "main", "--replicas", "3", "-n", c.Namespace, "-y")
	scaled(t, c, 3, nil)
}

// retainClaims configures what Kubernetes does with the claims of pods that a scale-in deletes.
func retainClaims(t *testing.T, c *clusters.Cluster, policy appsv1.PersistentVolumeClaimRetentionPolicyType) {
	t.Helper()
	sts, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := sts.DeepCopy()
	sts.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled = policy
	if err := kube.Patch(t.Context(), sts, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// abortedChanged rolls back a scale-out during which a user changed the template. The change
// stays and reaches every pod.
func abortedChanged(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	r := startPlugin(t, "scale", "main", "--replicas", "5", "-n", c.Namespace, "-y")
	r.awaitOutput(t, "does not answer yet")
	kill(t, c, r)
	sts, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	change := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"template":{"metadata":{"annotations":{"changed":"meanwhile"}}}}}`))
	if err := kube.Patch(t.Context(), sts, change); err != nil {
		t.Fatal(err)
	}
	refuses(t, []string{"another client has changed the StatefulSet's template"}, "scale", "main", "--replicas", "5", "-n", c.Namespace, "-y")
	_, printed := plugin(t, 0, "scale", "main", "--abort", "-n", c.Namespace, "-y")
	wants(t, printed, "that change stays. Once the update strategy is restored, it is rolled out")
	eventually(t, "the change to reach every pod", func(ctx context.Context) (string, bool, error) {
		found, err := c.Members(ctx)
		without := ""
		for _, m := range found {
			if m.Pod.Annotations["changed"] == "" {
				without += m.Pod.Name + " "
			}
		}
		return without, without == "" && len(found) == 3, err
	})
	scaled(t, c, 3, nil)
}

// runsOutOfTime starts a scale that can't finish. Its timeout is long enough to reach the wait
// for the pod, which depends on the machine.
func runsOutOfTime(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	for within := 40 * time.Second; ; within *= 2 {
		_, printed := plugin(t, 124, "scale", "main", "--replicas", "5", "-n", c.Namespace, "-y", "--timeout", within.String())
		wants(t, printed, "timed out: scale StatefulSet ", "not done within the --timeout of", "the change was rolled back, and the cluster has 3 members")
		if texts := []string{"added main-3 to etcd as a learner", "main-3 is a learner and does not answer yet: its pod has not been created"}; within > limit/2 {
			wants(t, printed, texts...)
			return
		} else if lacking(printed, texts) == "" {
			return
		}
	}
}

// takeLock has another client take the lock of a running plugin. The plugin then stops.
func takeLock(t *testing.T, c *clusters.Cluster, r *running) {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "kubectl-etcd-statefulset-" + c.Full()}}
	theirs := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"holderIdentity":"mallory"}}`))
	if err := kube.Patch(t.Context(), lease, theirs); err != nil {
		t.Fatal(err)
	}
	if code := r.wait(t); code != 1 {
		t.Errorf("exit code %d after the lock was lost", code)
	}
	wants(t, r.stderr.String(), "stopped before the next change: lock "+c.Namespace+"/"+lease.Name+" is lost: it is held by mallory for \"scale\" since ")
	unlock(t, c)
}

// halfDone inspects a cluster after an interrupted scale, and tries commands that must be
// refused in this state.
func halfDone(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	on, off := "kubectl etcd scale statefulset/main --replicas 5 -n "+c.Namespace, "kubectl etcd scale statefulset/main --abort -n "+c.Namespace
	prints(t, 3, []string{"interrupted: no process works on it", on, off}, "status", "main", "-n", c.Namespace)
	for _, args := range [][]string{
		{"defrag", "main"}, {"cut-client-traffic", "main", "--for", "5m", "--reason", "test"}, {"member", "remove", "main", "main-3"},
	} {
		refuses(t, []string{"kubectl etcd scale on StatefulSet " + c.Namespace + "/main (scale from 3 to 5 members) has been unfinished since", on, off}, append(args, "-n", c.Namespace, "-y")...)
	}
}

// killRepeatedly runs the plugin until it succeeds, kills it after each of its steps, and
// returns the number of runs.
func killRepeatedly(t *testing.T, c *clusters.Cluster, args ...string) (runs int) {
	t.Helper()
	seed := rand.Int63()
	t.Logf("random seed of the kills: %d", seed)
	moment := rand.New(rand.NewSource(seed))
	for runs = 1; runs < 60; runs++ {
		r := startPlugin(t, args...)
		ended := make(chan int, 1)
		go func() { ended <- r.wait(t) }()
		code, over := 0, false
		for !over && strings.Count(r.stderr.String(), "✓") == 0 {
			select {
			case code = <-ended:
				over = true
			case <-time.After(20 * time.Millisecond):
			}
		}
		// If the plugin is killed after its last write, no replacement is left to do.
		done := code == 0 || runs > 1 && code == 2 && strings.Contains(r.stderr.String(), "it is healthy")
		if over && done {
			return runs
		}
		if over && clusters.Transient(r.stderr.String()) {
			t.Logf("run %d ended with exit code %d\n%s", runs, code, &r.stderr)
			unlock(t, c)
			continue
		}
		if over {
			t.Fatalf("run %d ended with exit code %d\n%s%s", runs, code, &r.stdout, &r.stderr)
		}
		// The kill can also come within the next step.
		time.Sleep(time.Duration(moment.Intn(150)) * time.Millisecond)
		_ = r.cmd.Process.Kill() // the process may have ended
		if code = <-ended; code == 0 {
			return runs
		}
		unlock(t, c)
	}
	t.Fatalf("the operation is not finished after %d runs", runs)
	return runs
}

func kill(t *testing.T, c *clusters.Cluster, r *running) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.wait(t)
	unlock(t, c)
}

// unlock deletes the lock of a killed plugin, so that the next run doesn't wait for the lock to
// expire.
func unlock(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	remove(t, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "kubectl-etcd-statefulset-" + c.Full()}})
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// scaled checks that a cluster has size members, that no object of the operation and no other
// member remains, and that no member from before restarted.
func scaled(t *testing.T, c *clusters.Cluster, size int, before map[string]string) {
	t.Helper()
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	sts, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	partition := int32(0)
	if r := sts.Spec.UpdateStrategy.RollingUpdate; r != nil {
		partition = ptr.Deref(r.Partition, 0)
	}
	if int(*sts.Spec.Replicas) != size || partition != 0 || int(sts.Status.UpdatedReplicas) != size {
		t.Errorf("replicas %d, partition %d, %d updated replicas; want %d, 0 and all", *sts.Spec.Replicas, partition, sts.Status.UpdatedReplicas, size)
	}
	err = kube.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: "kubectl-etcd-" + sts.Name}, &corev1.ConfigMap{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the journal is still there: %v", err)
	}
	eventually(t, fmt.Sprintf("%d pods and claims", size), func(ctx context.Context) (string, bool, error) {
		var claims corev1.PersistentVolumeClaimList
		err := kube.List(ctx, &claims, client.InNamespace(c.Namespace))
		pods := len(livesOf(t, c))
		return fmt.Sprintf("%d and %d", pods, len(claims.Items)), (c.Ephemeral || len(claims.Items) == size) && pods == size, err
	})
	now := livesOf(t, c)
	for pod, life := range before {
		if at, there := now[pod]; there && at != life {
			t.Errorf("%s changed from %s to %s", pod, life, at)
		}
	}
	votersAre(t, c, size)
}

// votersAre checks that etcd has exactly size members, and that all of them are voters.
func votersAre(t *testing.T, c *clusters.Cluster, size int) {
	t.Helper()
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	eventually(t, fmt.Sprintf("%s to have %d voters", c, size), func(ctx context.Context) (string, bool, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		list, err := conn.MemberList(ctx)
		if err != nil {
			return "", false, err
		}
		vote := len(list.Members) == size
		for _, m := range list.Members {
			vote = vote && !m.IsLearner && m.Name != ""
		}
		return fmt.Sprint(list.Members), vote, nil
	})
}

func livesOf(t *testing.T, c *clusters.Cluster) map[string]string {
	t.Helper()
	l, err := c.Lives(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l.Pods
}

func templateOf(t *testing.T, c *clusters.Cluster) string {
	t.Helper()
	sts, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := sts.Spec.Template.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wants checks that an output contains the texts.
func wants(t *testing.T, printed string, texts ...string) {
	t.Helper()
	for _, w := range texts {
		if !strings.Contains(printed, w) {
			t.Errorf("not printed: %q\n%s", w, printed)
		}
	}
}
