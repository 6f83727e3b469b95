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

// TestPluginScale takes a cluster from one member to three, five and back to three while
// a hundred writes a second go on. From the second scale on the plugin is killed
// after each step and begun again.
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
		runs := throughKills(t, c, "scale", "main", "--replicas", fmt.Sprint(size), "-n", ns, "-y")
		t.Logf("to %d members in %d runs", size, runs)
		if runs < 5 {
			t.Errorf("%d runs: it was hardly killed", runs)
		}
		scaled(t, c, size, before)
	}
	writing.check(t)
}

// TestPluginScaleAlmost begins scales that can't end, and refuses those that shouldn't
// begin. No quorum, no member and nothing else of the cluster changes by it.
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
		"4": "4 members bear the loss of 1, as 3 do",
		"0": "0 members are no cluster",
	} {
		refuses(t, []string{"refused: cannot scale StatefulSet " + ns + "/main to " + size, texts}, "scale", "main", "--replicas", size, "-n", ns, "-y")
	}
	stale := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data-main-4"}}
	stale.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	stale.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	create(t, stale)
	refuses(t, []string{"PersistentVolumeClaim data-main-4 is left from an earlier member"}, "scale", "main", "--replicas", "5", "-n", ns, "-y")
	remove(t, stale)

	// No fourth pod can be made.
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "three"}}
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}
	create(t, quota)
	eventually(t, "the quota to be counted", func(ctx context.Context) (string, bool, error) {
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
	stolen(t, c, r)
	halfDone(t, c)
	under := "a scale of StatefulSet " + ns + "/main to 5 members is unfinished: continue it with --replicas 5, or undo it with --abort"
	refuses(t, []string{under}, "scale", "main", "--replicas", "7", "-n", ns, "-y")
	refuses(t, []string{"kubectl etcd scale on StatefulSet "}, "member", "replace", "main-1", "-n", ns, "-y")
	plugin(t, 0, "scale", "main", "--abort", "-n", ns, "-y")
	unchanged("a scale that was aborted")
	_, printed := plugin(t, 0, "scale", "main", "--abort", "-n", ns, "-y")
	wants(t, printed, "there is nothing to undo")
	abortedIn(t, c)
	abortedChanged(t, c)
}

// abortedIn takes back a scale-in of which one removal is done: no one else goes.
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

// retainClaims configures what Kubernetes does with the claims of pods that are scaled in.
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

// abortedChanged takes back a scale-out during which a user has changed the template:
// the change stays and reaches every pod.
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
	wants(t, printed, "that change stays, and is rolled out")
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

// runsOutOfTime begins a scale that can't end, with so much time that it comes to wait
// for the pod: how much that takes is the machine's.
func runsOutOfTime(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	for within := 40 * time.Second; ; within *= 2 {
		_, printed := plugin(t, 124, "scale", "main", "--replicas", "5", "-n", c.Namespace, "-y", "--timeout", within.String())
		wants(t, printed, "timed out: the change was rolled back", "the cluster has 3 members")
		if texts := []string{"added main-3 to etcd as a learner", "main-3 is a learner and does not answer yet: its pod has not been made"}; within > limit/2 {
			wants(t, printed, texts...)
			return
		} else if lacking(printed, texts) == "" {
			return
		}
	}
}

// stolen has another user take the lock of a plugin at work, which stops by it.
func stolen(t *testing.T, c *clusters.Cluster, r *running) {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "kubectl-etcd-statefulset-" + c.Full()}}
	theirs := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"holderIdentity":"mallory"}}`))
	if err := kube.Patch(t.Context(), lease, theirs); err != nil {
		t.Fatal(err)
	}
	if code := r.wait(t); code != 1 {
		t.Errorf("exit code %d without its lock", code)
	}
	wants(t, r.stderr.String(), "stopped before the next change: lock "+c.Namespace+"/"+lease.Name+" is lost: it is held by mallory for \"scale\" since ")
	unlock(t, c)
}

// halfDone inspects a cluster whose scale was interrupted, and tries what must not
// come in between.
func halfDone(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	on, off := "kubectl etcd scale statefulset/main --replicas 5 -n "+c.Namespace, "kubectl etcd scale statefulset/main --abort -n "+c.Namespace
	prints(t, 3, []string{"interrupted: no process works on it", on, off}, "status", "main", "-n", c.Namespace)
	for _, args := range [][]string{
		{"defrag", "main"}, {"cut-client-traffic", "main", "--for", "5m", "--reason", "test"}, {"member", "remove", "main", "main-3"},
	} {
		refuses(t, []string{"kubectl etcd scale on StatefulSet " + c.Namespace + "/main (scale from 3 to 5 members) is unfinished since", on, off}, append(args, "-n", c.Namespace, "-y")...)
	}
}

// throughKills runs the plugin again and again, killed after each step that it
// does, and returns how many runs it took.
func throughKills(t *testing.T, c *clusters.Cluster, args ...string) (runs int) {
	t.Helper()
	seed := rand.Int63()
	t.Logf("kills by seed %d", seed)
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
		// Killed after its last write, a replacement has nothing left to replace.
		done := code == 0 || runs > 1 && code == 2 && strings.Contains(r.stderr.String(), "it is healthy")
		if over && done {
			return runs
		}
		if over && clusters.Transient(r.stderr.String()) {
			t.Logf("run %d ended with %d\n%s", runs, code, &r.stderr)
			unlock(t, c)
			continue
		}
		if over {
			t.Fatalf("run %d ended with %d\n%s%s", runs, code, &r.stdout, &r.stderr)
		}
		// Within the next step, too.
		time.Sleep(time.Duration(moment.Intn(150)) * time.Millisecond)
		_ = r.cmd.Process.Kill() // it may just have ended
		if code = <-ended; code == 0 {
			return runs
		}
		unlock(t, c)
	}
	t.Fatalf("no end after %d runs", runs)
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

// unlock takes a dead plugin's lock away, which would else be watched for a while.
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

// scaled wants a cluster of that many members and nothing left over: neither of
// the operation, nor of members, and no one restarted that was there before.
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
		t.Errorf("replicas %d, partition %d, %d of the latest template; want %d, 0 and all", *sts.Spec.Replicas, partition, sts.Status.UpdatedReplicas, size)
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
			t.Errorf("%s was %s and is %s", pod, life, at)
		}
	}
	votersAre(t, c, size)
}

// votersAre wants etcd to have that many members, all of them with a vote.
func votersAre(t *testing.T, c *clusters.Cluster, size int) {
	t.Helper()
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	eventually(t, fmt.Sprintf("%s to have %d members that vote", c, size), func(ctx context.Context) (string, bool, error) {
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
