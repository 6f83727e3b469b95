// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func podName(i int) string { return fmt.Sprintf("main-%d", i) }

// healthy is a plain cluster of n members without a problem, except that no
// backups are known.
func healthy(n int) *Facts {
	labels := map[string]string{"app": "main"}
	f := &Facts{
		At: noon,
		Owner: owner.Owner{
			WorkloadKind: owner.StatefulSet, Distribution: flavour.Plain, Kind: "StatefulSet", Namespace: "team", Name: "main",
			StatefulSet: "main", Replicas: int32(n), MemberSelector: &metav1.LabelSelector{MatchLabels: labels},
		},
		Metrics: map[string]Got[Metrics]{}, Clocks: map[string]Got[etcd.ClockReading]{}, Serving: map[string]Got[etcdconf.Config]{},
		Barred: map[string]bool{}, MayRemove: map[uint64]policy.Verdict{},
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()}
	f.StatefulSet.Value = &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"},
		Spec:       appsv1.StatefulSetSpec{Replicas: new(int32(n)), Template: template, PodManagementPolicy: appsv1.ParallelPodManagement},
	}
	for i := range n {
		f.add(i)
	}
	f.Services.Value = []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "main-client"}, Spec: corev1.ServiceSpec{Selector: labels}}}
	f.Slices.Value = []discoveryv1.EndpointSlice{{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{discoveryv1.LabelServiceName: "main-client"}},
		Endpoints:  []discoveryv1.Endpoint{{}},
	}}
	f.Peer.Value = memberservices.PeerService{Name: "main", Service: &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "main"}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true},
	}}
	f.Selecting.Value = []policyv1.PodDisruptionBudget{pdb("main", n/2+1)}
	f.Installed.Value = true
	return f
}

func podSpec() corev1.PodSpec {
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(8080)}}}
	}
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "etcd", Image: "gcr.io/etcd-development/etcd:v3.6.5",
			Command: []string{"etcd", "--data-dir=/data/etcd", "--auto-compaction-retention=1h"}, LivenessProbe: probe("/livez"), ReadinessProbe: probe("/readyz"),
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("512Mi"),
			}},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		}},
		Volumes: []corev1.Volume{{Name: "data"}},
	}
}

// add gives the cluster its member of that ordinal. Member 0 leads.
func (f *Facts) add(i int) {
	zone := string(rune('a' + i%3))
	labels := map[string]string{"app": "main", appsv1.StatefulSetPodNameLabel: podName(i)}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: podName(i), Labels: labels}, Spec: podSpec()}
	pod.Spec.Volumes[0].PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + pod.Name}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	f.Pods.Value = append(f.Pods.Value, pod)
	f.Survey.Value.Members = append(f.Survey.Value.Members, etcd.Member{
		Pod: pod.Name, ID: uint64(i + 1), ClusterID: 0xc1, Name: pod.Name, LeaderID: 1, Leader: i == 0, Version: "3.6.12",
		DBSize: 50 << 20, DBSizeInUse: 40 << 20, Quota: 2 << 30, RaftIndex: 9000, RaftApplied: 9000, Revision: 800,
	})
	f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{
		ID: uint64(i + 1), Name: pod.Name, Pod: pod.Name, PeerURLs: []string{"http://" + pod.Name + ".main.team.svc:2380"},
	})
	f.Clocks[pod.Name] = Got[etcd.ClockReading]{Value: etcd.ClockReading{Least: -100 * time.Millisecond, Most: 100 * time.Millisecond}}
	f.Serving[pod.Name] = Got[etcdconf.Config]{Value: etcdconf.Config{
		Container: "etcd", DataDir: "/data/etcd", AutoCompactionRetention: "1h", ListenClient: []string{"https://0.0.0.0:2379"}, ListenMetrics: []string{"http://0.0.0.0:8080"},
		ClientTLS: etcdconf.TLSFiles{Cert: "/c", TrustedCA: "/ca", ClientCertAuth: true},
	}}
	f.Hashes.Value.Members = append(f.Hashes.Value.Members, etcd.Hash{Pod: pod.Name, Hash: 7, CompactRevision: 3})
	f.MayRemove[uint64(i+1)] = policy.Allow(policy.QuorumKept, "")
	node := "node-" + fmt.Sprint(i)
	f.Placement.Value = append(f.Placement.Value, policy.Member{Pod: pod.Name, Node: node, Zone: zone})
	f.Nodes.Value = append(f.Nodes.Value, spread.Node{Name: node, Zone: zone})
}

