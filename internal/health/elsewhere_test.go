// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// mixed has the last member in a pod that no StatefulSet made. Its name may be like that of one.
func mixed(f *Facts) {
	last := len(f.Pods.Value) - 1
	f.Owner.Replicas, f.Owner.PodsBeside = int32(last), []string{podName(last)}
	f.StatefulSet.Value.Spec.Replicas = &f.Owner.Replicas
}

// spanning has a StatefulSet for each of three members.
func spanning(f *Facts) {
	for i := range 3 {
		name := string(rune('a' + i))
		f.Owner.Workloads = append(f.Owner.Workloads, owner.Workload{Name: name, Replicas: 1})
		pod := name + "-0"
		part := f.StatefulSet.Value.DeepCopy()
		part.Name, part.Spec.Replicas = name, new(int32(1))
		f.Parts.Value = append(f.Parts.Value, part)
		f.Pods.Value[i].Name, f.Survey.Value.Members[i].Pod, f.Survey.Value.List[i].Pod = pod, pod, pod
	}
	f.Owner.Name, f.Owner.StatefulSet, f.StatefulSet.Value = "a", "a", f.Parts.Value[0]
}

// ordered has the StatefulSet make its pods one after the other, each when the one before has a quorum.
func ordered(f *Facts) {
	f.Owner.Ordered, f.StatefulSet.Value.Spec.PodManagementPolicy = true, appsv1.OrderedReadyPodManagement
	probe := f.StatefulSet.Value.Spec.Template.Spec.Containers[0].ReadinessProbe
	probe.HTTPGet.Path = "/health"
}

// podless has no pod of a member.
func podless(i int) func(*Facts) {
	return func(f *Facts) {
		f.Pods.Value = append(f.Pods.Value[:i:i], f.Pods.Value[i+1:]...)
		f.Survey.Value.Members = append(f.Survey.Value.Members[:i:i], f.Survey.Value.Members[i+1:]...)
		f.Survey.Value.List[i].Pod = ""
	}
}

// listedElsewhere has one more voter, third, which no pod of the cluster runs.
func listedElsewhere(s membership.Silence) func(*Facts) {
	return func(f *Facts) {
		f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{ID: 9, Name: "third", PeerURLs: []string{"http://b-0.b.team.svc:2380"}})
		f.Silences = map[uint64]membership.Silence{9: s}
	}
}

// answersElsewhere has pod b-0 answer as that voter.
func answersElsewhere(f *Facts) {
	listedElsewhere(membership.Silence{Elsewhere: []string{"b-0"}, Contact: membership.ContactAnswers})(f)
	f.Survey.Value.Others = []etcd.Member{{Pod: "b-0", ID: 9, ClusterID: 0xc1, LeaderID: f.Survey.Value.Members[0].LeaderID}}
	readElsewhere(corev1.ConditionTrue)(f)
}

// leadsElsewhere has pod b-0 lead.
func leadsElsewhere(f *Facts) {
	for i := range f.Survey.Value.Members {
		f.Survey.Value.Members[i].LeaderID, f.Survey.Value.Members[i].Leader = 9, false
	}
	answersElsewhere(f)
	f.Survey.Value.Others[0].Leader = true
}

func readElsewhere(ready corev1.ConditionStatus) func(*Facts) {
	return func(f *Facts) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b-0"}, Spec: podSpec()}
		pod.Spec.NodeName = "node-b"
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		f.Elsewhere = []*corev1.Pod{pod}
	}
}

