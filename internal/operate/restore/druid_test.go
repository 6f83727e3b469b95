// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// TestRestoreSuspend: annotations that another user has set for druid are there afterwards, too.
func TestRestoreSuspend(t *testing.T) {
	t.Parallel()
	const (
		annotate = "kubectl -n team annotate --overwrite etcd/main "
		begin    = annotate + traffic.SuspendAnnotation + "- druid.gardener.cloud/operation=reconcile"
		back     = "kubectl -n team annotate etcd/main "
	)
	for _, row := range []struct {
		name  string
		found map[string]string
		off   string
		// awaits is true if it waits for the end of the reconciliation before on.
		awaits bool
		on     []string
	}{
		{name: "neither", off: annotate + traffic.SuspendAnnotation + "= " + unprotection + "=", on: []string{back + unprotection + "-"}},
		{name: "suspended", found: map[string]string{traffic.SuspendAnnotation: "by: ann"}, off: annotate + unprotection + "=", awaits: true, on: []string{back + unprotection + "- '" + traffic.SuspendAnnotation + "=by: ann'"}},
		{name: "unprotected", found: map[string]string{unprotection: ""}, off: annotate + traffic.SuspendAnnotation + "="},
		{name: "both", found: map[string]string{traffic.SuspendAnnotation: "", unprotection: "true"}, awaits: true, on: []string{back + traffic.SuspendAnnotation + "="}},
	} {
		r := druidRestore()
		r.Owner.Annotations = row.found
		if off := strings.Join(r.suspend().Commands(r.Flags), "\n"); off != row.off {
			t.Errorf("%s: it begins with %q, want %q", row.name, off, row.off)
		}
		on := r.resume().Commands(r.Flags)
		begun, last := on[0], on[3:]
		awaits := len(last) > 0 && strings.HasPrefix(last[0], "for attempt in ") && strings.Contains(last[0], "has not ended its reconciliation")
		if awaits {
			last = last[1:]
		}
		if got, want := strings.Join(last, "\n"), strings.Join(row.on, "\n"); begun != begin || awaits != row.awaits || got != want {
			t.Errorf("%s: it has druid begin by %q, and ends with %q, want %q", row.name, begun, got, want)
		}
		_, warnings, err := Steps(r)
		wantRefusal(t, row.name, err, "")
		if warned := strings.Contains(strings.Join(warnings, "\n"), traffic.SuspendAnnotation); warned != traffic.Suspended(r.Owner) {
			t.Errorf("%s: the warnings are %q", row.name, warnings)
		}
	}
}

// TestRestoreStore: a store that is a directory of the nodes is reached by a pod, if the
// sidecars mount it.
func TestRestoreStore(t *testing.T) {
	t.Parallel()
	host := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/buckets/bucket"}}
	for _, row := range []struct {
		name, provider string
		source         corev1.VolumeSource
		has            []string
		not            string
	}{
		{
			name: "a directory of the nodes", provider: "Local", source: host, not: "THE-STORE",
			has: []string{
				"  name: main-restore-store\n", "      path: /buckets/bucket\n", "    - mountPath: /home/nonroot/bucket\n", "    runAsUser: 65532\n",
				"-- sh -c 'mkdir -p -m 700 /home/nonroot/bucket/main/v2 && cat > /home/nonroot/bucket/main/v2/restore.part' < restored-19700101T000000.db",
				"mv /home/nonroot/bucket/main/v2/restore.part /home/nonroot/bucket/main/v2/Full-00000000-1000000000-0;",
				"kubectl -n team delete pod -l kubectl-etcd.dev/restore-of=",
			},
		},
		{name: "by its other name", provider: "local", source: host, has: []string{"path: /buckets/bucket"}, not: "THE-STORE"},
		{name: "mounted in another way", provider: "Local", has: []string{"THE-STORE/bucket/main/v2/Full-"}, not: "kind: Pod"},
		{name: "a bucket", provider: "S3", source: host, has: []string{"aws s3 cp"}, not: "kind: Pod"},
	} {
		r := druidRestore()
		r.Druid.Store = &backupstore.Store{Provider: row.provider, Container: "bucket", Prefix: "main"}
		spec := &corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsUser: new(int64(65532))},
			Containers: []corev1.Container{
				{Name: "etcd", VolumeMounts: []corev1.VolumeMount{{Name: "main", MountPath: "/var/etcd/data"}}},
				{Name: "backup-restore", VolumeMounts: []corev1.VolumeMount{{Name: "local-backup", MountPath: "/home/nonroot/bucket"}}},
			},
			Volumes: []corev1.Volume{{Name: "local-backup", VolumeSource: row.source}},
		}
		if err := r.findStore(spec, "busybox"); err != nil {
			t.Fatal(err)
		}
		planRow{name: row.name, has: row.has, not: row.not}.test(t, r)
	}
}
