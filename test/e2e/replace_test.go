// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	clientv3 "go.etcd.io/etcd/client/v3"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginMemberReplace deletes the data of members, and replaces these members.
func TestPluginMemberReplace(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Version: "3.4"})
	writing := startLoad(t, c)
	before, template := livesOf(t, c), templateOf(t, c)
	replaced := func(pod string) {
		t.Helper()
		delete(before, pod)
		scaled(t, c, 3, before)
		before = livesOf(t, c)
		if now := templateOf(t, c); now != template {
			t.Errorf("after the replacement of %s the pod template is %s", pod, now)
		}
	}

	refuses(t, []string{"refused: cannot replace main-1 of StatefulSet " + ns + "/main: it is healthy"}, "member", "replace", "main-1", "-n", ns, "-y")
	refuses(t, []string{"it is not one of the StatefulSet's 3 pods"}, "member", "replace", "statefulset/main", "main-2000000000", "-n", ns, "-y")
	wipe(t, c, "main-1")
	_, printed := plugin(t, 0, "member", "replace", "main-1", "-n", ns, "-y")
	wants(t, printed, "main-1 has lost its data: its log ends with: has already been bootstrapped (it found no data in its data directory", "removed main-1", "promoted main-1")
	replaced("main-1")

	leader, _ := leads(t, c)
	_, printed = plugin(t, 0, "member", "replace", leader, "--force", "-n", ns, "-y")
	wants(t, printed, "moved leadership from "+leader, "promoted "+leader)
	replaced(leader)

	// One member is down, and the replacement would remove another one. Two voters would remain,
	// and only one of them is healthy.
	wipe(t, c, "main-2")
	refuses(t, []string{"1 of 2 voters would be healthy, quorum is 2; now it is 2 of 3, quorum 2"}, "member", "replace", "main-1", "--force", "-n", ns, "-y")
	refuses(t, []string{"main-2 is not healthy"}, "scale", "main", "--replicas", "5", "-n", ns, "-y")
	r := startPluginUntil(t, "added main-2 to etcd as a learner", "member", "replace", "main-2", "-n", ns, "-y")
	_ = r.cmd.Process.Kill()
	r.wait(t)
	r = startPlugin(t, "member", "replace", "main-2", "-n", ns, "-y")
	r.awaitOutput(t, "took over the lock of")
	kill(t, c, r)
	if runs := killRepeatedly(t, c, "member", "replace", "main-2", "-n", ns, "-y"); runs < 2 {
		t.Errorf("only %d runs: the plugin was not killed often enough", runs)
	}
	replaced("main-2")
	writing.check(t)
	listedByOne(t, c)
}

// listedByOne leaves one member of three. The member list of etcd 3.4 then comes from this
// member's memory alone.
func listedByOne(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	if err := c.Scale(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	prints(t, 3, []string{"main-0", "no quorum"}, "member", "list", c.Full(), "-n", c.Namespace)
	if err := c.Scale(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wipe deletes a member's data. The member's pod starts on an empty volume, and can't join as
// the old member.
func wipe(t *testing.T, c *clusters.Cluster, pod string) {
	t.Helper()
	remove(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "data-" + pod}})
	remove(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: pod}})
	eventually(t, pod+" to end without its data", func(ctx context.Context) (string, bool, error) {
		lives, err := c.Lives(ctx)
		if err != nil {
			return "", false, err
		}
		at := lives.Pods[pod]
		return at, strings.Contains(at, " restarts ") && !strings.HasSuffix(at, " restarts 0"), nil
	})
}

// TestPluginScaleDruid scales through druid, and checks what the plugin refuses.
func TestPluginScaleDruid(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 1, Druid: clusters.DruidSpec{NoBackups: true}})
	// This scales as kubectl scale does, without a request to etcd-druid.
	if err := c.Scale(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	refuses(t, []string{"etcd-druid does not scale in: an Etcd of 3"}, "scale", "main", "--replicas", "1", "-n", ns, "-y")
	_, printed := plugin(t, 0, "scale", "main", "--replicas", "3", "-n", ns, "-y")
	wants(t, printed, "its replicas are 3, and etcd-druid has not reconciled that: it runs 1", "requested a reconcile from etcd-druid")
	votersAre(t, c, 3)
	_, printed = plugin(t, 0, "scale", "main", "--replicas", "3", "-n", ns, "-y")
	wants(t, printed, "already has 3 members")
	for _, r := range []struct {
		args  string
		texts string
	}{
		{"scale main --replicas 1", "etcd-druid does not scale in"},
		{"scale main --replicas 4", "4 members tolerate no more failures than 3, and cost more"},
		{"scale main --replicas 0", "without a snapshot"},
		{"scale main --abort", "continues until it is complete"},
		{"member add main --peer-urls http://a:2380", "etcd-druid adds and removes its members"},
		{"member promote main main-0", "etcd-druid adds and removes its members"},
		{"member remove main main-0", "it has a pod, and etcd-druid manages the members"},
		{"member replace main-0", "it is healthy"},
	} {
		refuses(t, []string{"refused: ", r.texts}, append(strings.Fields(r.args), "-n", ns, "-y")...)
	}
	if err := c.WaitReady(t.Context()); err != nil { // druid restarts the pods after a scale-out
		t.Fatal(err)
	}
	removesStrays(t, c)
	before := livesOf(t, c)
	recheckedUnderLock(t, c, "client traffic is cut", func() { cutByHand(t, c, observe.CutValue(time.Now().Add(time.Hour))) },
		"member", "replace", "etcd/main", "main-2", "--force")
	plugin(t, 0, "restore-client-traffic", "main", "-n", ns, "-y")
	plugin(t, 0, "member", "replace", "main-2", "--force", "-n", ns, "-y")
	votersAre(t, c, 3)
	now := livesOf(t, c)
	if now["main-2"] == before["main-2"] || now["main-0"] != before["main-0"] {
		t.Errorf("after the replacement of main-2 the pods changed from %v to %v", before, now)
	}
}

