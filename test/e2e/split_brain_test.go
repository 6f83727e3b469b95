// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginSplitBrain has two etcd clusters behind one name. All commands that inspect it
// report the split brain. Commands that could change a cluster are refused, and commands that
// help succeed.
func TestPluginSplitBrain(t *testing.T) {
	operating(t, 3)
	c := start(t, namespace(t), "torn", clusters.Spec{
		Flavour: clusters.Plain, Ephemeral: true, Plain: clusters.PlainSpec{Shell: true}, Mutate: bootstrapApart,
	})
	on := []string{target(c), "-n", c.Namespace}
	apart := []string{"split brain, 2 clusters: ", "torn-0 and torn-1 in ", "torn-2 in ", "is down"}
	prints(t, 3, apart, append([]string{"status"}, on...)...)
	diagnosed(t, c, "X-2")
	prints(t, 3, []string{"torn-2 differs: it is a member of another cluster, "}, append([]string{"member", "list"}, on...)...)
	checks := awaitChecked(t, c, map[string]string{"Q005": "Failure", "M001": "Unknown"})
	if got, want := fixOf(t, checks["Q005"]), "kubectl etcd member list statefulset/torn -n "+c.Namespace; got != want {
		t.Errorf("the fix is %q, want %q", got, want)
	}

	before := ownLists(t, c)
	tornRefuses(t, c)
	if now := ownLists(t, c); now != before {
		t.Errorf("refused commands changed the members from\n%s\nto\n%s", before, now)
	}
	// A user can still save the data of each half, and can stop all client writes.
	plugin(t, 0, append([]string{"snapshot", "save", "--member", "torn-2", on[0], filepath.Join(t.TempDir(), "other.db")}, on[1:]...)...)
	plugin(t, 0, append([]string{"cut-client-traffic", "--for", "1h", "--reason", "split brain", "-y"}, on...)...)
	prints(t, 3, append(apart, "kubectl etcd restore-client-traffic "+on[0]), append([]string{"status"}, on...)...)
	plugin(t, 0, append([]string{"restore-client-traffic", "-y"}, on...)...)
	t.Run("the report is right", func(t *testing.T) { splitReported(t, c) })
}

// splitReported writes a key to one of the two clusters, which the other cluster never gets.
func splitReported(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	members := membersOf(t, c)
	for n := range 3 {
		retry(t, "a write to two of three members", func(ctx context.Context) error {
			conn, err := members.Client(ctx, "torn-0")
			if err == nil {
				_, err = conn.Put(ctx, fmt.Sprint(n), "torn")
			}
			return err
		})
	}
	out, _ := plugin(t, 3, "check", target(c), "-n", c.Namespace, "-o", "json", "--only", "Q005,D004")
	for _, r := range decode[output.CheckReport](t, out).Checks {
		if r.ID == "D004" && r.Result == "OK" {
			t.Errorf("%s %s, but two clusters have different keys: %+v", r.ID, r.Title, r)
		}
	}
	_, printed := plugin(t, 3, "member", "list", target(c), "-n", c.Namespace)
	if strings.Contains(printed, "has no quorum") {
		t.Errorf("torn-0 and torn-1 have just accepted writes with their quorum, but the output is:\n%s", printed)
	}
}

// tornRefuses tries all commands that would change one of the clusters, and commands that need
// to know which cluster is meant.
func tornRefuses(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	printed := []string{"refused: ", "split brain: the members belong to 2 etcd clusters: ", "torn-0, torn-1 in cluster ", "torn-2 in cluster "}
	for _, args := range []string{
		"scale torn --replicas 5 -y", "scale torn --replicas 1 -y", "member remove torn torn-2 -y", "member replace torn-2 --force -y",
		"member add torn --peer-urls http://a:2380 -y", "member promote torn torn-2 -y", "move-leader torn --to torn-1 -y",
		"defrag torn -y", "alarm disarm torn -y", "alarm list torn", "proxy torn",
	} {
		refuses(t, printed, append(strings.Fields(args), "-n", c.Namespace)...)
	}
	file := filepath.Join(t.TempDir(), "whose.db")
	refuses(t, append(printed, "choose a member with --member"), "snapshot", "save", "torn", file, "-n", c.Namespace)
	if left := filesIn(t, filepath.Dir(file)); len(left) > 0 {
		t.Errorf("the refused save left the files %q", left)
	}
}

// ownLists returns the member list of each member.
func ownLists(t *testing.T, c *clusters.Cluster) (lists string) {
	t.Helper()
	members := membersOf(t, c)
	for _, pod := range podsOf(t, c) {
		retry(t, "the member list of "+pod, func(ctx context.Context) error {
			own, err := members.OwnList(ctx, pod)
			slices.SortFunc(own, func(a, b etcd.Listed) int { return cmp.Compare(a.ID, b.ID) })
			if err == nil {
				lists += fmt.Sprintf("%s: %+v\n", pod, own)
			}
			return err
		})
	}
	return lists
}

// bootstrapApart has the last member bootstrap its own cluster. The other members have a quorum
// without it.
func bootstrapApart(set *appsv1.StatefulSet) {
	script := &set.Spec.Template.Spec.Containers[0].Args[0]
	*script = `case ${POD_NAME} in *-2)
export ALONE="--initial-cluster-token=alone --initial-cluster=${POD_NAME}=http://${POD_NAME}.` + set.Spec.ServiceName + "." + set.Namespace + `.svc.cluster.local:2380";;
esac
` + strings.TrimRight(*script, "\n") + ` ${ALONE}`
}
