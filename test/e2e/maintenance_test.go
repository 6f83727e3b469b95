// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginMaintenance types move-leader, defrag, alarm and proxy against every flavour, with
// TLS and without, and checks the output.
func TestPluginMaintenance(t *testing.T) {
	beside(t)
	t.Run("druid", func(t *testing.T) {
		t.Parallel()
		maintain(t, borrowDruid(t))
	})
	t.Run("bitnami", func(t *testing.T) {
		t.Parallel()
		maintain(t, borrowChart(t))
	})
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		enter(t, 3)
		c := start(t, namespace(t), "p", clusters.Spec{Flavour: clusters.Plain, Mutate: smallQuota})
		maintain(t, c)
		checkTunnels(t, c)
		t.Run("out of space", func(t *testing.T) { outOfSpace(t, c) })
		t.Run("another user's snapshot", func(t *testing.T) { foreignSnapshot(t, c) })
		t.Run("a member goes", func(t *testing.T) { memberStops(t, c) })
	})
}

// smallQuota lets a cluster run out of space soon, but not from the writes of other tests. A
// large key makes the database grow by three times its size.
func smallQuota(set *appsv1.StatefulSet) {
	etcd := &set.Spec.Template.Spec.Containers[0]
	etcd.Env = append(etcd.Env, corev1.EnvVar{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "33554432"})
}

// maintain runs commands that leave a cluster as it was.
func maintain(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	target := []string{c.Full(), "-n", c.Namespace}
	t.Run("alarm list", func(t *testing.T) {
		stdout, stderr := prints(t, 0, []string{"No alarm is raised in "}, append([]string{"alarm", "list"}, target...)...)
		if stdout != "" {
			t.Errorf("%s%s", stdout, stderr)
		}
		stdout, _ = plugin(t, 0, append([]string{"alarm", "list", "-o", "jsonpath={.kind} {.items}"}, target...)...)
		if stdout != "EtcdAlarmList []" {
			t.Errorf("%q", stdout)
		}
	})
	t.Run("move-leader", func(t *testing.T) {
		undisturbed(t, c, 0, func() string { return keepsLeader(t, c, target) })
		undisturbed(t, c, 1, func() string { return moveLeader(t, c, target) })
	})
	t.Run("defrag", func(t *testing.T) {
		undisturbed(t, c, 1, func() string { return defragged(t, c, target) })
	})
	t.Run("proxy", func(t *testing.T) {
		stdout, stderr := prints(t, 0, []string{"is healthy"}, append(append([]string{"proxy"}, target...), "--", "sh", "-c", "etcdctl put from proxy && etcdctl get from && etcdctl endpoint health")...)
		if !strings.Contains(stdout, "OK\nfrom\nproxy\n") || strings.Count(stdout, "is healthy") != 3 {
			t.Errorf("%s%s", stdout, stderr)
		}
		if !strings.Contains(stderr, "any user of this machine") {
			t.Errorf("the output doesn't mention other users:\n%s", stderr)
		}
		stdout, _ = prints(t, 7, []string{"from\nproxy\n"}, append(append([]string{"proxy", "--one", "--socket", t.TempDir()}, target...), "--", "sh", "-c", "etcdctl get from; exit 7")...)
		if stdout != "from\nproxy\n" {
			t.Errorf("output with --socket: %q", stdout)
		}
	})
}

// undisturbed runs a trial, which returns what is wrong, or an empty string. If more leaders
// were elected during the trial than asked, as on an overloaded machine, undisturbed runs it
// again.
func undisturbed(t *testing.T, c *clusters.Cluster, asked uint64, trial func() string) {
	t.Helper()
	eventually(t, "a trial without an unexpected election in "+c.String(), func(context.Context) (string, bool, error) {
		before := term(t, c)
		wrong := trial()
		if wrong != "" && term(t, c) <= before+asked {
			t.Fatal(wrong)
		}
		return wrong, wrong == "", nil
	})
}

// term returns the cluster's raft term, which counts its elections.
func term(t *testing.T, c *clusters.Cluster) uint64 {
	t.Helper()
	var last uint64
	for _, m := range survey(t, membersOf(t, c)).Members {
		last = max(last, m.RaftTerm)
	}
	return last
}

// defragged defragments the members and returns what is wrong about the order.
func defragged(t *testing.T, c *clusters.Cluster, target []string) string {
	t.Helper()
	before := leader(t, c)
	_, stderr := plugin(t, 0, append([]string{"defrag", "-y"}, target...)...)
	var order []string
	for _, m := range regexp.MustCompile(`✓ (\S+) is defragmented`).FindAllStringSubmatch(stderr, -1) {
		order = append(order, m[1])
	}
	if len(order) != 3 || order[2] != before {
		return fmt.Sprintf("defragmented %v, the leader was %s:\n%s", order, before, stderr)
	}
	if handed := strings.Index(stderr, "✓ the leadership went from "+before); handed < 0 || handed > strings.Index(stderr, "✓ "+before) {
		return "the leader didn't transfer its leadership first:\n" + stderr
	}
	return ""
}

