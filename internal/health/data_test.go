// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func hash(i int, change func(*etcd.Hash)) func(*Facts) {
	return func(f *Facts) { change(&f.Hashes.Value.Members[i]) }
}

// asleep is a cluster of 0 members, whose StatefulSet doesn't show where the data is.
func asleep(f *Facts) {
	f.Pods.Value, f.Serving = nil, nil
	etcd := &f.StatefulSet.Value.Spec.Template.Spec.Containers[0]
	etcd.Command, etcd.Args, etcd.Env = []string{"start"}, nil, nil
}

func volume(source corev1.VolumeSource) func(*Facts) {
	return pod(0, func(p *corev1.Pod) { p.Spec.Volumes[0].VolumeSource = source })
}

// dataIn has the first member's configuration name another data directory.
func dataIn(dir string) func(*Facts) {
	return func(f *Facts) {
		f.Serving["main-0"] = Got[etcdconf.Config]{Value: etcdconf.Config{Container: "etcd", DataDir: dir}}
	}
}

func claims(size string) func(*Facts) {
	return func(f *Facts) {
		for i := range f.Pods.Value {
			f.Claims.Value = append(f.Claims.Value, corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Name: "data-" + podName(i)},
				Status:     corev1.PersistentVolumeClaimStatus{Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
			})
		}
	}
}

// oldVolume gives one member other data, and each member a volume claim of so many minutes.
func oldVolume(differs int, minutes ...int) func(*Facts) {
	return func(f *Facts) {
		hash(differs, func(h *etcd.Hash) { h.Hash = 8 })(f)
		claims("1Gi")(f)
		for i, m := range minutes {
			f.Claims.Value[i].CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Duration(m) * time.Minute))
		}
	}
}

// apartLog gives every member a small claim for its write-ahead log.
func apartLog(f *Facts) {
	for _, pod := range f.Pods.Value {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "wal", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "wal-" + pod.Name},
		}})
		pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "wal", MountPath: "/wal"})
		f.Claims.Value = append(f.Claims.Value, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "wal-" + pod.Name},
			Status:     corev1.PersistentVolumeClaimStatus{Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		})
	}
}

// configured has member 1 configured so, and its quota missing from its answer.
func configured(f *Facts, s etcdconf.Config) {
	f.Survey.Value.Members[1].Quota = 0
	s.DataDir = "/data/etcd"
	f.Serving["main-1"] = Got[etcdconf.Config]{Value: s}
}

// launched has the members started by a launcher that gets no setting but those that change sets.
func launched(change func(*etcdconf.Config)) func(*Facts) {
	return serving(func(c *etcdconf.Config) {
		*c = etcdconf.Config{Launcher: "/launch", ListenClient: []string{"http://localhost:2379"}, Where: map[string]string{}, Unknown: map[string]string{}}
		for _, flag := range []string{"listen-client-urls", "cert-file", "auto-tls", "client-cert-auth", "trusted-ca-file", "quota-backend-bytes", "auto-compaction-retention"} {
			c.Unknown[flag] = "what /launch gives to etcd is only known in the pod"
		}
		if change != nil {
			change(c)
		}
	})
}

// known has a configuration show settings.
func known(c *etcdconf.Config, flags ...string) {
	for _, flag := range flags {
		delete(c.Unknown, flag)
		c.Where[flag] = "flag"
	}
}

// stray is an alarm of a member that is none any more.
func stray(kind string, id uint64) func(*Facts) {
	return func(f *Facts) { f.Survey.Value.Strays = []etcd.Alarm{{MemberID: id, Gone: id != 0, Type: kind}} }
}

