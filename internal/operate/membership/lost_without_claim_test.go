// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestLostWithoutClaim: a member without a claim that only crashed has its data, unless its volume
// went with its pod.
func TestLostWithoutClaim(t *testing.T) {
	t.Parallel()
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	host := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/etcd"}}
	fatal := `{"level":"fatal","error":"member 1 has already been bootstrapped"}`
	for name, row := range map[string]struct {
		volume  corev1.VolumeSource
		dir     string
		gone    bool  // its pod
		again   int32 // how often its container was started again
		log     string
		lost    bool
		because string
	}{
		"hostPath, crashed":                {volume: host, dir: "/data", because: "its data is in volume data"},
		"hostPath, no pod":                 {volume: host, dir: "/data", gone: true, because: "its data is in volume data"},
		"hostPath, and etcd ends for good": {volume: host, dir: "/data", log: fatal, lost: true, because: "has already been bootstrapped"},
		"emptyDir, crashed":                {volume: empty, dir: "/data", because: "its data is in volume data"},
		"emptyDir, no pod":                 {volume: empty, dir: "/data", gone: true, lost: true, because: "of a pod that is gone"},
		"emptyDir of a new pod":            {volume: empty, dir: "/data", log: fatal, lost: true, because: "has already been bootstrapped"},
		"in the container, which runs":     {volume: host, dir: "/elsewhere", because: "its container was not started again"},
		"in the container, started again":  {volume: host, dir: "/elsewhere", again: 1, lost: true, because: "on no volume"},
		"in the container, no pod":         {volume: host, dir: "/elsewhere", gone: true, lost: true, because: "in a pod that is gone"},
		"in the container of a new pod":    {volume: host, dir: "/elsewhere", log: fatal, lost: true, because: "has already been bootstrapped"},
		"a variable":                       {volume: host, dir: "$DATA_DIR/etcd", because: "not known which directory"},
		"a variable of Kubernetes":         {volume: host, dir: "/data/$(NAME)", because: "not known which directory"},
		"a command":                        {volume: host, dir: "/`hostname`", because: "not known which directory"},
		"a relative directory":             {volume: empty, dir: "main-1.etcd", gone: true, because: "not known which directory"},
		"none":                             {volume: host, because: "not known which directory"},
		"a variable, and etcd ends for good": {
			volume: host, dir: "$DATA_DIR", log: fatal, lost: true, because: "has already been bootstrapped",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := well()
			s.template.template.Spec = corev1.PodSpec{
				Containers: []corev1.Container{{Name: "etcd", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
				Volumes:    []corev1.Volume{{Name: "data", VolumeSource: row.volume}},
			}
			s.configs[1].DataDir, s.configs[1].Container = row.dir, "etcd"
			s.pods["main-1"].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", RestartCount: row.again}}
			if row.gone {
				delete(s.pods, "main-1")
			}
			m := &Members{
				Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Name: "main", StatefulSet: "main", Replicas: 3},
				Clock: clock.RealClock{},
				Logs:  func(context.Context, string, string, bool) (string, error) { return row.log, nil },
			}
			lost, why, err := m.dataLost(t.Context(), s, "main-1")
			if err != nil || lost != row.lost || !strings.Contains(why, row.because) {
				t.Errorf("lost %t (%s), %v; want %t (%s)", lost, why, err, row.lost, row.because)
			}
		})
	}
}

// TestLostElsewhere: a volume claim that is bound may have the data where etcd has another path to it than its container.
func TestLostElsewhere(t *testing.T) {
	t.Parallel()
	claims := []owner.Claim{{Template: "data"}}
	for _, row := range []struct {
		name, container string
		claims          []owner.Claim
		lost            bool
	}{
		{"another root", "command: [chroot, /host, etcd, --data-dir=/var/lib/etcd], volumeMounts: [{name: data, mountPath: /host/var/lib/etcd}]", claims, false},
		{"a link", "command: [sh, -c, 'ln -sfn /pv/data /var/lib/etcd; exec etcd --data-dir=/var/lib/etcd'], volumeMounts: [{name: data, mountPath: /pv}]", claims, false},
		{"a link of the image", "command: [etcd, --data-dir=/var/lib/etcd], volumeMounts: [{name: data, mountPath: /pv}]", claims, false},
		{"a bind mount", "command: [sh, -c, 'mount --bind /pv/data /var/lib/etcd; etcd --data-dir=/var/lib/etcd'], volumeMounts: [{name: data, mountPath: /pv}]", claims, false},
		{"a block device", "command: [sh, -c, 'mount /dev/blk /data && exec etcd --data-dir=/data'], volumeDevices: [{name: data, devicePath: /dev/blk}]", claims, false},
		{"the host's", "command: [nsenter, -t, '1', -m, --, etcd, --data-dir=/var/lib/etcd]", nil, false},
		{"a claim that the container doesn't have", "command: [etcd, --data-dir=/var/lib/etcd]", claims, true},
	} {
		for _, gone := range []bool{false, true} {
			pod := &corev1.Pod{}
			if err := yaml.UnmarshalStrict([]byte("{containers: [{name: etcd, "+row.container+"}]}"), &pod.Spec); err != nil {
				t.Fatal(row.name, err)
			}
			config, err := etcdconf.ParsePod(pod, nil)
			if err != nil {
				t.Fatal(row.name, err)
			}
			s := well()
			s.template.template.Spec, s.configs[1] = pod.Spec, config
			s.pods["main-1"].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", RestartCount: 1}}
			if gone {
				delete(s.pods, "main-1")
			}
			s.claims["main-1"] = []*corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data-main-1"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
			}}
			m := &Members{
				Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Name: "main", StatefulSet: "main", Replicas: 3, Claims: row.claims},
				Clock: clock.RealClock{},
			}
			lost, why, err := m.dataLost(t.Context(), s, "main-1")
			if err != nil || lost != row.lost || lost == strings.Contains(why, "not known which directory its data is in") {
				t.Errorf("%s, the pod is gone %t: lost %t (%s), %v; want %t", row.name, gone, lost, why, err, row.lost)
			}
		}
	}
}