// serving changes the configuration of all members.
func serving(change func(*etcdconf.Config)) func(*Facts) {
	return func(f *Facts) {
		for name, got := range f.Serving {
			change(&got.Value)
			f.Serving[name] = got
		}
	}
}

// executes has the pods and their template execute a command.
func executes(command ...string) func(*Facts) {
	return func(f *Facts) {
		template(func(c *corev1.Container) { c.Command = command })(f)
		for _, p := range f.Pods.Value {
			p.Spec.Containers[0].Command = command
		}
	}
}

// inFile has the members read their settings from a file, which an object has unless it is the zero value.
func inFile(origin etcdconf.Origin) func(*Facts) {
	return serving(func(c *etcdconf.Config) {
		c.File, c.FileOrigin, c.AutoCompactionRetention = "/etc/etcd/etcd.yml", origin, ""
	})
}

// kubeadm makes the members static pods.
func kubeadm(f *Facts) {
	f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.StatefulSet = owner.Pods, flavour.Kubeadm, ""
	f.StatefulSet.Value = nil
	for _, pod := range f.Pods.Value {
		pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
		pod.Spec.HostNetwork = true
	}
}

// listUnknown is a cluster of which neither the pod template nor etcd shows the members.
func listUnknown(f *Facts) {
	f.Survey.Value.ListErr = ErrNotGathered
	f.Cluster.Value.Cluster = policy.Cluster{Size: 1, SizeUnknown: "Secret team/tuning is not read"}
}

func pdb(name string, least int) policyv1.PodDisruptionBudget {
	n := intstr.FromInt32(int32(least))
	return policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &n, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "main"}},
		},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
	}
}

// row is one state of a cluster and what one check makes of it.
type row struct {
	name string
	id   string
	size int // 3 where it is 0
	with func(*Facts)
	want Level
	// message and fix are parts of what is found; fix "-" means none at all.
	message, fix string
	// wholeFix is all of the only fix. It is empty where a part is enough.
	wholeFix string
}

// facts returns the state.
func (r row) facts() *Facts {
	f := healthy(cmp.Or(r.size, 3))
	if r.with != nil {
		r.with(f)
	}
	return f
}

// fixes runs all checks on the state, also as that of each owner, for their fixes.
func (r row) fixes(t *testing.T) {
	t.Helper()
	for _, owned := range owners {
		f := r.facts()
		owned(f)
		judged(t, All(), f)
	}
}

func judge(t *testing.T, rows []row) {
	t.Helper()
	all := map[string]Check{}
	for _, c := range All() {
		all[c.ID] = c
	}
	for _, r := range rows {
		t.Run(r.id+" "+r.name, func(t *testing.T) {
			t.Parallel()
			f := r.facts()
			check, known := all[r.id]
			if !known {
				t.Fatalf("there is no check %s", r.id)
			}
			result := judged(t, []Check{check}, f)[0]
			var messages, fixes []string
			for _, finding := range result.Findings {
				messages, fixes = append(messages, finding.Message), append(fixes, finding.Fix)
			}
			text, fix := strings.Join(messages, "\n"), strings.Join(fixes, "\n")
			if result.Level != r.want || !strings.Contains(text, r.message) {
				t.Errorf("got %s: %q; want %s: %q", result.Level, text, r.want, r.message)
			}
			if r.fix == "-" && strings.TrimSpace(fix) != "" || r.fix != "-" && !strings.Contains(fix, r.fix) {
				t.Errorf("got the fix %q, want %q", fix, r.fix)
			}
			if r.wholeFix != "" && fix != r.wholeFix {
				t.Errorf("got the fix\n%s, want\n%s", fix, r.wholeFix)
			}
			judged(t, All(), f)
			r.fixes(t)
		})
	}
}