// keepsLeader runs move-leader without confirmation. It returns what is wrong if the leader
// changes.
func keepsLeader(t *testing.T, c *clusters.Cluster, target []string) string {
	t.Helper()
	from, to := leader(t, c), another(t, c)
	args := append([]string{"move-leader", "--to", to}, target...)
	_, stderr := plugin(t, 0, append(args, "--dry-run=client")...)
	if !strings.Contains(stderr, fmt.Sprintf("from %s to %s", from, to)) || leader(t, c) != from {
		return "a dry run:\n" + stderr
	}
	asked := startPlugin(t, args...)
	if code := asked.wait(t); code != 2 || !strings.Contains(asked.stderr.String(), "there is no terminal to ask for confirmation") || leader(t, c) != from {
		return fmt.Sprintf("without -y: exit code %d\n%s", code, &asked.stderr)
	}
	return ""
}

// moveLeader transfers the leadership and returns what is wrong.
func moveLeader(t *testing.T, c *clusters.Cluster, target []string) string {
	t.Helper()
	to := another(t, c)
	args := append([]string{"move-leader", "--to", to}, target...)
	stdout, _ := plugin(t, 0, append(args, "-y")...)
	if now := leader(t, c); now != to || !strings.Contains(stdout, to+" is now the leader") {
		return fmt.Sprintf("%s leads, want %s: %s", now, to, stdout)
	}
	if _, stderr := plugin(t, 0, append(args, "-y")...); !strings.Contains(stderr, "already") {
		return "a second time: " + stderr
	}
	return ""
}

// another returns the pod after the leader's pod.
func another(t *testing.T, c *clusters.Cluster) string {
	t.Helper()
	pods := podsOf(t, c)
	return pods[(slices.Index(pods, leader(t, c))+1)%len(pods)]
}

// outOfSpace fills the database until etcd refuses writes, and then types the cure.
func outOfSpace(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	members := membersOf(t, c)
	value := strings.Repeat("x", 800_000)
	put := func(client *clientv3.Client) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := client.Put(ctx, "full", value)
			return err
		}
	}
	fill := put(clientOf(t, members, leader(t, c)))
	eventually(t, "the database to be full", func(ctx context.Context) (string, bool, error) {
		var err error
		for n := 0; n < 100 && err == nil; n++ {
			err = fill(ctx)
		}
		return fmt.Sprint(err), errors.Is(err, rpctypes.ErrNoSpace), nil
	})
	target := []string{c.Full(), "-n", c.Namespace}
	prints(t, 3, []string{"NOSPACE", "kubectl etcd defrag statefulset/" + c.Full()}, append([]string{"alarm", "list"}, target...)...)
	refuses(t, []string{"of its quota of 32.0 MiB"}, append([]string{"alarm", "disarm", "-y"}, target...)...)
	lost := raisedBy(t, members)[0].Pod
	wipe(t, c, lost)
	refuses(t, []string{"2 of 3 members healthy", "kubectl etcd member replace"}, append([]string{"defrag", "-y"}, target...)...)
	_, printed := plugin(t, 0, append([]string{"member", "replace", c.Full(), lost, "-y"}, target[1:]...)...)
	wants(t, printed, "accepts no writes until kubectl etcd defrag statefulset/"+c.Full(), "promoted "+lost)
	// Only the alarm of the removed member is left.
	for _, a := range raisedBy(t, members) {
		if a.Pod == "" {
			continue
		}
		if err := maintenance.Disarm(t.Context(), members, survey(t, members), a); err != nil {
			t.Fatal(err)
		}
	}
	prints(t, 3, []string{"no longer in the member list", "kubectl etcd defrag statefulset/" + c.Full()}, append([]string{"status"}, target...)...)
	prints(t, 3, []string{"NOSPACE of member", "no longer in the member list"}, append([]string{"check", "--only", "D001"}, target...)...)
	stdout, stderr := plugin(t, 0, append([]string{"defrag", "-y"}, target...)...)
	if !strings.Contains(stdout, "accepts writes again") || !strings.Contains(stderr, "is compacted") {
		t.Errorf("%s%s", stdout, stderr)
	}
	retry(t, "a write after the cure", put(clientOf(t, members, leader(t, c))))
	eventually(t, "small databases without alarms", func(ctx context.Context) (string, bool, error) {
		s, err := members.Survey(ctx)
		wrong := fmt.Sprint(s.StrayTypes())
		for _, m := range s.Members {
			if m.Err != nil || m.DBSize > 8<<20 || len(m.Alarms) > 0 {
				wrong += fmt.Sprintf("%s: %d bytes, alarms %v, %v; ", m.Pod, m.DBSize, m.Alarms, m.Err)
			}
		}
		return wrong, wrong == "[]", err
	})
}