// TestDiagnosisOfSeveralWorkloads walks which workload runs a member, and what is known of it there. A member that
// has a pod is never left over, whatever made the pod.
func TestDiagnosisOfSeveralWorkloads(t *testing.T) {
	t.Parallel()
	pod := []string{"b-0"}
	lost := membership.Silence{Elsewhere: pod, Contact: membership.ContactNone}
	for _, r := range []struct {
		name string
		size int
		with []func(*Facts)
		do   recovery.Do
		want string
		over bool // a member is left over
	}{
		{name: "a bare pod beside", size: 3, with: []func(*Facts){mixed}, do: recovery.Nothing},
		{name: "a bare pod beside that is silent", size: 3, with: []func(*Facts){mixed, frozen}, do: recovery.InspectPod, want: "kubectl describe pod main-2 -n team"},
		{name: "a StatefulSet's pod is missing beside a bare pod", size: 3, with: []func(*Facts){mixed, podless(1)}, do: recovery.InspectPod, want: "kubectl describe statefulset main -n team"},
		{name: "a StatefulSet for each member", size: 3, with: []func(*Facts){spanning}, do: recovery.Nothing},
		{name: "the pod of the last StatefulSet is missing", size: 3, with: []func(*Facts){spanning, podless(2), func(f *Facts) { f.Survey.Value.List[2].Name = "c-0" }}, do: recovery.InspectPod, want: "kubectl describe statefulset c -n team"},
		{name: "another workload's answers", size: 2, with: []func(*Facts){answersElsewhere}, do: recovery.Nothing},
		{name: "another workload's answers, and is not Ready", size: 2, with: []func(*Facts){answersElsewhere, readElsewhere(corev1.ConditionFalse)}, do: recovery.InspectPod, want: "kubectl describe pod b-0 -n team"},
		{name: "another workload's leads", size: 2, with: []func(*Facts){leadsElsewhere}, do: recovery.Nothing},
		{name: "another workload's leads, of one", size: 1, with: []func(*Facts){leadsElsewhere}, do: recovery.Nothing},
		{name: "the leader receives messages, and no pod is found", size: 2, with: []func(*Facts){listedElsewhere(membership.Silence{Contact: membership.ContactActive})}, do: recovery.Nothing},
		{name: "the leader has lost another workload's", size: 2, with: []func(*Facts){listedElsewhere(lost)}, do: recovery.InspectPod, want: "kubectl describe pod b-0 -n team"},
		{name: "the leader has lost another workload's, which is Ready", size: 2, with: []func(*Facts){listedElsewhere(lost), readElsewhere(corev1.ConditionTrue)}, do: recovery.InspectPod, want: "kubectl describe pod b-0 -n team"},
		{name: "the leader's contact is unknown", size: 2, with: []func(*Facts){listedElsewhere(membership.Silence{Elsewhere: pod})}, do: recovery.Check},
		{name: "scaled to nothing", size: 2, with: []func(*Facts){listedElsewhere(membership.Silence{Contact: membership.ContactNone, Stopped: "statefulset/b", Replicas: 1})}, do: recovery.ScaleBack, want: "kubectl scale statefulset/b --replicas 1 -n team", over: true},
		{name: "no pod at all", size: 2, with: []func(*Facts){listedElsewhere(membership.Silence{Contact: membership.ContactNone})}, do: recovery.ListMembers, over: true},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			f := healthy(r.size)
			for _, pod := range f.Pods.Value {
				pod.Spec.NodeName = "node"
			}
			for _, with := range r.with {
				with(f)
			}
			d := recovery.Diagnose(f.Recovery())
			a := d.Scenarios[0].Action
			if got := f.Order(a); a.Do != r.do || r.want != "" && got != r.want {
				t.Errorf("%s: %s %q (%s), want %s %q", d.Scenarios[0].Title, a.Do, got, a.Why, r.do, r.want)
			}
			over := false
			for _, s := range d.Scenarios {
				over = over || s.Reason == recovery.Superfluous
			}
			if over != r.over {
				t.Errorf("left over: %t, want %t", over, r.over)
			}
		})
	}
}

// TestQuorumOfSeveralWorkloads: a voter counts by what it answers, in whichever pod.
func TestQuorumOfSeveralWorkloads(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		size, healthy int
		with          func(*Facts)
	}{
		"answers":         {2, 3, answersElsewhere},
		"leads":           {2, 3, leadsElsewhere},
		"leads one":       {1, 2, leadsElsewhere},
		"does not answer": {2, 2, listedElsewhere(membership.Silence{Elsewhere: []string{"b-0"}, Contact: membership.ContactNone})},
		"beside":          {3, 3, mixed},
	} {
		f := healthy(row.size)
		row.with(f)
		want := row.size
		if name != "beside" {
			want++
		}
		if q := f.Quorum(); q.Voters != want || q.Healthy != row.healthy || f.Desired() != want || f.voters().ledElsewhere() {
			t.Errorf("%s: %+v, desired %d", name, q, f.Desired())
		}
		if down := f.notReady(""); len(down) != want-row.healthy {
			t.Errorf("%s: %q are not ready", name, down)
		}
	}
}

