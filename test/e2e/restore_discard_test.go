// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

const keptAnnotation = "kubectl-etcd.dev/kept-data"

// keptBy returns the record of old data.
func keptBy(t *testing.T, o client.Object) string {
	t.Helper()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	return o.GetAnnotations()[keptAnnotation]
}

// TestPluginRestoreDiscard restores twice, and deletes the old data of both: of the first by sweep, since its deadline has
// passed, and of the second by --discard. The members keep running.
func TestPluginRestoreDiscard(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	r := savedBefore(t, start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, TLS: true, Mutate: logApart}))
	r.succeeds(t, r.file, "--keep-old-for", "1s")
	r.succeeds(t, r.file, "--bump-revision", "3000000000")
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "main"}}
	if kept := keptBy(t, set); strings.Count(kept, ",") != 1 || strings.Count(kept, "until=") != 1 {
		t.Fatalf("the record is %q", kept)
	}
	before := livesOf(t, r.c)
	table, _ := plugin(t, 0, "sweep", "-n", ns)
	wants(t, table, "KeptData", "statefulset/main", "the deadline has passed", "kubectl etcd sweep --remove -n "+ns)
	plugin(t, 0, "sweep", "--remove", "-n", ns, "--helper-image", images.Alpine, "-y")
	if kept := keptBy(t, set); kept == "" || strings.Contains(kept, "until=") {
		t.Errorf("after sweep, the record is %q", kept)
	}
	table, _ = plugin(t, 0, "sweep", "-n", ns)
	wants(t, table, "KeptData", "kubectl etcd snapshot restore statefulset/main --discard -n "+ns)

	_, printed := plugin(t, 0, "snapshot", "restore", "main", "--discard", "-n", ns, "--dry-run=client")
	wants(t, printed, "main-0: ", "main-2: ", ".before-", "What is deleted can't be brought back.")
	refuses(t, []string{"there is no terminal"}, "snapshot", "restore", "main", "--discard", "-n", ns)
	out, _ := plugin(t, 0, "snapshot", "restore", "main", "--discard", "-n", ns, "--helper-image", images.Alpine, "-y")
	wants(t, out, "old data of a restore deleted, which freed ")
	if kept := keptBy(t, set); kept != "" {
		t.Errorf("after --discard, the record is %q", kept)
	}
	if now := livesOf(t, r.c); !maps.Equal(now, before) {
		t.Errorf("members were restarted: %v, before %v", now, before)
	}
	_, printed = plugin(t, 0, "snapshot", "restore", "main", "--discard", "-n", ns, "-y")
	wants(t, printed, "No old data of StatefulSet "+ns+"/main is recorded")
	r.restored(t, 3)
}

// TestPluginRestoreDiscardDruid deletes the volumes that a restore of etcd-druid keeps, with their storage.
func TestPluginRestoreDiscardDruid(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	r := savedBefore(t, start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 3, TLS: true}))
	before := volumesOf(t, ns)
	restores(t, r.dir, "3.5")
	r.succeeds(t, r.file)
	volumesRemain(t, before)
	plugin(t, 0, "snapshot", "restore", "etcd/main", "--discard", "-n", ns, "-y")
	eventually(t, "the old volumes to be deleted", func(ctx context.Context) (string, bool, error) {
		var all corev1.PersistentVolumeList
		if err := kube.List(ctx, &all); err != nil {
			return "", false, err
		}
		left := 0
		for i := range all.Items {
			if c := all.Items[i].Spec.ClaimRef; c != nil && c.Namespace == ns && all.Items[i].Status.Phase == corev1.VolumeReleased {
				left++
			}
		}
		return fmt.Sprintf("%d are left", left), left == 0, nil
	})
	r.restored(t, 3)
}

// TestPluginRestoreLeavesCut restores under a cut of another user, which has its own end again afterwards.
func TestPluginRestoreLeavesCut(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	r := savedBefore(t, start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3}))
	cutTraffic(t, r.c, 0, "50m", "--allow-residual")
	theirs := cutUntil(t, r.c)
	printed := r.succeeds(t, r.file)
	wants(t, printed, "client traffic is already cut until "+theirs.UTC().Format(time.RFC3339), "stays cut until", "as before")
	if now := cutUntil(t, r.c); !now.Equal(theirs) {
		t.Errorf("the cut ends at %s, want %s", now, theirs)
	}
	plugin(t, 0, "restore-client-traffic", target(r.c), "-n", ns, "-y")
	r.restored(t, 3)
}

// TestPluginSnapshotVerify starts a throw-away etcd from a snapshot of a member.
func TestPluginSnapshotVerify(t *testing.T) {
	operating(t, 1)
	r := savedBefore(t, start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain, Size: 1, TLS: true}))
	paths, err := programs.Ensure(t.Context(), programs.Cache{}, []string{"etcd"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	run := r.startCommand(t, "snapshot", "verify", r.file, "--restore", "--etcd", paths["etcd"])
	if code := run.wait(t); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &run.stdout, &run.stderr)
	}
	wants(t, run.stdout.String(), "Restored:", fmt.Sprintf("revision %d, ", r.saved), "PREFIX")
}
