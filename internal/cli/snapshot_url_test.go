// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob/blobtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// snapshotWorld is a cluster whose members serve snapshots.
func snapshotWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, verb{})
	w.Etcd.Database = etcdtest.Database(t)
	return w
}

// must runs a command of snapshot, and checks its exit code and its output, stdout before stderr.
func (w *world) must(t *testing.T, code int, command string, texts ...string) {
	t.Helper()
	w.out.Reset()
	w.err.Reset()
	verb := verb{path: "snapshot", args: command}
	if got := w.run(t.Context(), verb); got != code {
		t.Errorf("%s: exit code %d, want %d\n%s%s", command, got, code, &w.out, &w.err)
	}
	for _, text := range texts {
		if all := w.out.String() + w.err.String(); !strings.Contains(all, text) {
			t.Errorf("%s: it lacks %q:\n%s", command, text, all)
		}
	}
}

// TestSnapshotURLs: save, list and status work with the URLs of both kinds of stores.
func TestSnapshotURLs(t *testing.T) {
	server := &blobtest.S3{}
	bucket, parameters, _ := strings.Cut(server.URL(t), "?")
	for name, store := range map[string][2]string{
		"directory": {"file://" + filepath.ToSlash(t.TempDir()) + "/", ""}, "s3": {bucket, "?" + parameters},
	} {
		t.Run(name, func(t *testing.T) {
			w := snapshotWorld(t)
			folder, object := store[0]+store[1], store[0]+"main.db"+store[1]
			w.must(t, 0, "save statefulset/main "+object, "Saved and verified "+store[0]+"main.db", "StatefulSet team/main")
			w.must(t, 1, "save statefulset/main "+object, "main.db", "use --force to replace it")
			w.must(t, 0, "save statefulset/main "+object+" --force")
			w.must(t, 0, "status "+object, "the hash at the end, all pages and their order", "StatefulSet team/main")
			w.must(t, 0, "list "+folder, "NAME", "main.db")
			w.must(t, 0, "list "+folder+" -o name", "main.db")
			w.must(t, 0, "save statefulset/main "+folder, "Saved and verified "+store[0]+"team.main.sts-")
			w.must(t, 0, "list "+folder+" -o jsonpath={.items[*].cluster.name}", "main main")
			w.must(t, 1, "status "+folder)
		})
	}
}

// TestSnapshotURLFails: no object appears if no member has a snapshot, or if the store returns something else.
func TestSnapshotURLFails(t *testing.T) {
	server := &blobtest.S3{}
	bucket, parameters, _ := strings.Cut(server.URL(t), "?")
	object := bucket + "main.db?" + parameters
	newWorld(t, verb{}).must(t, 1, "save statefulset/main "+object+" --retries 0", "snapshot of main-1")
	server.Get = func(w http.ResponseWriter) { _, _ = w.Write([]byte("other")) }
	snapshotWorld(t).must(t, 1, "save statefulset/main "+object, "the store returns other data than it received", "the object is deleted")
	if keys := server.Keys(); len(keys) > 0 {
		t.Errorf("the store has %q", keys)
	}
	w := snapshotWorld(t)
	for _, row := range [][2]string{
		{"save statefulset/main s3://me:hunter2@backups/main.db", "put the credentials into the environment"},
		{"status s3://backups/main.db?token=hunter2", "looks like a credential"},
		{"list s3://backups?token=hunter2", "looks like a credential"},
		{"save statefulset/main file --keep 2", "--keep and --renew-lease can only be used with a URL"},
		{"save statefulset/main s3://backups/main.db --keep 2", "a URL that ends with a slash"},
		{"save statefulset/main s3://backups/ --keep 0", "--keep must be at least 1"},
	} {
		w.must(t, 1, row[0], row[1])
		if strings.Contains(w.err.String(), "hunter2") {
			t.Errorf("%s: the output repeats the credential", row[0])
		}
	}
}

// TestSnapshotKeep: a backup job renews its Lease, and then deletes the snapshots that are too many.
func TestSnapshotKeep(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	dir := t.TempDir()
	url := "file://" + filepath.ToSlash(dir) + "/"
	for _, at := range []string{"20260101T000000Z", "20260102T000000Z"} {
		name := "team.main-" + at + ".db"
		w.must(t, 0, "save statefulset/main "+url+name)
	}
	w.must(t, 1, "save statefulset/main "+url+" --keep 2 --renew-lease main-backup", "the snapshot is stored, but not recorded")
	w.Create(apitest.Object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": apitest.Object{"namespace": "team", "name": "main-backup"}})
	clean(t, dir)
	w.must(t, 0, "save statefulset/main "+url+" --keep 2 --renew-lease main-backup", "Deleted "+url+"team.main-20260101T000000Z.db")
	if operatetest.Field(w.Get(operatetest.Path("Lease", "main-backup")), "spec")["renewTime"] == nil {
		t.Error("the Lease is not renewed")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.db")); len(left) != 2 {
		t.Errorf("the folder has %q", left)
	}
}

// clean deletes the snapshots of today, whose names may be equal to that of the next one.
func clean(t *testing.T, dir string) {
	t.Helper()
	all, _ := filepath.Glob(filepath.Join(dir, "team.main*"))
	for _, name := range all {
		if !strings.Contains(name, "-202601") {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}