// TestHealthy finds nothing in a healthy cluster, except that no backups are known.
func TestHealthy(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		for _, r := range judged(t, All(), healthy(n)) {
			if r.Level.Worse(OK) && r.Check.ID != "R001" && r.Check.ID != "G002" {
				t.Errorf("%d members: %s is %s: %+v", n, r.Check.ID, r.Level, r.Findings)
			}
		}
	}
}

// TestUnknownIsNeverSilent removes each fact that can be refused: no check that needs it may
// then be OK.
func TestUnknownIsNeverSilent(t *testing.T) {
	t.Parallel()
	refused := ErrNotGathered
	for _, r := range []struct {
		fact string
		take func(*Facts)
		ids  string
	}{
		{"pods", func(f *Facts) { f.Pods.Err = refused }, "M006 M007 B005 C003 D005 D006 D010"},
		{"StatefulSet", func(f *Facts) { f.StatefulSet.Err = refused }, "W001 W002 W003 W004 W005 W006 W007 W008 W009 W010 W011 W012"},
		{"Etcd", func(f *Facts) { f.Etcd.Err = refused }, "O001 O002 O003 O004 O005 O006 R003"},
		{"survey", func(f *Facts) { f.Survey.Err = refused }, "Q001 Q002 Q004 Q005 Q006 Q007 M001 M002 M003 M004 M005 M009 D001 D002 D003 D004 D007 D009 D010 V001 V002 V003 V004 C001"},
		{"member list", func(f *Facts) { f.Survey.Value.ListErr = refused }, "M001 M002 M003 M004 M005 M009 D010"},
		{"metrics", func(f *Facts) { f.Metrics["main-0"] = Got[Metrics]{Err: refused} }, "Q007 D009"},
		{"clocks", func(f *Facts) { f.Clocks["main-0"] = Got[etcd.ClockReading]{Err: refused} }, "V004"},
		{"serving", func(f *Facts) { f.Serving["main-0"] = Got[etcdconf.Config]{Err: refused} }, "C003 D005 W003"},
		{"hashes", func(f *Facts) { f.Hashes.Err = refused }, "D004"},
		{"one hash", func(f *Facts) { f.Hashes.Value.Members[1].Err = refused }, "D004"},
		{"Secrets", func(f *Facts) { f.Certificates.Err = refused }, "C002"},
		{"claims", func(f *Facts) { f.Claims.Err = refused }, "D007"},
		{"fill", func(f *Facts) { f.Fill.Err = refused }, "D008"},
		{"budgets", func(f *Facts) { f.Selecting.Err = refused }, "B001 B002 B003 B004 B005"},
		{"what budgets select", func(f *Facts) { f.Budgets.Err = refused }, "B004"},
		{"policy", func(f *Facts) { f.Policy.Err = refused }, "P003 G002"},
		{"nodes", func(f *Facts) { f.Nodes.Err = refused }, "P002"},
		{"placement", func(f *Facts) { f.Placement.Err = refused }, "P001 P002"},
		{"cluster", func(f *Facts) { f.Cluster.Err = refused }, "R001 R002 G003 M008"},
		{"Services", func(f *Facts) { f.Services.Err = refused }, "T001 T002 T003"},
		{"EndpointSlices", func(f *Facts) { f.Slices.Err = refused }, "T003"},
		{"peer Service", func(f *Facts) { f.Peer.Err = refused }, "T004"},
		{"operations", func(f *Facts) { f.UnderWay.Err = refused }, "G003"},
		{"webhook", func(f *Facts) { f.Installed.Err = refused }, "G001"},
	} {
		f := healthy(3)
		r.take(f)
		for _, result := range judged(t, All(), f) {
			if strings.Contains(r.ids, result.Check.ID) && !result.Level.Worse(Info) {
				t.Errorf("without %s, %s is %s", r.fact, result.Check.ID, result.Level)
			}
		}
	}
}
