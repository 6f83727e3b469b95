// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"regexp"
	"strings"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// The owners that write the members' pods themselves.
var owners = map[string]func(*Facts){
	"druid": func(f *Facts) {
		f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.Kind = owner.DruidStatefulSet, flavour.Druid, "Etcd"
		f.Owner.APIVersion = druidv1alpha1.SchemeGroupVersion.String()
		f.Etcd.Value = &druidv1alpha1.Etcd{}
	},
	"operator": func(f *Facts) {
		f.Owner.Distribution = flavour.EtcdOperator
		f.Owner.Controller = &metav1.OwnerReference{APIVersion: "operator.etcd.io/v1alpha1", Kind: "EtcdCluster", Name: "ec"}
	},
	"helm": func(f *Facts) {
		f.Owner.Distribution = flavour.Bitnami
		f.Owner.Annotations = map[string]string{"meta.helm.sh/release-name": "chart"}
	},
	"rendered": func(f *Facts) {
		f.Owner.Distribution = flavour.Bitnami
		f.Owner.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "chart"}
	},
	"kubeadm": kubeadm,
}

// mute is a member that serves clients in the clear.
func mute(f *Facts) {
	for name := range f.Serving {
		f.Serving[name] = Got[etcdconf.Config]{}
	}
}

// TestChange names the object that the pods are written from.
func TestChange(t *testing.T) {
	t.Parallel()
	with := func(owner string, also func(*Facts)) func(*Facts) {
		return func(f *Facts) { owners[owner](f); also(f) }
	}
	const flags = "set --cert-file, --key-file, --trusted-ca-file and --client-cert-auth, and https in --listen-client-urls and --advertise-client-urls"
	noRequests := template(func(c *corev1.Container) { c.Resources.Requests = nil })
	noQuota := func(f *Facts) { f.Survey.Value.Members[0].Quota = -1 }
	judge(t, []row{
		{name: "plain", id: "C003", with: mute, want: Info, fix: flags + ": kubectl edit statefulset main -n team"},
		{name: "druid", id: "C003", with: with("druid", mute), want: Info, fix: "set spec.etcd.clientUrlTls, and spec.etcd.peerUrlTls for the members among themselves: kubectl edit etcd main -n team"},
		{name: "operator", id: "C003", with: with("operator", mute), want: Info, fix: flags + " through EtcdCluster ec, as far as it has a field for it: kubectl edit etcdcluster.operator.etcd.io ec -n team"},
		{name: "helm", id: "C003", with: with("helm", mute), want: Info, fix: flags + " in the values of Helm release chart, which helm get values chart -n team prints"},
		{name: "helm, of a release in another namespace", id: "C003", with: with("helm", func(f *Facts) { mute(f); f.Owner.Annotations["meta.helm.sh/release-namespace"] = "apps" }), want: Info, fix: "helm get values chart -n apps prints"},
		{name: "a rendered chart", id: "C003", with: with("rendered", mute), want: Info, fix: flags + " in the values from which its manifests are rendered"},
		{name: "kubeadm", id: "C003", with: with("kubeadm", mute), want: Info, fix: flags + " in /etc/kubernetes/manifests/etcd.yaml"},
		{name: "druid", id: "W004", with: with("druid", noRequests), want: Warning, fix: "in spec.etcd.resources.requests: kubectl edit etcd main -n team"},
		{name: "helm", id: "W004", with: with("helm", noRequests), want: Warning, fix: "request cpu=200m and memory=512Mi for container etcd in the values of Helm release chart"},
		{name: "druid", id: "D002", with: with("druid", noQuota), want: Warning, fix: "set spec.etcd.quota: kubectl edit etcd main -n team"},
		{name: "druid", id: "B001", with: with("druid", func(f *Facts) { f.Selecting.Value = nil }), want: Warning, fix: "kubectl annotate etcd/main druid.gardener.cloud/operation=reconcile -n team"},
		{name: "druid", id: "T004", with: with("druid", func(f *Facts) { f.Peer.Value.Service = nil }), want: Warning, fix: "kubectl annotate etcd/main druid.gardener.cloud/operation=reconcile -n team"},
		{name: "helm", id: "D004", with: with("helm", hash(2, func(h *etcd.Hash) { h.Hash = 8 })), want: Failure, fix: "delete the member's PersistentVolumeClaim, if its data is on one, and then its pod"},
		{name: "kubeadm", id: "V001", with: with("kubeadm", func(f *Facts) { f.Survey.Value.Members[0].Version = "3.6.11" }), want: Warning, fix: "finish the update in /etc/kubernetes/manifests/etcd.yaml"},
	})
}