func TestData(t *testing.T) {
	t.Parallel()
	size := func(total, used int64) func(*Facts) {
		return member(1, func(m *etcd.Member) { m.DBSize, m.DBSizeInUse = total, used })
	}
	judge(t, []row{
		{name: "none", id: "D001", want: OK},
		{name: "another error", id: "D001", with: member(1, func(m *etcd.Member) { m.Errors = []string{"data is locked"} }), want: Failure, message: "main-1: reports an error: data is locked", fix: "kubectl logs main-1 --tail 50 -n team"},
		{name: "NOSPACE", id: "D001", with: member(1, func(m *etcd.Member) { m.Alarms = []string{"NOSPACE"} }), want: Failure, message: "main-1: alarm NOSPACE: the cluster refuses all writes until space is freed and the alarm disarmed (50.0 MiB used of a quota of 2.0 GiB)", fix: "kubectl etcd defrag statefulset/main -n team"},
		{name: "NOSPACE, and the quota isn't known", id: "D001", with: func(f *Facts) {
			configured(f, etcdconf.Config{})
			delete(f.Serving, "main-1")
			f.Survey.Value.Members[1].Alarms = []string{"NOSPACE"}
		}, want: Failure, message: "(50.0 MiB used)"},
		{name: "NOSPACE of live data", id: "D001", with: outOfSpace(1000, 1000, 900), want: Failure, message: "a defragmentation alone frees nothing", fix: "delete keys, or raise --quota-backend-bytes"},
		{name: "NOSPACE while backups fail", id: "D001", with: func(f *Facts) {
			f.Survey.Value.Members[1].Alarms = []string{"NOSPACE"}
			f.Cluster.Value.Cluster.BackupReady = policy.Condition{Status: policy.False}
		}, want: Failure, fix: "kubectl etcd defrag statefulset/main -n team"},
		{name: "NOSPACE, and a member is down", id: "D001", with: func(f *Facts) { f.Survey.Value.Members[1].Alarms = []string{"NOSPACE"}; silent(2)(f) }, want: Failure, fix: "once all members are voters and healthy, kubectl etcd defrag"},
		{name: "NOSPACE of old revisions", id: "D001", with: outOfSpace(1000, 10, 900), want: Failure, fix: "kubectl etcd defrag statefulset/main -n team"},
		{name: "CORRUPT", id: "D001", with: member(1, func(m *etcd.Member) { m.Alarms = []string{"CORRUPT"} }), want: Failure, fix: "--only D004"},

		{name: "NOSPACE of who is gone", id: "D001", with: stray("NOSPACE", 0xff), want: Failure, message: "NOSPACE of member 00000000000000ff (no longer in the member list) is in force", fix: "kubectl etcd defrag statefulset/main -n team"},
		{name: "CORRUPT of who is gone", id: "D001", with: stray("CORRUPT", 0xff), want: Failure, fix: "kubectl etcd alarm disarm statefulset/main -n team"},
		{name: "CORRUPT without a member", id: "D001", with: stray("CORRUPT", 0), want: Failure, message: "CORRUPT of a member that etcd doesn't name", fix: "--only D004"},

		{name: "low", id: "D002", want: OK, message: "at most 2 %"},
		{name: "just below", id: "D002", with: size(1600<<20, 1600<<20), want: OK, message: "78 %"},
		{name: "full of free pages", id: "D002", with: size(1700<<20, 300<<20), want: Warning, message: "main-1: 83 % of its quota is used: 1.7 GiB of 2.0 GiB, 300.0 MiB of it in use", fix: "kubectl etcd defrag"},
		{name: "full of data", id: "D002", with: size(1990<<20, 1980<<20), want: Failure, message: "97 %", fix: "raise --quota-backend-bytes"},
		{name: "the default quota", id: "D002", with: member(1, func(m *etcd.Member) { m.Quota, m.DBSize = 0, 1990<<20 }), want: Failure},
		{name: "by the configuration", id: "D002", with: func(f *Facts) {
			size(1990<<20, 1980<<20)(f)
			configured(f, etcdconf.Config{QuotaBytes: 8 << 30})
		}, want: OK, message: "24 %"},
		{name: "not known", id: "D002", with: func(f *Facts) {
			size(1990<<20, 1980<<20)(f)
			configured(f, etcdconf.Config{})
			f.Serving["main-1"] = Got[etcdconf.Config]{Err: errRefused}
		}, want: Unknown, message: "the quota of main-1: connection refused"},
		{name: "a launcher knows", id: "D002", with: func(f *Facts) { launched(nil)(f); f.Survey.Value.Members[1].Quota = 0 }, want: Unknown, message: "the quota of main-1: what /launch gives to etcd"},
		{name: "no quota", id: "D002", with: member(1, func(m *etcd.Member) { m.Quota = -1 }), want: Warning, message: "no quota"},

		{name: "small", id: "D003", with: size(90<<20, 1<<20), want: OK},
		{name: "free, and a member is down", id: "D003", with: func(f *Facts) { size(200<<20, 50<<20)(f); silent(2)(f) }, want: Warning, fix: "once all members are voters and healthy, kubectl etcd defrag statefulset/main -n team"},
		{name: "free, and there is no quorum", id: "D003", with: func(f *Facts) {
			size(200<<20, 50<<20)(f)
			f.Survey.Value.List, f.Survey.Value.ListErr = nil, errRefused
		}, want: Warning, fix: "once all members are voters and healthy, kubectl etcd defrag"},
		{name: "free, and client traffic is cut", id: "D003", with: func(f *Facts) { size(200<<20, 50<<20)(f); f.Cluster.Value.Cluster.TrafficCut = true }, want: Warning, fix: "once client traffic is restored, kubectl etcd defrag"},
		{name: "free", id: "D003", with: size(200<<20, 50<<20), want: Warning, message: "main-1: 75 % of its database is free: 150.0 MiB of 200.0 MiB", fix: "kubectl etcd defrag statefulset/main -n team"},
		{name: "half free", id: "D003", with: size(200<<20, 100<<20), want: OK},

		{name: "same", id: "D004", want: OK, message: "3 voters"},
		{name: "one differs", id: "D004", with: hash(2, func(h *etcd.Hash) { h.Hash = 8 }), want: Failure, message: "main-0 and main-1 00000007; main-2 00000008; main-2 differs from the majority", fix: "kubectl etcd member replace statefulset/main main-2 -n team"},
		{name: "one differs, and its volume is the oldest", id: "D004", with: oldVolume(2, 2, 2, 60), want: Failure, message: "its volume is older than those of main-0 and main-1", fix: "kubectl etcd snapshot save statefulset/main --member main-2 -n team"},
		{name: "one differs, and all volumes are as old", id: "D004", with: oldVolume(2, 60, 60, 60), want: Failure, fix: "kubectl etcd member replace statefulset/main main-2 -n team"},
		{name: "one differs, and its volume is the youngest", id: "D004", with: oldVolume(2, 60, 60, 2), want: Failure, fix: "kubectl etcd member replace statefulset/main main-2 -n team"},
		{name: "one differs, and volumes can't be read", id: "D004", with: func(f *Facts) {
			oldVolume(2, 2, 2, 60)(f)
			f.Claims = Got[[]corev1.PersistentVolumeClaim]{Err: errRefused}
		}, want: Failure, fix: "kubectl etcd member replace statefulset/main main-2 -n team"},
		{name: "one differs, and a database is large", id: "D004", with: func(f *Facts) {
			hash(2, func(h *etcd.Hash) { h.Hash = 8 })(f)
			f.Survey.Value.Members[0].DBSize = 3 << 30
		}, want: Failure, fix: "kubectl etcd member replace statefulset/main main-2 --force -n team"},
		{name: "all differ", id: "D004", with: func(f *Facts) {
			hash(1, func(h *etcd.Hash) { h.Hash = 8 })(f)
			hash(2, func(h *etcd.Hash) { h.Hash = 9 })(f)
		}, want: Failure, message: "no hash has a majority", fix: "snapshot save"},
		{name: "one of two differs", id: "D004", size: 2, with: hash(1, func(h *etcd.Hash) { h.Hash = 8 }), want: Failure, message: "no hash has a majority"},
		{name: "other compactions", id: "D004", with: hash(2, func(h *etcd.Hash) { h.Hash, h.CompactRevision = 8, 4 }), want: Unknown, message: "can't be compared"},
		{name: "refused", id: "D004", with: hash(2, func(h *etcd.Hash) { h.Err = errors.New("needs root") }), want: Unknown, message: "main-2: needs root"},
		{name: "large", id: "D004", with: func(f *Facts) {
			f.Hashes.Value = Hashes{Skipped: "not asked for: a database has 3.0 GiB", Fix: "x --hash-large"}
		}, want: Info, message: "3.0 GiB", fix: "--hash-large"},

		{name: "set", id: "D005", want: OK},
		{name: "a launcher knows", id: "D005", with: launched(nil), want: Unknown, message: "what /launch gives to etcd"},
		{name: "not set", id: "D005", with: serving(func(c *etcdconf.Config) { c.AutoCompactionRetention = "" }), want: Info, fix: "set --auto-compaction-mode=periodic --auto-compaction-retention=1h: kubectl edit statefulset main -n team"},
		{name: "off", id: "D005", with: serving(func(c *etcdconf.Config) { c.AutoCompactionRetention = "0" }), want: Info},
		{name: "set outside of the pod's spec", id: "D005", with: executes("etcd"), want: OK},
		{name: "set, and etcd ignores it beside a file", id: "D005", with: serving(func(c *etcdconf.Config) { c.AutoCompactionRetention, c.File = "", "/c" }), want: Info},
		{name: "not known", id: "D005", with: serving(func(c *etcdconf.Config) {
			c.AutoCompactionRetention, c.Unknown = "", map[string]string{"auto-compaction-retention": "Secret team/s does not exist"}
		}), want: Unknown, message: "Secret team/s does not exist"},
		{name: "not set in the template", id: "D005", with: func(f *Facts) { executes("etcd")(f); f.Pods.Value, f.Serving = nil, nil }, want: Info},
		{name: "set in the template", id: "D005", with: func(f *Facts) { f.Pods.Value, f.Serving = nil, nil }, want: OK},
		{name: "in a file that the template's pods have", id: "D005", with: func(f *Facts) {
			executes("etcd", "--config-file", "/c")(f)
			f.Pods.Value, f.Serving = nil, nil
		}, want: Unknown, message: "/c"},
		{name: "never, in pods that each have a manifest", id: "D005", with: func(f *Facts) {
			serving(func(c *etcdconf.Config) { c.AutoCompactionRetention = "" })(f)
			f.Owner.WorkloadKind, f.Owner.StatefulSet, f.StatefulSet.Value = owner.Pods, "", nil
		}, want: Info, fix: "one member at a time, and the next when all members are healthy again: set --auto-compaction-mode"},
		{name: "of Kubernetes", id: "D005", with: func(f *Facts) { f.Owner.Distribution = flavour.Kamaji }, want: NotApplicable},

		{name: "claim", id: "D006", want: OK},
		{name: "emptyDir", id: "D006", with: volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), want: Warning, message: "/data/etcd is in emptyDir data"},
		{name: "memory", id: "D006", with: volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}), want: Warning, message: "in memory"},
		{name: "hostPath", id: "D006", with: volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt"}}), want: Warning, message: "hostPath /mnt"},
		{name: "hostPath, as kubeadm's", id: "D006", with: func(f *Facts) {
			kubeadm(f)
			volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/etcd"}})(f)
		}, want: NotApplicable, message: "/var/lib/etcd, and a static pod never leaves its node"},
		{name: "nothing", id: "D006", with: pod(0, func(p *corev1.Pod) { p.Spec.Containers[0].VolumeMounts = nil }), want: Warning, message: "own file system"},
		{name: "no directory", id: "D006", with: func(f *Facts) {
			f.Serving["main-0"] = Got[etcdconf.Config]{}
			f.Pods.Value[0].Spec.Containers[0].Command = []string{"etcd"}
		}, want: Unknown},
		{name: "a variable", id: "D006", with: dataIn("$DATA_DIR/etcd"), want: Unknown, message: "doesn't show where the data is"},
		{name: "a relative directory", id: "D006", with: dataIn("main-0.etcd"), want: Unknown, message: "doesn't show where the data is"},
		{name: "a variable in a flag", id: "D006", with: func(f *Facts) {
			f.Serving["main-0"] = Got[etcdconf.Config]{}
			f.Pods.Value[0].Spec.Containers[0].Command = []string{"etcd", "--data-dir=$(DATA_DIR)"}
		}, want: Unknown, message: "doesn't show where the data is"},
		{name: "asleep", id: "D006", with: asleep, want: NotApplicable},

		{name: "no claims", id: "D007", want: NotApplicable},
		{name: "room", id: "D007", with: claims("10Gi"), want: OK},
		{name: "small", id: "D007", with: claims("1Gi"), want: Warning, message: "may grow to 2.0 GiB and the volume holds 1.0 GiB: main-0, main-1 and main-2", fix: "--quota-backend-bytes=858993456"},

		{name: "a log of its own", id: "D007", with: func(f *Facts) { claims("10Gi")(f); apartLog(f) }, want: OK},
		{name: "small, and nearly full", id: "D007", with: func(f *Facts) {
			claims("1Gi")(f)
			size(700<<20, 600<<20)(f)
		}, want: Warning, fix: "enlarge the claims", message: "main-1"},
		{name: "quota not known", id: "D007", with: func(f *Facts) {
			claims("10Gi")(f)
			configured(f, etcdconf.Config{})
			f.Serving["main-1"] = Got[etcdconf.Config]{Err: errRefused}
		}, want: Unknown, message: "the quota of main-1"},
		{name: "no directory", id: "D007", with: func(f *Facts) {
			claims("1Gi")(f)
			for i, p := range f.Pods.Value {
				f.Serving[podName(i)] = Got[etcdconf.Config]{Err: errRefused}
				p.Spec.Containers[0].Command = []string{"etcd"}
			}
		}, want: Unknown, message: "the volume of main-0: the configuration doesn't show"},

		{name: "room", id: "D008", with: fill(10, 100), want: OK, message: "at most 10 % full"},
		{name: "nearly full", id: "D008", with: fill(85, 100), want: Warning, message: "data-main-0 is 85 % full"},
		{name: "full", id: "D008", with: fill(96, 100), want: Failure},
		{name: "not measured", id: "D008", want: NotApplicable},

		{name: "fast", id: "D009", with: fsync(0.008), want: OK},
		{name: "so so", id: "D009", with: fsync(0.064), want: Info, message: "syncs its log within 64 ms"},
		{name: "slow", id: "D009", with: fsync(0.512), want: Warning, message: "within 512 ms"},
		{name: "beyond measure", id: "D009", with: fsync(math.Inf(1)), want: Warning, message: "slower than it measures"},
	})
}

