// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// saves has the plugin save a snapshot of a cluster in each way, and checks the report. Tests of
// every ready-made cluster call it, with TLS and without.
func saves(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	savesIntoFile(t, c)
	savesToStdout(t, c)
	if c.Flavour == clusters.Druid && !c.Druid.NoBackups {
		proposesToSave(t, c)
		savesIntoStore(t, c)
		savesByTask(t, c)
		return
	}
	_, messages := plugin(t, 2, "snapshot", "save", target(c), "-n", c.Namespace, "--via", "backup-restore")
	if !strings.Contains(messages, "save to a file instead") {
		t.Errorf("%s: a save by a missing backup-restore: %s", c, messages)
	}
}

func savesIntoFile(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	_, revision := leads(t, c)
	file := filepath.Join(t.TempDir(), "saved.db")
	var saved output.Snapshot
	var out string
	eventually(t, "a snapshot from a follower, which must respond in time", func(context.Context) (string, bool, error) {
		out, _ = plugin(t, 0, "snapshot", "save", target(c), file, "--force", "-n", c.Namespace, "-o", "json")
		saved = decode[output.Snapshot](t, out)
		return out, saved.Origin != nil && (saved.Origin.Role == "leader") == (c.Size == 1), nil
	})
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(content[:len(content)-32]); saved.SHA256 != fmt.Sprintf("%x", sum) || string(sum[:]) != string(content[len(content)-32:]) {
		t.Errorf("%s: the file's database has the SHA-256 %x, the plugin prints %s", c, sum, saved.SHA256)
	}
	if saved.Origin.Cluster.Name == "" || saved.Revision < revision || saved.Keys == 0 {
		t.Errorf("%s: saved %s, but the leader was at revision %d", c, out, revision)
	}
	if left := filesIn(t, filepath.Dir(file)); !slices.Equal(left, []string{"saved.db", "saved.db.json"}) {
		t.Errorf("%s: the files are %q", c, left)
	}
	printed, _ := plugin(t, 0, "snapshot", "status", file)
	for _, want := range []string{"all pages", fmt.Sprintf("%d, ", saved.Revision), saved.Origin.MemberID} {
		if !strings.Contains(printed, want) {
			t.Errorf("%s: status lacks %q:\n%s", c, want, printed)
		}
	}
}

func savesToStdout(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	streamed, messages := plugin(t, 0, "snapshot", "save", target(c), "-", "-n", c.Namespace)
	if body := len(streamed) - 32; body < 4096 || fmt.Sprintf("%x", sha256.Sum256([]byte(streamed[:body]))) != fmt.Sprintf("%x", streamed[body:]) || !strings.Contains(messages, "with the correct hash") {
		t.Errorf("%s: stdout has %d bytes that are not a snapshot\n%s", c, len(streamed), messages)
	}
}

// savesIntoStore has backup-restore save both kinds of snapshot, and finds each in the store
// under the printed name.
func savesIntoStore(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	for _, kind := range []string{"full", "delta"} {
		works(t, c) // a delta snapshot needs a new write
		out, messages := plugin(t, 0, "snapshot", "save", target(c), "-n", c.Namespace, "--via", "backup-restore="+kind, "-o", "json", "-y", "--reason", "before "+kind)
		list := decode[output.SnapshotList](t, out)
		if len(list.Items) == 0 && kind == "delta" && strings.Contains(messages, "Nothing has changed") {
			continue // the sidecar's schedule took a snapshot first
		}
		if len(list.Items) != 1 || !strings.EqualFold(list.Items[0].Type, kind) {
			t.Errorf("%s: %s: got %s\n%s", c, kind, out, messages)
			continue
		}
		stored, err := c.Snapshots()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(stored, list.Items[0].Name) {
			t.Errorf("%s: %s: the plugin printed %q, and the store has %q", c, kind, list.Items[0].Name, stored)
		}
		awaitEvent(t, c, "backup-restore wrote "+kind+" snapshot "+list.Items[0].Name, "kubectl etcd: before "+kind)
	}
	// While the sidecars elect a leader, none of them knows the content of the store.
	eventually(t, "a list of the store's content", func(context.Context) (string, bool, error) {
		out, _ := plugin(t, 0, "snapshot", "list", target(c), "-n", c.Namespace, "-o", "json")
		list := decode[output.SnapshotList](t, out)
		stored, err := c.Snapshots()
		listed := len(list.Items) > 0 && list.Items[0].Type == "Full" && slices.Contains(stored, list.Items[0].Name) && len(list.Leases) == 2
		return fmt.Sprintf("list prints %s; the store has %q", out, stored), listed, err
	})
}

// proposesToSave checks that a save prints its plan. Without confirmation and in dry runs, it
// takes no snapshot.
func proposesToSave(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	save := []string{"snapshot", "save", target(c), "-n", c.Namespace, "--via", "backup-restore"}
	plan := "take a full snapshot with backup-restore of Etcd " + c.Namespace + "/" + c.Name
	prints(t, 0, []string{plan, "according to lease " + c.Name + "-full-snap, the store has had revision", "Nothing was changed (--dry-run=client)"}, append(save, "--dry-run=client")...)
	prints(t, 0, []string{plan, "Nothing was changed (--dry-run=server)"}, append(save, "--dry-run=server")...)
	prints(t, 2, []string{plan, "run the command again with -y"}, save...)
}