// TestChangeFlags: with a configuration file, etcd ignores its flags, and a change of it restarts no member. etcd does
// not start with a flag and the variable for it.
func TestChangeFlags(t *testing.T) {
	t.Parallel()
	origin := etcdconf.Origin{Kind: "ConfigMap", Name: "settings", Key: "etcd.yml"}
	with := func(from etcdconf.Origin, also ...func(*Facts)) func(*Facts) {
		return func(f *Facts) {
			inFile(from)(f)
			for _, change := range also {
				change(f)
			}
		}
	}
	from := func(where map[string]string) func(*Facts) {
		return serving(func(c *etcdconf.Config) { c.Where = where })
	}
	full := func(f *Facts) {
		for i := range f.Survey.Value.Members {
			m := &f.Survey.Value.Members[i]
			m.DBSize, m.DBSizeInUse = m.Quota, m.Quota
		}
	}
	const in = " in etcd's configuration file /etc/etcd/etcd.yml (key etcd.yml of ConfigMap settings; etcd ignores flags beside it)"
	const edited = in + ": kubectl edit configmap settings -n team, and then kubectl etcd restart statefulset/main -n team"
	judge(t, []row{
		{name: "in a ConfigMap", id: "D005", with: with(origin), want: Info, fix: "set --auto-compaction-mode=periodic --auto-compaction-retention=1h" + edited},
		{name: "in a Secret", id: "D005", with: with(etcdconf.Origin{Kind: "Secret", Name: "s", Key: "k"}), want: Info, fix: "(key k of Secret s; etcd ignores flags beside it): kubectl edit secret s -n team"},
		{name: "from elsewhere", id: "D005", with: with(etcdconf.Origin{}), want: Info,
			fix: "set --auto-compaction-mode=periodic --auto-compaction-retention=1h in etcd's configuration file /etc/etcd/etcd.yml (etcd ignores flags beside it), and then kubectl etcd restart statefulset/main -n team"},
		{name: "in a ConfigMap of a chart", id: "D005", with: with(origin, owners["helm"]), want: Info, fix: in + ", in the values of Helm release chart, which helm get values chart -n team prints, and then kubectl etcd restart"},
		{name: "in a ConfigMap of an operator", id: "D002", with: with(origin, owners["operator"], full), want: Failure, fix: "raise --quota-backend-bytes" + in + ", through "},
		{name: "druid's", id: "D002", with: with(origin, owners["druid"], full), want: Failure, fix: "raise spec.etcd.quota: kubectl edit etcd main -n team"},
		{name: "in a ConfigMap of pods without a StatefulSet", id: "D005", with: with(origin, func(f *Facts) {
			f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.StatefulSet, f.StatefulSet.Value = owner.Pods, flavour.UnknownPods, "", nil
		}), want: Info, fix: edited[:len(in)] + ": kubectl edit configmap settings -n team, and then restart the members"},
		{name: "the quota", id: "D002", with: with(origin, full), want: Failure, fix: "raise --quota-backend-bytes" + edited},
		{name: "no quota", id: "D002", with: with(origin, func(f *Facts) { f.Survey.Value.Members[0].Quota = -1 }), want: Warning, fix: "set --quota-backend-bytes" + edited},
		{name: "the peer URL", id: "M005", with: with(origin, atIP()), want: Warning, fix: "set --initial-advertise-peer-urls" + edited},
		{name: "certificates", id: "C003", with: with(origin, func(f *Facts) { serving(func(c *etcdconf.Config) { c.ClientTLS = etcdconf.TLSFiles{} })(f) }), want: Info, fix: "--advertise-client-urls" + edited},
		{name: "the metrics port", id: "W003", with: with(origin, func(f *Facts) {
			template(func(c *corev1.Container) { c.LivenessProbe.HTTPGet.Port = intstr.FromInt32(2379) })(f)
		}), want: Failure, fix: "add --listen-metrics-urls=http://0.0.0.0:2381" + in + " and probe that port: kubectl edit statefulset main -n team"},
		{name: "the quota for the volume", id: "D007", with: with(origin, claims("1Gi")), want: Warning, fix: "(80 % of the volume)" + edited},
		{name: "space", id: "D001", with: with(origin, outOfSpace(1000, 1000, 900)), want: Failure, fix: "delete keys, or raise --quota-backend-bytes" + edited},
		{name: "the quota in a variable", id: "D002", with: func(f *Facts) {
			full(f)
			from(map[string]string{"quota-backend-bytes": "env ETCD_QUOTA_BACKEND_BYTES"})(f)
		}, want: Failure, fix: "raise ETCD_QUOTA_BACKEND_BYTES: kubectl edit statefulset main -n team"},
		{name: "the quota in a variable of a script", id: "D002", with: func(f *Facts) {
			full(f)
			from(map[string]string{"quota-backend-bytes": "env ETCD_QUOTA_BACKEND_BYTES in script /start.sh"})(f)
		}, want: Failure, fix: "raise ETCD_QUOTA_BACKEND_BYTES: "},
		{name: "the retention in variables", id: "D005", with: func(f *Facts) {
			from(map[string]string{"auto-compaction-retention": "env ETCD_AUTO_COMPACTION_RETENTION", "auto-compaction-mode": "env ETCD_AUTO_COMPACTION_MODE"})(f)
			serving(func(c *etcdconf.Config) { c.AutoCompactionRetention = "0" })(f)
		}, want: Info, fix: "set ETCD_AUTO_COMPACTION_MODE=periodic ETCD_AUTO_COMPACTION_RETENTION=1h: kubectl edit"},
		{name: "the quota in a flag", id: "D002", with: func(f *Facts) { full(f); from(map[string]string{"quota-backend-bytes": "flag"})(f) }, want: Failure, fix: "raise --quota-backend-bytes: "},
		{name: "a file that can't be read", id: "D002", with: func(f *Facts) {
			full(f)
			executes("etcd", "--config-file=/c")(f)
			for name := range f.Serving {
				f.Serving[name] = Got[etcdconf.Config]{Err: errRefused}
			}
		}, want: Failure, fix: "raise --quota-backend-bytes in etcd's configuration file /c (etcd ignores flags beside it), and then"},
	})
}

