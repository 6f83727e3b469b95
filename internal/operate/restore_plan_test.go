// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// TestRestoreFiles finds the volumes of data and log. What is on no claim is named:
// a member that starts without its log would begin another cluster.
func TestRestoreFiles(t *testing.T) {
	t.Parallel()
	data := corev1.VolumeMount{Name: "data", MountPath: "/data"}
	for _, row := range []struct {
		name   string
		wal    string
		mounts []corev1.VolumeMount
		claims string
		loose  string
		paths  int // mounts of the pod beside the volumes
	}{
		{name: "the log is with the data", mounts: []corev1.VolumeMount{data}, claims: "data-__POD__", paths: 1},
		{name: "a log beside the data", wal: "/data/wal", mounts: []corev1.VolumeMount{data}, claims: "data-__POD__", paths: 1},
		{name: "a volume for the log", wal: "/wal/log", mounts: []corev1.VolumeMount{data, {Name: "wal", MountPath: "/wal"}}, claims: "data-__POD__ wal-__POD__", paths: 2},
		{name: "two parts of a volume", wal: "/wal/log", mounts: []corev1.VolumeMount{data, {Name: "data", MountPath: "/wal", SubPath: "wal"}}, claims: "data-__POD__", paths: 2},
		{name: "a log that goes with its pod", wal: "/tmp/log", mounts: []corev1.VolumeMount{data, {Name: "scratch", MountPath: "/tmp"}}, loose: "/tmp/log"},
		{name: "a log in the image", wal: "/var/log", mounts: []corev1.VolumeMount{data}, loose: "/var/log"},
		{name: "data in the image", mounts: nil, loose: "/data/etcd"},
	} {
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "main"}}
		for _, claim := range []string{"data", "wal"} {
			sts.Spec.VolumeClaimTemplates = append(sts.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}})
		}
		sts.Spec.Template.Spec.Containers = []corev1.Container{{Name: "etcd", VolumeMounts: row.mounts}}
		r := &Restore{}
		if err := r.findFiles(sts, observe.Serving{Container: "etcd", DataDir: "/data/etcd", WALDir: row.wal}, "busybox"); err != nil {
			t.Fatal(err)
		}
		if r.Files.Loose != row.loose || (r.Files.Manifest == "") != (row.loose != "") {
			t.Errorf("%s: %q is loose, want %q\n%s", row.name, r.Files.Loose, row.loose, r.Files.Manifest)
		}
		if paths := strings.Count(r.Files.Manifest, "mountPath:"); row.loose == "" && (strings.Join(r.Files.Claims, " ") != row.claims || paths != row.paths) {
			t.Errorf("%s: claims %q, want %q, and %d mounts, want %d\n%s", row.name, r.Files.Claims, row.claims, paths, row.paths, r.Files.Manifest)
		}
	}
}

// TestRestoreOneByOne: members that start one after the other are restored as one,
// which grows in the way that its members are added.
func TestRestoreOneByOne(t *testing.T) {
	t.Parallel()
	for distribution, want := range map[observe.Distribution]string{
		observe.DistributionPlain:   "kubectl etcd -n team scale statefulset/main --replicas 3 -y",
		observe.DistributionBitnami: "which the members' start script adds: helm upgrade --reuse-values --set replicaCount=N",
	} {
		r := Restore{
			File: "main.db", Etcd: "3.6.5", OneByOne: true, Flags: "-n team", At: time.Unix(0, 0),
			Owner: observe.Owner{Flavour: observe.StatefulSet, Distribution: distribution, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"},
			Files: RestoreFiles{DataDir: "/data/etcd", WALDir: "/wal/log", Claims: []string{"data-__POD__", "wal-__POD__"}, Manifest: "kind: Pod\n"},
		}
		for _, pod := range []string{"main-0", "main-1", "main-2"} {
			r.Members = append(r.Members, RestoreMember{Pod: pod, Name: pod, PeerURL: "http://" + pod + ".main:2380"})
		}
		steps, _, err := RestorePlan(r)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, s := range steps {
			said = append(said, s.Title, s.Why)
			said = append(said, s.Commands...)
		}
		text := strings.Join(said, "\n")
		for _, words := range []string{
			want, "--replicas=1\n", "--initial-cluster main-0=http://main-0.main:2380 \\", "--wal-dir restored-19700101T000000/main-0.wal",
			"mv /wal/log /wal/log.before-19700101T000000", "delete pvc --ignore-not-found data-main-1 wal-main-1 data-main-2 wal-main-2",
		} {
			if !strings.Contains(text, words) {
				t.Errorf("%s: it doesn't say %q:\n%s", distribution, words, text)
			}
		}
		if distribution != observe.DistributionPlain && slices.ContainsFunc(said, func(c string) bool { return strings.HasPrefix(c, "kubectl etcd -n team scale") }) {
			t.Errorf("%s: it tells to do what is refused:\n%s", distribution, text)
		}
	}
}