func raisedBy(t *testing.T, members *etcd.Cluster) []etcd.Alarm {
	t.Helper()
	alarms, err := maintenance.Alarms(t.Context(), members, survey(t, members))
	if err != nil || len(alarms) == 0 {
		t.Fatalf("alarms %v, %v", alarms, err)
	}
	return alarms
}

// foreignSnapshot has another client read a snapshot while a user defragments.
func foreignSnapshot(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	members := membersOf(t, c)
	client := clientOf(t, members, leader(t, c))
	for i := range 12 { // more than the stream buffers
		retry(t, "a write of a large key", func(ctx context.Context) error {
			_, err := client.Put(ctx, fmt.Sprintf("large-%d", i), strings.Repeat("x", 800_000))
			return err
		})
	}
	pod := podsOf(t, c)[1]
	slow, err := members.Conn(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stream, err := pb.NewMaintenanceClient(slow.ActiveConnection()).Snapshot(ctx, &pb.SnapshotRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	args := []string{"defrag", c.Full(), "-n", c.Namespace, "-y"}
	refuses(t, []string{"1 snapshot being read from " + pod}, args...)
	stop()
	eventually(t, "the snapshot's end", func(ctx context.Context) (string, bool, error) {
		open, err := members.OpenSnapshots(ctx, pod)
		return fmt.Sprint(open), open == 0, err
	})
	plugin(t, 0, args...)
}

// memberStops stops a member while a defragmentation is between the two others.
func memberStops(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	members := membersOf(t, c)
	reader, owner := observed(t, c)
	pods := podsOf(t, c)
	last := pods[len(pods)-1]
	if leader(t, c) != last { // defrag handles the leader last
		plugin(t, 0, "move-leader", c.Full(), "-n", c.Namespace, "--to", last, "-y")
	}
	asked := 0
	m := &maintenance.Job{
		Members: members, Clock: clock.RealClock{},
		Facts: func(ctx context.Context) (policy.Cluster, error) { return reader.Cluster(ctx, owner) },
		Logf:  t.Logf, Progressf: t.Logf, Settle: limit,
	}
	m.StillHeld = func() error {
		if asked++; asked == 2 {
			scale(t, c, 2)
			m.Settle = 5 * time.Second // the member stays stopped
		}
		return nil
	}
	err := m.Defragment(t.Context())
	stopped, ok := errors.AsType[*maintenance.StoppedError](err)
	if !ok || !slices.Equal(stopped.Done, pods[:2]) || !slices.Equal(stopped.Left, pods[2:]) {
		t.Errorf("%v", err)
	}
	refuses(t, []string{last}, "defrag", c.Full(), "-n", c.Namespace, "-y")
	scale(t, c, 3)
	if err := c.WaitReady(t.Context()); err != nil {
		t.Error(err)
	}
}

func scale(t *testing.T, c *clusters.Cluster, replicas int) {
	t.Helper()
	sts, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if err := kube.Patch(t.Context(), &appsv1.StatefulSet{ObjectMeta: sts.ObjectMeta}, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("%d pods of %s", replicas, c), func(ctx context.Context) (string, bool, error) {
		found, err := c.Members(ctx)
		return fmt.Sprint(len(found)), len(found) == replicas, err
	})
}

func podsOf(t *testing.T, c *clusters.Cluster) []string {
	t.Helper()
	var pods []string
	for _, m := range members(t, c) {
		pods = append(pods, m.Pod.Name)
	}
	return pods
}

// membersOf connects to a cluster's members as the plugin does.
func membersOf(t *testing.T, c *clusters.Cluster) *etcd.Cluster {
	t.Helper()
	reader, owner := observed(t, c)
	endpoints, err := access.Endpoints(t.Context(), reader, owner, access.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	found := &etcd.Cluster{Tunnel: tunnel.New(config), Endpoints: endpoints}
	t.Cleanup(func() { _ = found.Close() })
	return found
}

// observed returns a cluster as the plugin finds it.
func observed(t *testing.T, c *clusters.Cluster) (*observe.Reader, owner.Owner) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	config, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	all, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	reader := &observe.Reader{Reader: all, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	owner, err := resolve.Target(t.Context(), reader, c.Namespace, owner.Target{Name: c.Full()})
	if err != nil {
		t.Fatal(err)
	}
	return reader, owner
}

func clientOf(t *testing.T, members *etcd.Cluster, pod string) *clientv3.Client {
	t.Helper()
	client, err := members.Client(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func survey(t *testing.T, members *etcd.Cluster) etcd.Survey {
	t.Helper()
	s, err := members.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// leader returns the pod of the leader.
func leader(t *testing.T, c *clusters.Cluster) string {
	t.Helper()
	all, pod := membersOf(t, c), ""
	eventually(t, "a leader of "+c.String(), func(ctx context.Context) (string, bool, error) {
		s, err := all.Survey(ctx)
		for _, m := range s.Members {
			if m.Err == nil && m.Leader {
				pod = m.Pod
			}
		}
		return fmt.Sprintf("%+v", s.Members), pod != "", err
	})
	return pod
}