// wrongFix matches a fix that has no effect where another program writes the StatefulSet, or
// where there is none.
var wrongFix = regexp.MustCompile(`kubectl (patch|edit|set resources|delete) statefulset|statefulset  `)

// TestFixesFitTheOwner makes all of the members' settings bad, and looks for cures that
// the owner would undo.
func TestFixesFitTheOwner(t *testing.T) {
	t.Parallel()
	for name, owner := range owners {
		for _, exec := range []bool{false, true} {
			f := healthy(3)
			unset(f, exec)
			owner(f)
			fixes := 0
			for _, r := range judged(t, All(), f) {
				for _, finding := range r.Findings {
					if finding.Fix != "" {
						fixes++
					}
					if wrongFix.MatchString(finding.Fix) || name == "druid" && strings.Contains(finding.Fix, "set --") && !strings.Contains(finding.Fix, "has no field for it") {
						t.Errorf("%s, %s: %s", name, r.Check.ID, finding.Fix)
					}
				}
			}
			if fixes < 4 {
				t.Errorf("%s: only %d findings with a fix", name, fixes)
			}
		}
	}
}

// unset gives a cluster all settings that a check warns of. A probe either asks by HTTP
// or executes something.
func unset(f *Facts, exec bool) {
	mute(f)
	template(func(c *corev1.Container) {
		c.Image, c.Resources.Requests = "bitnami/etcd", nil
		c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path = "/health", "/health"
		if exec {
			c.LivenessProbe, c.ReadinessProbe = execProbe("etcdctl", "endpoint", "health"), nil
		}
	})(f)
	sts := f.StatefulSet.Value
	f.Owner.Ordered, sts.Spec.PodManagementPolicy = true, appsv1.OrderedReadyPodManagement
	sts.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64)
	sts.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}
	sts.Status = appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 1, UpdateRevision: "b", CurrentRevision: "a"}
	f.Survey.Value.Members[0].Quota, f.Survey.Value.Members[1].Version = -1, "3.5.9"
	f.Survey.Value.List[0].PeerURLs = []string{"http://10.0.0.1:2380"}
	f.Selecting.Value, f.Peer.Value.Service = nil, nil
}

// TestUnknownDataDir: a data directory that can't be read is not etcd's default, nor what one way of a script sets.
func TestUnknownDataDir(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	for why, want := range map[string]string{"": "/d", "why": ""} {
		config := etcdconf.Config{DataDir: "/d", Unknown: map[string]string{"data-dir": why}}
		f := &Facts{Serving: map[string]Got[etcdconf.Config]{"a": {Value: config}}}
		if got := f.dataDir(pod); got != want {
			t.Errorf("unknown %q: %q, want %q", why, got, want)
		}
	}
}