// TestWarnOfLastFailure: the plan warns where the voters that stay bear no failure.
func TestWarnOfLastFailure(t *testing.T) {
	t.Parallel()
	for letters, want := range map[string]string{
		"vVv":   "2 of 2 voters are healthy and quorum is 2",
		"vvVvv": "",
		"vvVvx": "3 of 4 voters are healthy and quorum is 3",
		"V":     "",
		"vV":    "",
	} {
		var peers []membership.Peer
		var old membership.Peer
		for i, letter := range letters {
			p := membership.Peer{ID: uint64(i + 1), Ordinal: i, Healthy: letter != 'x'}
			if letter == 'V' {
				old = p
			}
			peers = append(peers, p)
		}
		f := &operate.Findings{}
		warnOfLastFailure(peers, old, f)
		if got := strings.Join(f.Warnings, " "); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", letters, got, want)
		}
	}
}

// TestGoingClaim: a claim with the data that is being deleted goes with its pod. Another one costs no data.
func TestGoingClaim(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, dir, going, want string }{
		{"none", "/data", "", ""},
		{"the one with the data", "/data", "data-main-1", "data-main-1"},
		{"the one for backups", "/data", "backups-main-1", ""},
		{"which has the data is not known", "$DIR", "data-main-1", ""},
	} {
		s := well()
		s.template.template.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", VolumeMounts: []corev1.VolumeMount{
			{Name: "data", MountPath: "/data"}, {Name: "backups", MountPath: "/backups"},
		}}}}
		s.configs[1].DataDir, s.configs[1].Container = row.dir, "etcd"
		for _, name := range []string{"backups-main-1", "data-main-1"} {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if name == row.going {
				claim.DeletionTimestamp = &metav1.Time{}
			}
			s.claims["main-1"] = append(s.claims["main-1"], claim)
		}
		m := &Members{Owner: owner.Owner{
			WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Name: "main", StatefulSet: "main", Replicas: 3, Claims: []owner.Claim{{Template: "data"}, {Template: "backups"}},
		}}
		if got := m.goingClaim(s, "main-1"); got != row.want {
			t.Errorf("%s: %q is being deleted, want %q", row.name, got, row.want)
		}
	}
}

// TestBrokenAt: behind a probe that a learner passes, only a member that is removed or down may be
// replaced.
func TestBrokenAt(t *testing.T) {
	t.Parallel()
	s := well()
	if got := s.brokenAt(1); got != "" {
		t.Errorf("%s is broken, but it is healthy", got)
	}
	at := slices.IndexFunc(s.Members, func(p membership.Peer) bool { return p.Ordinal == 1 })
	s.Members[at].Healthy = false
	if got := s.brokenAt(1); got != "main-1" {
		t.Errorf("%q is broken, want main-1, which is down", got)
	}
	s.Members = slices.Delete(s.Members, at, at+1)
	if got := s.brokenAt(1); got != "main-1" {
		t.Errorf("%q is broken, want main-1, whose member was removed", got)
	}
}

// TestLostByClaims: of several claims, only those with the data directory and the log show that data is lost.
func TestLostByClaims(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, dir string
		claims    []string
		lost      bool
		because   string
	}{
		{"all are there", "/data", []string{"data", "backups"}, false, "volume claim data-main-1 has been bound"},
		{"the one for backups is gone", "/data", []string{"data"}, false, "volume claim data-main-1 has been bound"},
		{"the one with the data is gone", "/data", []string{"backups"}, true, "it has no volume claim data-main-1"},
		{"one is gone, and which has the data is not known", "$DIR", []string{"backups"}, false, "not known which of its claims"},
	} {
		s := well()
		s.template.template.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", VolumeMounts: []corev1.VolumeMount{
			{Name: "data", MountPath: "/data"}, {Name: "backups", MountPath: "/backups"},
		}}}}
		s.configs[1].DataDir, s.configs[1].Container = row.dir, "etcd"
		for _, template := range row.claims {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: template + "-main-1"}}
			claim.Status.Phase = corev1.ClaimBound
			s.claims["main-1"] = append(s.claims["main-1"], claim)
		}
		m := &Members{
			Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Name: "main", StatefulSet: "main", Replicas: 3, Claims: []owner.Claim{{Template: "data"}, {Template: "backups"}}},
			Clock: clock.RealClock{},
		}
		lost, why, err := m.dataLost(t.Context(), s, "main-1")
		if err != nil || lost != row.lost || !strings.Contains(why, row.because) {
			t.Errorf("%s: lost %t (%s), %v; want %t (%s)", row.name, lost, why, err, row.lost, row.because)
		}
	}
}