// TestChecksOfSeveralWorkloads: the numbers are those of the whole cluster, and a fix names the workload that has the
// member.
func TestChecksOfSeveralWorkloads(t *testing.T) {
	t.Parallel()
	both := func(all ...func(*Facts)) func(*Facts) {
		return func(f *Facts) {
			for _, one := range all {
				one(f)
			}
		}
	}
	judge(t, []row{
		{name: "a pod beside", id: "M006", with: mixed, want: OK, message: "3 of 3"},
		{name: "a pod beside, and a StatefulSet's is missing", id: "M006", with: both(mixed, podless(1)), want: Failure, message: "1 of 3 pods do not exist", fix: "kubectl describe statefulset main -n team"},
		{name: "the second of three StatefulSets lacks its pod", id: "M006", with: both(spanning, podless(1)), want: Failure, message: "1 of 3 pods do not exist", fix: "kubectl describe statefulset b -n team"},
		{name: "two of three StatefulSets lack theirs", id: "M006", with: both(spanning, podless(2), podless(0)), want: Failure, fix: "kubectl describe statefulset a c -n team"},
		{name: "the pod of the third StatefulSet will come again", id: "M001", with: both(spanning, podless(2), func(f *Facts) { f.Survey.Value.List[2].Name = "c-0" }), want: Failure, fix: "kubectl describe statefulset c -n team"},
		{name: "another workload's answers", id: "M001", size: 2, with: answersElsewhere, want: Warning, message: "it is alive: it answers in pod b-0", fix: joinLists},
		{name: "another workload's has the name of a pod that was scaled away", id: "M001", size: 2, with: both(answersElsewhere, func(f *Facts) {
			f.Owner.Claims = []owner.Claim{{Template: "data"}}
			f.Away.Value = []corev1.PersistentVolumeClaim{boundClaim("data-main-2")}
			f.Survey.Value.List[2].Name = "main-2"
		}), want: Warning, fix: joinLists},
		{name: "the only pod of a StatefulSet waits for no other of it", id: "W009", size: 2, with: both(ordered, mixed), want: OK},
		{name: "the second pod of a StatefulSet waits for the first", id: "W009", with: both(ordered, mixed), want: Warning},
		{name: "no budget for a pod beside", id: "B001", with: both(mixed, func(f *Facts) { f.Selecting.Value = nil }), want: Warning, message: "3 members", fix: "whose selector matches the 3 members"},
	})
}

// TestEachPart: a check of templates and settings judges every StatefulSet of a cluster, and a fix changes the one that
// has the fault.
func TestEachPart(t *testing.T) {
	t.Parallel()
	part := func(i int, change func(*appsv1.StatefulSet, *corev1.Pod)) func(*Facts) {
		return func(f *Facts) {
			spanning(f)
			change(f.Parts.Value[i], f.Pods.Value[i])
		}
	}
	container := func(i int, change func(*corev1.Container)) func(*Facts) {
		return part(i, func(s *appsv1.StatefulSet, p *corev1.Pod) {
			change(&s.Spec.Template.Spec.Containers[0])
			change(&p.Spec.Containers[0])
		})
	}
	judge(t, []row{
		{name: "all are well", id: "W002", with: spanning, want: OK},
		{name: "the third has no readiness probe", id: "W002", with: container(2, func(c *corev1.Container) { c.ReadinessProbe = nil }), want: Warning,
			message: "StatefulSet c: the container etcd has no readiness probe", fix: "one StatefulSet at a time, and the next when all members are healthy again: add a readiness probe on /readyz (etcd 3.4.29, 3.5.11 or newer): kubectl edit statefulset c -n team"},
		{name: "the second requests nothing", id: "W004", with: container(1, func(c *corev1.Container) { c.Resources = corev1.ResourceRequirements{} }), want: Warning,
			message: "StatefulSet b: container etcd requests no cpu", fix: "again: kubectl set resources statefulset b -c etcd"},
		{name: "the second's image has no version", id: "W008", with: container(1, func(c *corev1.Container) { c.Image = "etcd" }), want: Warning, message: "StatefulSet b:"},
		{name: "the second is killed at once", id: "W006", with: part(1, func(s *appsv1.StatefulSet, _ *corev1.Pod) {
			s.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(0))
		}), want: Warning, message: "StatefulSet b:"},
		{name: "the third's database is larger than its limit", id: "W005", with: func(f *Facts) {
			container(2, func(c *corev1.Container) {
				c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Mi")}
			})(f)
			f.Survey.Value.Members[2].DBSize = 2 << 20
		}, want: Warning, message: "StatefulSet c: the database of c-0"},
		{name: "another's database is larger than the third's limit", id: "W005", with: func(f *Facts) {
			container(2, func(c *corev1.Container) {
				c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Mi")}
			})(f)
			f.Survey.Value.Members[0].DBSize, f.Survey.Value.Members[2].DBSize = 2<<20, 1<<10
		}, want: OK},
		{name: "the second's data is in the pod", id: "D006", with: part(1, func(_ *appsv1.StatefulSet, p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}), want: Warning, message: "StatefulSet b: /data/etcd is in emptyDir data"},
		{name: "they can't be read", id: "W002", with: func(f *Facts) {
			spanning(f)
			f.Parts = Got[[]*appsv1.StatefulSet]{Err: errors.New("forbidden")}
		}, want: Unknown, message: "forbidden"},
	})
	for _, c := range All() {
		if c.Category == Workload && c.ID != "W011" && !c.eachPart { // W011 knows the commands of all
			t.Errorf("%s judges only the first StatefulSet of a cluster that spans several", c.ID)
		}
	}
}
