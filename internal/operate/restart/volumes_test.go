// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// TestCheckData: where a pod's configuration doesn't show its data directory, the plan reports it instead of
// naming a volume, and refuses if the pod has no claim.
func TestCheckData(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, dir, wal  string
		claim           bool
		refused, warned string
	}{
		{name: "on its claim", dir: "/data/etcd", claim: true},
		{name: "in the container", dir: "/elsewhere", claim: true, refused: "in the container's own file system"},
		{name: "a variable", dir: "$DATA_DIR/etcd", claim: true, warned: "not known where the data of main-0 is"},
		{name: "a variable, and no claim", dir: "$DATA_DIR/etcd", refused: "not known where the data of main-0 is"},
		{name: "a command below the mount", dir: "/data/`hostname`", refused: "not known where the data of main-0 is"},
		{name: "a relative directory", dir: "main-0.etcd", claim: true, warned: "not known where the data of main-0 is"},
		{name: "a relative directory, and no claim", dir: "main-0.etcd", refused: "not known where the data of main-0 is"},
		{name: "a log in a variable", dir: "/data/etcd", wal: "$WAL", claim: true, warned: "not known where the data of main-0 is"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j := newStage(t).job(t)
			pod := &corev1.Pod{}
			if err := j.Kube.Get(t.Context(), client.ObjectKey{Namespace: "team", Name: "main-0"}, pod); err != nil {
				t.Fatal(err)
			}
			// An argument without a shell isn't expanded.
			pod.Spec.Containers[0].Args = []string{"--name=main-0", "--data-dir=" + row.dir, "--wal-dir=" + row.wal}
			if !row.claim {
				pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/d"}}}}
			}
			f := &operate.Findings{}
			if err := j.checkData(t.Context(), pod, f); err != nil {
				t.Fatal(err)
			}
			for what, pair := range map[string][2]string{
				"refusal": {strings.Join(f.Refusals, "; "), row.refused}, "warning": {strings.Join(f.Warnings, "; "), row.warned},
			} {
				if got, want := pair[0], pair[1]; !strings.Contains(got, want) || want == "" && got != "" {
					t.Errorf("%s %q, want %q", what, got, want)
				}
			}
		})
	}
}
