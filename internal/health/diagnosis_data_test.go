// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// TestDataWithoutClaim: the data of a member without a claim template is judged only where its directory
// is known.
func TestDataWithoutClaim(t *testing.T) {
	t.Parallel()
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	host := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/d"}}
	for _, row := range []struct {
		name   string
		dir    string
		volume corev1.VolumeSource
		gone   bool // its pod
		want   recovery.Data
	}{
		{"on a volume", "/data/etcd", host, false, recovery.DataValid},
		{"in an emptyDir", "/data/etcd", empty, false, recovery.DataInPod},
		{"in the container", "/elsewhere", host, false, recovery.DataInPod},
		{"in an emptyDir that is gone", "/data/etcd", empty, true, recovery.DataNone},
		{"on a volume, and the pod is gone", "/data/etcd", host, true, recovery.DataUnread},
		{"a variable", "$DATA_DIR", host, false, recovery.DataUnread},
		{"a variable below the mount", "/data/$(NAME)", host, false, recovery.DataUnread},
		{"a variable, and the pod is gone", "$DATA_DIR", host, true, recovery.DataUnread},
		{"a relative directory", "main-0.etcd", host, false, recovery.DataUnread},
		{"a relative directory, and the pod is gone", "main-0.etcd", empty, true, recovery.DataUnread},
		{"no directory", "", host, false, recovery.DataUnread},
	} {
		f := healthy(3)
		spec := &f.StatefulSet.Value.Spec.Template.Spec
		spec.Volumes[0].VolumeSource = row.volume
		pod := f.Pods.Value[1]
		pod.Spec.Volumes[0].VolumeSource = row.volume
		for name := range f.Serving {
			f.Serving[name] = Got[etcdconf.Config]{Value: etcdconf.Config{Container: "etcd", DataDir: row.dir}}
		}
		if row.gone {
			pod = nil
		}
		if got, _ := f.dataOf("main-1", pod); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestDataClaims: of several claims, only those with the data directory and the log count.
func TestDataClaims(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		config  etcdconf.Config
		claims  []string
		want    recovery.Data
		because string
	}{
		{"all are there", etcdconf.Config{Container: "etcd", DataDir: "/data"}, []string{"data", "backups"}, recovery.DataValid, ""},
		{"the one for backups is gone", etcdconf.Config{Container: "etcd", DataDir: "/data"}, []string{"data"}, recovery.DataValid, ""},
		{"the one with the data is gone", etcdconf.Config{Container: "etcd", DataDir: "/data"}, []string{"backups"}, recovery.DataNone, "there is no claim data-main-1"},
		{"the one with the log is gone", etcdconf.Config{Container: "etcd", DataDir: "/data", WALDir: "/backups"}, []string{"data"}, recovery.DataNone, "there is no claim backups-main-1"},
		{"one is gone, and which has the data is not known", etcdconf.Config{Container: "etcd", DataDir: "$DIR"}, []string{"data"}, recovery.DataUnread, ""},
		{"none is gone, and which has the data is not known", etcdconf.Config{Container: "etcd", DataDir: "$DIR"}, []string{"data", "backups"}, recovery.DataValid, ""},
		{"the data is on none that is shown", etcdconf.Config{Container: "etcd", DataDir: "/elsewhere"}, nil, recovery.DataUnread, ""},
		{
			"etcd may have other files at the path", etcdconf.Config{Container: "etcd", DataDir: "/data", Unknown: map[string]string{"data-dir": "chroot"}},
			nil, recovery.DataUnread, "",
		},
	} {
		f := healthy(3)
		f.Owner.Claims = []owner.Claim{{Template: "data"}, {Template: "backups"}}
		f.Pods.Value[1].Spec.Containers = []corev1.Container{{Name: "etcd", VolumeMounts: []corev1.VolumeMount{
			{Name: "data", MountPath: "/data"}, {Name: "backups", MountPath: "/backups"},
		}}}
		f.Claims.Value = nil
		for _, template := range row.claims {
			f.Claims.Value = append(f.Claims.Value, boundClaim(template+"-main-1"))
		}
		f.Serving = map[string]Got[etcdconf.Config]{"main-1": {Value: row.config}}
		if got, why := f.dataOf("main-1", f.Pods.Value[1]); got != row.want || why != row.because {
			t.Errorf("%s: %q (%s), want %q (%s)", row.name, got, why, row.want, row.because)
		}
	}
}

// TestClaimOfNoData: a claim that was created after the member had last renewed its lease has none of its data.
func TestClaimOfNoData(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name   string
		leases []coordinationv1.Lease
		age    time.Duration
		plain  bool
		want   recovery.Data
	}{
		{"the member ran before it", []coordinationv1.Lease{lease("main-0", time.Minute)}, 30 * time.Second, false, recovery.DataNone},
		{"the member ran with it", []coordinationv1.Lease{lease("main-0", time.Minute)}, time.Hour, false, recovery.DataValid},
		{"another member ran before it", []coordinationv1.Lease{lease("main-1", time.Minute)}, 30 * time.Second, false, recovery.DataValid},
		{"the member has never run", []coordinationv1.Lease{{ObjectMeta: metav1.ObjectMeta{Name: "main-0"}}}, 30 * time.Second, false, recovery.DataValid},
		{"no leases", nil, 30 * time.Second, false, recovery.DataValid},
		{"a lease of another program", []coordinationv1.Lease{lease("main-0", time.Minute)}, 30 * time.Second, true, recovery.DataValid},
	} {
		f := healthy(1)
		if !r.plain {
			druid(nil)(f)
		}
		f.Owner.Claims = []owner.Claim{{Template: "data"}}
		c := boundClaim("data-main-0")
		c.CreationTimestamp = metav1.NewTime(noon.Add(-r.age))
		f.Claims.Value, f.Leases.Value = []corev1.PersistentVolumeClaim{c}, r.leases
		if got, why := f.dataOf("main-0", f.Pods.Value[0]); got != r.want {
			t.Errorf("%s: %s (%s), want %s", r.name, got, why, r.want)
		}
	}
}