// savesByTask saves as a user who may neither connect to the sidecars nor read Secrets, but may
// create tasks for etcd-druid.
func savesByTask(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	user := "tasker-" + c.Name
	grant(t, c.Namespace, user, "", "pods", "get", "list")
	grant(t, c.Namespace, user, "apps", "statefulsets", "get", "list")
	grant(t, c.Namespace, user, "druid.gardener.cloud", "etcds", "get", "list")
	grant(t, c.Namespace, user, "coordination.k8s.io", "leases", "get", "create", "update", "delete")
	grant(t, c.Namespace, user, "events.k8s.io", "events", "create")
	save := []string{"snapshot", "save", target(c), "-n", c.Namespace, "--via", "backup-restore", "--as", user}
	lacks := []string{`verb "create" on "pods/portforward" in namespace "` + c.Namespace + `"`}
	if c.TLS {
		lacks = []string{`verb "create" on "etcdopstasks.druid.gardener.cloud" in namespace "` + c.Namespace + `"`, `cannot get resource "secrets"`}
	}
	prints(t, 1, lacks, append(save, "-y")...)

	grant(t, c.Namespace, user, "druid.gardener.cloud", "etcdopstasks", "create", "get")
	prints(t, 0, []string{"ask etcd-druid by an EtcdOpsTask", "Nothing was changed (--dry-run=server)"}, append(save, "--dry-run=server")...)
	var tasks metav1.PartialObjectMetadataList
	tasks.SetGroupVersionKind(druidv1alpha1.SchemeGroupVersion.WithKind("EtcdOpsTaskList"))
	if err := kube.List(t.Context(), &tasks, client.InNamespace(c.Namespace)); err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks.Items {
		if strings.HasPrefix(task.Name, c.Name+"-") { // other tests have tasks in the same namespace
			t.Errorf("%s: a dry run left task %s", c, task.Name)
		}
	}
	texts := []string{
		"Asking etcd-druid for it by a task instead", "EtcdOpsTask " + c.Namespace + "/" + c.Name + "-full-", " succeeded",
		"According to its lease " + c.Name + "-full-snap, the store has had revision ",
	}
	prints(t, 0, texts, append(save, "-y")...)
	awaitEvent(t, c, "etcd-druid took a full snapshot by EtcdOpsTask", "by "+user+" with kubectl etcd")
}

// TestPluginSnapshotInterrupted interrupts a transfer with Ctrl-C. No file remains, and the
// command fails. It also checks other reasons for a refusal.
func TestPluginSnapshotInterrupted(t *testing.T) {
	operating(t, 3)
	c := start(t, namespace(t), "large", clusters.Spec{Flavour: clusters.Plain, Size: 1})
	fill(t, c, 96)
	dir := t.TempDir()
	file := filepath.Join(dir, "large.db")
	r := startPlugin(t, "snapshot", "save", target(c), file, "-n", c.Namespace)
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) { // the transfer may take less than a second
		if info, err := os.Stat(file + ".part"); err == nil && info.Size() > 0 {
			break
		}
		if time.Since(began) > limit {
			t.Fatalf("the transfer doesn't begin: %s", r.stderr.String())
		}
	}
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := r.wait(t); code != 130 || len(filesIn(t, dir)) > 0 {
		t.Errorf("after an interrupt: exit code %d, files %q\n%s", code, filesIn(t, dir), r.stderr.String())
	}
	saveRefused(t, c, file)
	plugin(t, 0, "snapshot", "save", target(c), file, "-n", c.Namespace, "--force")
	plan, _ := plugin(t, 0, "snapshot", "restore-plan", file, target(c), "-n", c.Namespace)
	for _, want := range []string{"--bump-revision 1000000000 --mark-compacted", "--name large-0", "--replicas=0", "claimName: data-__POD__"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan to restore lacks %q:\n%s", want, plan)
		}
	}
}

// fill writes this many keys of 1 MiB into a cluster.
func fill(t *testing.T, c *clusters.Cluster, keys int) {
	t.Helper()
	client, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	value := strings.Repeat("x", 1<<20)
	for n := range keys {
		retry(t, "a write of 1 MiB", func(ctx context.Context) error {
			_, err := client.Put(ctx, fmt.Sprint(n), value)
			return err
		})
	}
}

// saveRefused checks that a save is refused if the file exists already or if the member doesn't
// exist. It leaves the file.
func saveRefused(t *testing.T, c *clusters.Cluster, file string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, messages := plugin(t, 1, "snapshot", "save", target(c), file, "-n", c.Namespace)
	if mine, err := os.ReadFile(file); err != nil || string(mine) != "mine" || !strings.Contains(messages, "exists already") {
		t.Errorf("the existing file now has %d bytes, %v\n%s", len(mine), err, messages)
	}
	_, messages = plugin(t, 3, "snapshot", "status", file)
	if !strings.Contains(messages, "neither the size of a database") {
		t.Errorf("status of a file that is not a snapshot: %s", messages)
	}
	_, messages = plugin(t, 1, "snapshot", "save", target(c), "-n", c.Namespace, "--member", "large-7")
	if !strings.Contains(messages, `no member with the pod "large-7": it has large-0`) {
		t.Errorf("save of a member that doesn't exist: %s", messages)
	}
}

// leads returns the leader's pod and its revision.
func leads(t *testing.T, c *clusters.Cluster) (pod string, revision int64) {
	t.Helper()
	eventually(t, "a leader", func(ctx context.Context) (string, bool, error) {
		healths, err := c.Health(ctx)
		if err != nil {
			return "", false, err
		}
		for _, h := range healths {
			if h.Err == nil && h.Member == h.Leader {
				pod, revision = h.Pod, h.Revision
			}
		}
		return fmt.Sprint(healths), pod != "", nil
	})
	return pod, revision
}

// target returns a cluster as an argument of the plugin.
func target(c *clusters.Cluster) string {
	if c.Flavour == clusters.Druid {
		return "etcd/" + c.Name
	}
	return "statefulset/" + c.Full()
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return out
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