// recheckedUnderLock has a command wait for the lock of a holder that doesn't renew it.
// Meanwhile the cluster changes, so that the command is refused after it takes over the lock.
func recheckedUnderLock(t *testing.T, c *clusters.Cluster, texts string, meanwhile func(), args ...string) {
	t.Helper()
	o := owner.Owner{Kind: "StatefulSet", Namespace: c.Namespace, Name: c.Full()}
	if c.Flavour == clusters.Druid {
		o = owner.Owner{Kind: "Etcd", Namespace: c.Namespace, Name: c.Name}
	}
	lease := leaseOf(o)
	now := metav1.NowMicro()
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: new("cat"), RenewTime: &now, AcquireTime: &now, LeaseDurationSeconds: new(int32(15))}
	if err := kube.Create(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	r := startPlugin(t, append(args, "-n", c.Namespace, "-y")...)
	r.awaitOutput(t, "Waiting up to")
	meanwhile()
	if code := r.wait(t); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	wants(t, r.stderr.String(), "took over the lock of", texts)
}

// cutByHand writes the selector that cuts client traffic into the client Service.
func cutByHand(t *testing.T, c *clusters.Cluster, value string) {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.ClientService()}}
	patch := fmt.Appendf(nil, `{"spec":{"selector":{%q:%q}}}`, v1alpha1.ClientTrafficKey, value)
	if err := kube.Patch(t.Context(), service, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
}

// removesStrays removes members from etcd that have no pod, although druid manages the other
// members.
func removesStrays(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	prints(t, 1, []string{`etcd has no member "main-3"; it has main-`}, "member", "remove", "main", "main-3", "-n", c.Namespace, "-y")
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	nowhere := []string{"http://main-3.nowhere.invalid:2380"}
	for _, row := range []struct {
		texts string
		add   func(context.Context, []string) (*clientv3.MemberAddResponse, error)
		lost  []string
	}{
		{"a learner has no vote: 3 of 3 voters stay healthy", conn.MemberAddAsLearner, nil},
		{"3 of 3 voters stay healthy, quorum is 2", conn.MemberAdd, []string{"--lost"}},
	} {
		var added *clientv3.MemberAddResponse
		retry(t, "a member that never starts", func(ctx context.Context) (err error) { // etcd accepts none for a moment after the last change
			added, err = row.add(ctx, nowhere)
			return err
		})
		id := fmt.Sprintf("%016x", added.Member.ID)
		remove := []string{"member", "remove", "main", id, "-n", c.Namespace, "-y"}
		if row.lost != nil { // a host outside of the cluster may run a voter
			refuses(t, []string{"may be a name outside of the cluster", "run the same command with --lost"}, remove...)
		}
		prints(t, 0, []string{row.texts, "removed member (never started) " + id}, append(remove, row.lost...)...)
		votersAre(t, c, 3)
	}
}

// TestPluginMembersOfChart checks that the plugin leaves a chart's members to the chart's start
// script. It only removes a member without a pod.
func TestPluginMembersOfChart(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Bitnami, Size: 3, Ephemeral: true})
	// The chart's cluster that other tests use has TLS.
	seen(t, c, target(c), "bitnami")
	awaitChecked(t, c, map[string]string{"Q001": "OK", "Q002": "OK", "M001": "OK", "D004": "OK"})
	maintain(t, c)
	for _, args := range []string{
		"scale main-etcd --replicas 5", "member add main-etcd --peer-urls http://a:2380", "member promote main-etcd main-etcd-0", "member remove main-etcd main-etcd-0",
	} {
		refuses(t, []string{"refused: ", "helm upgrade ", " --reuse-values --set replicaCount=N"}, append(strings.Fields(args), "-n", ns, "-y")...)
	}
	refuses(t, []string{"refused: ", "delete the member's PersistentVolumeClaim, if its data is on one, and then its pod"}, "member", "replace", "main-etcd-1", "-n", ns, "-y")
	if err := c.Scale(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	recheckedUnderLock(t, c, "it has a pod", func() {
		if err := c.Scale(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}, "member", "remove", "main-etcd", "main-etcd-2")
	if err := c.Scale(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, printed := plugin(t, 0, "member", "remove", "main-etcd", "main-etcd-2", "-n", ns, "-y")
	wants(t, out+printed, "removed member main-etcd-2", "2 of 2 voters stay healthy")
	votersAre(t, c, 2)
}
