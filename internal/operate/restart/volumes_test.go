// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// TestCheckDataOfOneMember: the only voter can't be replaced, so the plan has another way to keep its data.
func TestCheckDataOfOneMember(t *testing.T) {
	t.Parallel()
	for replicas, want := range map[int32]string{
		1: "kubectl etcd snapshot save statefulset/main FILE -n team, give the data directory a volume claim",
		3: "kubectl etcd member replace main-0 -n team --force",
	} {
		j := newStage(t).job(t)
		j.Owner.Replicas = replicas
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name = "team", "main-0"
		for name, volume := range map[string]*corev1.Volume{
			"none": nil, "emptyDir": {VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			"ephemeral": {VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		} {
			f := &operate.Findings{}
			if err := j.checkVolume(t.Context(), pod, volume, f); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(f.Refusals, "; "); !strings.Contains(got, want) {
				t.Errorf("%d members, %s: %q lacks %q", replicas, name, got, want)
			}
		}
	}
}

// TestCheckDataNotRead: a request that fails is an error, and not a configuration that isn't known.
func TestCheckDataNotRead(t *testing.T) {
	t.Parallel()
	for code, fails := range map[int]bool{http.StatusInternalServerError: true, http.StatusForbidden: false, http.StatusNotFound: false} {
		s := newStage(t)
		j := s.job(t)
		pod := &corev1.Pod{}
		if err := j.Kube.Get(t.Context(), client.ObjectKey{Namespace: "team", Name: "main-0"}, pod); err != nil {
			t.Fatal(err)
		}
		pod.Spec.Containers[0].Args = []string{"--name=main-0", "--data-dir=$(DIR)"}
		pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}}}}
		s.Refuse = func(_, path string) int {
			if strings.HasSuffix(path, "/configmaps/config") {
				return code
			}
			return 0
		}
		if err := j.checkData(t.Context(), &state{}, pod, &operate.Findings{}); (err != nil) != fails {
			t.Errorf("%d: %v", code, err)
		}
	}
}

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
			if err := j.checkData(t.Context(), &state{}, pod, f); err != nil {
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