// TestEnlarge never lowers a quota to what the database has already, or soon will.
func TestEnlarge(t *testing.T) {
	t.Parallel()
	for size, lower := range map[int64]bool{1 << 30: true, 3 << 30: true, 7 << 29: false, 9 << 29: false} {
		fix := healthy(3).enlarge(5<<30, []etcd.Member{{DBSize: 1 << 20}, {DBSize: size}})
		if strings.Contains(fix, "--quota-backend-bytes") != lower || !strings.Contains(fix, "enlarge the claims") {
			t.Errorf("with a database of %s the fix is %q", policy.Bytes(size), fix)
		}
	}
}

func fill(used, capacity int64) func(*Facts) {
	return func(f *Facts) { f.Fill.Value = []Fill{{Claim: "data-main-0", Used: used, Capacity: capacity}} }
}

// fsync gives member 1 a histogram whose 99th percentile has this upper bound.
func fsync(p99 float64) func(*Facts) {
	return func(f *Facts) {
		low, all, rest := 0.004, uint64(100), uint64(90)
		f.Metrics["main-1"] = Got[Metrics]{Value: Metrics{"etcd_disk_wal_fsync_duration_seconds": {Metric: []*dto.Metric{{Histogram: &dto.Histogram{
			SampleCount: &all, Bucket: []*dto.Bucket{{UpperBound: &low, CumulativeCount: &rest}, {UpperBound: &p99, CumulativeCount: &all}},
		}}}}}}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	all := func(versions ...string) func(*Facts) {
		return func(f *Facts) {
			for i := range f.Survey.Value.Members {
				f.Survey.Value.Members[i].Version = versions[i%len(versions)]
			}
		}
	}
	clock := func(least, most time.Duration) func(*Facts) {
		return func(f *Facts) {
			f.Clocks["main-1"] = Got[etcd.ClockReading]{Value: etcd.ClockReading{Least: least, Most: most}}
		}
	}
	stuck := func(strategy appsv1.StatefulSetUpdateStrategy) func(*Facts) {
		return func(f *Facts) {
			all("3.7.0", "3.5.27")(f)
			f.Cluster.Value.Cluster.Operation = "rollout, 1 of 3 members updated"
			f.StatefulSet.Value.Spec.UpdateStrategy = strategy
			f.StatefulSet.Value.Status = appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 1, CurrentRevision: "a", UpdateRevision: "b"}
		}
	}
	judge(t, []row{
		{name: "one", id: "V001", want: OK, message: "3.6.12"},
		{name: "two minors apart, and a partition", id: "V001", with: stuck(appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}}), want: Failure,
			wholeFix: `kubectl patch statefulset main --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}' -n team`},
		{name: "two minors apart, and OnDelete", id: "V001", with: stuck(appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}), want: Failure, wholeFix: "kubectl etcd restart statefulset/main -n team"},
		{name: "two patches, and one template", id: "V001", with: all("3.6.12", "3.6.12", "3.6.9"), want: Warning, wholeFix: "give all members one version of the image: kubectl edit statefulset main -n team"},
		{name: "two minors apart while pods are updated", id: "V001", with: stuck(appsv1.StatefulSetUpdateStrategy{}), want: Failure, wholeFix: "kubectl rollout status statefulset main -n team"},
		{name: "the third of three StatefulSets is not updated", id: "V001", with: func(f *Facts) {
			spanning(f)
			f.Survey.Value.Members[2].Version = "3.4.40"
			f.Parts.Value[2].Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
			f.Parts.Value[2].Status = appsv1.StatefulSetStatus{Replicas: 1, CurrentRevision: "a", UpdateRevision: "b"}
		}, want: Failure, wholeFix: "one StatefulSet at a time, and the next when all members are healthy again: kubectl etcd restart statefulset/a -n team"},
		{name: "three StatefulSets with an image each", id: "V001", with: func(f *Facts) { spanning(f); f.Survey.Value.Members[2].Version = "3.6.9" }, want: Warning,
			fix: "give all members one version of the image in StatefulSets a, b and c"},
		{name: "two patches, and the StatefulSet can't be read", id: "V001", with: func(f *Facts) {
			all("3.6.12", "3.6.9")(f)
			f.StatefulSet = Got[*appsv1.StatefulSet]{Err: errRefused}
		}, want: Warning, fix: "give all members one version of the image: kubectl edit statefulset main -n team"},
		{name: "two patches", id: "V001", with: all("3.6.12", "3.6.12", "3.6.9"), want: Warning, message: "3.6.9 on main-2, 3.6.12 on main-0 and main-1, and no rollout is under way"},
		{name: "two patches, and who knows of a rollout", id: "V001", with: func(f *Facts) {
			all("3.6.12", "3.6.9")(f)
			f.Cluster.Err = errRefused
		}, want: Unknown, message: "3.6.9 on main-1, 3.6.12 on main-0 and main-2, and it is not known whether a rollout is under way: connection refused"},
		{name: "two minors while it rolls", id: "V001", with: func(f *Facts) { all("3.6.12", "3.5.27")(f); scaling(f) }, want: Info},
		{name: "two minors apart", id: "V001", with: func(f *Facts) { all("3.7.0", "3.5.27")(f); scaling(f) }, want: Failure},

		{name: "none", id: "V002", want: OK},
		{name: "3.5.2", id: "V002", with: all("3.5.2"), want: Warning, message: "13766", fix: "update to 3.5.3"},
		{name: "3.5.19", id: "V002", with: all("3.5.19"), want: Warning, message: "19557", fix: "update to 3.5.20"},
		{name: "3.5.27", id: "V002", with: all("3.5.27"), want: Info, message: "CVE-2026-33413", fix: "update to 3.5.28"},
		{name: "3.5.28", id: "V002", with: all("3.5.28"), want: OK},
		{name: "3.4.20, single", id: "V002", size: 1, with: all("3.4.20"), want: Warning, message: "14370", fix: "3.4.21"},
		{name: "3.4.20, three", id: "V002", with: all("3.4.20"), want: Info},
		{name: "3.8.0-alpha.0", id: "V002", with: all("3.8.0-alpha.0"), want: OK},
		{name: "no release", id: "V002", with: all("devel"), want: Info, message: "is not a release"},

		{name: "3.6", id: "V003", want: OK},
		{name: "3.5.25", id: "V003", with: all("3.5.25"), want: Info, fix: "3.5.26"},
		{name: "3.6, experimental", id: "V003", with: pod(0, func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{"--experimental-initial-corrupt-check=true"} }), want: Info, message: "etcd 3.7 does not start with --experimental-initial-corrupt-check"},

		{name: "agree", id: "V004", want: OK, message: "200ms"},
		{name: "may agree", id: "V004", with: clock(50*time.Millisecond, 3*time.Second), want: OK},
		{name: "a second off", id: "V004", with: clock(1100*time.Millisecond, 1300*time.Millisecond), want: Warning, message: "the clock of main-1 is at least 1s ahead of that of main-0"},
		{name: "a minute behind", id: "V004", with: clock(-61*time.Second, -60*time.Second), want: Failure, message: "the clock of main-0 is at least 59s ahead of that of main-1"},
		{name: "this machine off", id: "V004", size: 1, with: func(f *Facts) {
			f.Clocks["main-0"] = Got[etcd.ClockReading]{Value: etcd.ClockReading{Least: time.Hour, Most: time.Hour}}
		}, want: Info, message: "1h00m off this machine's"},
	})
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	serving := func(left time.Duration) func(*Facts) {
		return member(1, func(m *etcd.Member) { m.CertificateExpiry = noon.Add(left) })
	}
	lapsed := func(left time.Duration, members ...int) func(*Facts) {
		return func(f *Facts) {
			for _, i := range members {
				err := &access.CertificateError{Member: podName(i), NotAfter: noon.Add(left)}
				f.Survey.Value.Members[i] = etcd.Member{Pod: podName(i), Err: fmt.Errorf("dial: %w", err)}
				f.Barred[podName(i)] = true
			}
		}
	}
	onNode := func(f *Facts) {
		f.Unread = []*etcdconf.UnreadableError{{Namespace: "team", Pod: "main-0", Path: "/pki/peer.crt", Where: "on its node below /pki (hostPath)"}}
	}
	secret := func(left, life time.Duration) func(*Facts) {
		return func(f *Facts) {
			c := Certificate{Role: "peer's", Where: "Secret team/tls, key tls.crt", NotAfter: noon.Add(left), Life: life}
			if life > 0 {
				c.Issuer = "main-peer"
			}
			f.Certificates.Value = []Certificate{c}
		}
	}
	judge(t, []row{
		{name: "no TLS", id: "C001", want: NotApplicable},
		{name: "a year", id: "C001", with: serving(365 * day), want: OK, message: "365 days"},
		{name: "a month", id: "C001", with: serving(29 * day), want: Warning, message: "main-1: its serving certificate expires in 29 days"},
		{name: "a week", id: "C001", with: serving(6 * day), want: Failure},
		{name: "over", id: "C001", with: serving(-time.Hour), want: Failure, message: "expired 1h00m ago"},

		{name: "over, so that the member can't be asked", id: "C001", with: lapsed(-time.Hour, 1), want: Failure, message: "main-1: its serving certificate expired 1h00m ago", fix: "renew it where it was issued"},
		{name: "over everywhere", id: "C001", with: lapsed(-time.Hour, 0, 1, 2), want: Failure, message: "main-2: its serving certificate expired"},
		{name: "not accepted, and not over", id: "C001", with: lapsed(time.Hour, 1), want: NotApplicable},
		{name: "over, and cert-manager's", id: "C001", with: func(f *Facts) { secret(-time.Hour, 90*day)(f); lapsed(-time.Hour, 1)(f) }, want: Failure, fix: "cmctl renew main-peer -n team"},
		{name: "a week of cert-manager's 10 days", id: "C001", with: func(f *Facts) { secret(6*day, 10*day)(f); serving(6 * day)(f) }, want: OK},

		{name: "none", id: "C002", want: NotApplicable},
		{name: "on the node", id: "C002", with: onNode, want: Unknown, message: "/pki/peer.crt of pod team/main-0 is on its node below /pki (hostPath)"},
		{name: "some on the node", id: "C002", with: func(f *Facts) { secret(6*day, 0)(f); onNode(f) }, want: Failure, message: "on its node"},
		{name: "a year", id: "C002", with: secret(365*day, 0), want: OK},
		{name: "a month", id: "C002", with: secret(29*day, 0), want: Warning, message: "the peer's certificate in Secret team/tls, key tls.crt expires in 29 days", fix: "renew it in Secret team/tls"},
		{name: "a week", id: "C002", with: secret(6*day, 0), want: Failure},
		{name: "a week of cert-manager's 90 days", id: "C002", with: secret(10*day, 90*day), want: Warning, fix: "cmctl renew main-peer -n team"},
		{name: "a month of cert-manager's 90 days", id: "C002", with: secret(29*day, 90*day), want: OK},
		{name: "an hour of cert-manager's day", id: "C002", with: secret(12*time.Hour, day), want: OK},

		{name: "certificate", id: "C003", want: OK},
		{name: "in the clear", id: "C003", with: func(f *Facts) { f.Serving["main-0"] = Got[etcdconf.Config]{} }, want: Info, message: "clients connect without TLS"},
		{name: "a launcher knows", id: "C003", with: launched(nil), want: Unknown, message: "what /launch gives to etcd"},
		{name: "a launcher knows, beside a URL in the clear", id: "C003", with: launched(func(c *etcdconf.Config) {
			known(c, "listen-client-urls")
			c.ListenClient = []string{"http://0.0.0.0:2379"}
		}), want: Info, message: "clients connect without TLS"},
		{name: "a launcher knows, beside a URL with TLS", id: "C003", with: launched(func(c *etcdconf.Config) {
			known(c, "listen-client-urls")
			c.ListenClient = []string{"https://0.0.0.0:2379"}
		}), want: Unknown, message: "what /launch gives to etcd"},
		{name: "a launcher knows whether a certificate is needed", id: "C003", with: launched(func(c *etcdconf.Config) {
			known(c, "listen-client-urls", "cert-file")
			c.ListenClient, c.ClientTLS.Cert = []string{"https://0.0.0.0:2379"}, "/tls.crt"
		}), want: Unknown, message: "what /launch gives to etcd"},
		{name: "a launcher gets the authorities", id: "C003", with: launched(func(c *etcdconf.Config) {
			known(c, "listen-client-urls", "cert-file", "trusted-ca-file")
			c.ListenClient, c.ClientTLS.Cert, c.ClientTLS.TrustedCA = []string{"https://0.0.0.0:2379"}, "/tls.crt", "/ca.crt"
		}), want: OK},
		{name: "asleep", id: "C003", with: asleep, want: NotApplicable},
		{name: "password", id: "C003", with: func(f *Facts) { f.Serving["main-0"] = Got[etcdconf.Config]{}; f.Password = true }, want: OK},
	})
}

// outOfSpace gives main-1 the alarm NOSPACE, and metrics about what fills its database.
func outOfSpace(current, compacted, keys float64) func(*Facts) {
	return func(f *Facts) {
		m := &f.Survey.Value.Members[1]
		m.Alarms, m.DBSize, m.DBSizeInUse = []string{"NOSPACE"}, 2<<30, 2<<30
		gauge := func(v float64) *dto.MetricFamily {
			return &dto.MetricFamily{Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &v}}}}
		}
		f.Metrics["main-1"] = Got[Metrics]{Value: Metrics{
			"etcd_debugging_mvcc_current_revision": gauge(current), "etcd_debugging_mvcc_compact_revision": gauge(compacted), "etcd_debugging_mvcc_keys_total": gauge(keys),
		}}
	}
}
