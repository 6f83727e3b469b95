// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginScaleDruidToZero stops a druid cluster, which requires a saved snapshot. Then it
// starts the cluster again, which requires the same number of members.
func TestPluginScaleDruidToZero(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 3})
	put(t, c, 20)
	file := filepath.Join(t.TempDir(), "main.db")
	saved := decode[output.Snapshot](t, first(plugin(t, 0, "snapshot", "save", target(c), file, "-n", ns, "-o", "json")))
	put(t, c, 40) // the volumes retain these keys, and no snapshot has them
	want, claims := contents(t, c), claimsOf(t, ns)

	to := func(size int, more ...string) []string {
		return append([]string{"scale", "main", "--replicas", fmt.Sprint(size), "-n", ns, "-y"}, more...)
	}
	refusesToStop(t, c, file, to(0))
	_, planned := plugin(t, 0, to(0, "--after-snapshot", file, "--dry-run=server")...)
	wants(t, planned, fmt.Sprintf("snapshot %s is complete: %d keys at revision %d, the cluster is at ", file, saved.Keys, saved.Revision), "To start them again, use the same number: --replicas 3")
	printed, messages := plugin(t, 0, to(0, "--after-snapshot", file)...)
	if printed != "etcd/main scaled to 0 members\n" {
		t.Errorf("stdout %q", printed)
	}
	wants(t, messages, "set the replicas of Etcd "+ns+"/main to 0", "requested a reconcile from etcd-druid")
	if left := livesOf(t, c); len(left) > 0 {
		t.Errorf("the stopped cluster has %v", left)
	}
	_, messages = plugin(t, 0, to(0)...)
	wants(t, messages, "already has 0 members")

	for _, size := range []int{1, 5} {
		texts := "it was stopped with 3 members, and their data counts all of them: start it with --replicas 3"
		refuses(t, []string{fmt.Sprintf("refused: cannot scale Etcd %s/main to %d member", ns, size), texts}, to(size)...)
	}
	refuses(t, []string{"it is hibernated", " -n " + ns + " scale etcd/main --replicas 3"}, "snapshot", "restore-plan", file, target(c), "-n", ns)
	if left := livesOf(t, c); len(left) > 0 {
		t.Errorf("after the refused commands the cluster has %v", left)
	}
	printed, _ = plugin(t, 0, to(3)...)
	if printed != "etcd/main scaled to 3 members\n" {
		t.Errorf("stdout %q", printed)
	}
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	votersAre(t, c, 3)
	if now := contents(t, c); now != want {
		t.Errorf("the contents are %q, want %q", now, want)
	}
	if now := claimsOf(t, ns); !maps.Equal(now, claims) {
		t.Errorf("the claims are %v, want %v", now, claims)
	}
}

// refusesToStop tries to stop a cluster without a complete snapshot of its own data. No attempt
// changes anything.
func refusesToStop(t *testing.T, c *clusters.Cluster, file string, stop []string) {
	t.Helper()
	before := livesOf(t, c)
	other := filepath.Join(t.TempDir(), "other.db")
	plugin(t, 0, "snapshot", "save", target(sharedDruid(t)), other, "-n", sharedNamespace)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(content)
	flipped[len(flipped)/2] ^= 1
	for _, row := range []struct {
		name  string
		code  int
		file  string
		texts []string
	}{
		{"no snapshot", 2, "", []string{"refused: ", "to 0 members without a snapshot. Run kubectl etcd snapshot save etcd/main FILE -n " + c.Namespace, "--after-snapshot FILE"}},
		{"no file", 1, file + ".not", []string{"error: --after-snapshot: ", "no such file"}},
		{"damaged", 3, tempFile(t, flipped), []string{"unhealthy: --after-snapshot: ", "it was changed or truncated after the member sent it"}},
		{"cut off", 3, tempFile(t, content[:len(content)-1000]), []string{"unhealthy: --after-snapshot: ", "the file is truncated, or is something else"}},
		{"a copy without its hash", 2, tempFile(t, content[:len(content)-32]), []string{"refused: ", "has no hash at its end"}},
		{"of another cluster", 2, other, []string{"refused: ", other + " belongs to another cluster: it contains no member of Etcd " + c.String()}},
	} {
		args := stop
		if row.file != "" {
			args = append(slices.Clone(stop), "--after-snapshot", row.file)
		}
		prints(t, row.code, row.texts, args...)
		etcd, err := c.Etcd(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now := livesOf(t, c); etcd.Spec.Replicas != 3 || !maps.Equal(now, before) {
			t.Fatalf("%s: replicas %d; the members changed to %v from %v", row.name, etcd.Spec.Replicas, now, before)
		}
	}
}

// tempFile writes a file with this content and returns its path.
func tempFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// claimsOf returns the UIDs of a namespace's claims by name.
func claimsOf(t *testing.T, ns string) map[string]string {
	t.Helper()
	var list corev1.PersistentVolumeClaimList
	if err := kube.List(t.Context(), &list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	claims := map[string]string{}
	for _, c := range list.Items {
		claims[c.Name] = string(c.UID)
	}
	return claims
}
