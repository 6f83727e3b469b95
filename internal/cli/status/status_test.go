// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	api "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestStatus draws clusters in all conditions, on a narrow terminal and on a wide one.
func TestStatus(t *testing.T) {
	t.Parallel()
	for name, change := range statusCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := threeMembers("etcd-main", "zone-")
			change(&s)
			st := view.StatusOf(&s)
			for _, columns := range []int{80, 200} {
				a := app.New(genericiooptions.IOStreams{})
				screen := &ui.Screen{Columns: columns}
				if err := render.Status(a.Console, st)(screen, false); err != nil {
					t.Fatal(err)
				}
				exit := "exit code 0\n"
				if err := healthError(st); err != nil {
					code, label := app.Outcome(t.Context(), err)
					exit = fmt.Sprintf("exit code %d\n%s: %v\n", code, label, err)
				}
				scripttest.CompareGolden(t, filepath.Join("testdata", "status", fmt.Sprintf("%s.%d.txt", name, columns)), screen.String()+exit)
				for line := range strings.Lines(screen.String()) {
					if n := len([]rune(strings.TrimRight(line, "\n"))); n > columns && !strings.Contains(line, "kubectl ") {
						t.Errorf("the line has %d columns on a terminal of %d: %q", n, columns, line)
					}
				}
			}
		})
	}
}

var statusCases = map[string]func(*health.Facts){
	"healthy": func(*health.Facts) {},
	"member-down": func(s *health.Facts) {
		crash(s, "etcd-main-2")
		s.Cluster.Value.Cluster.AllMembersReady = policy.Condition{Status: policy.False}
		condition(s, 0, observe.Condition{Type: "AllMembersReady", Status: "False", Reason: "NotAllMembersReady", Message: "1 of 3 members is not ready", Since: noon.Add(-4 * time.Minute), Confirmed: noon.Add(-10 * time.Second), Bad: true})
		s.Events.Value = []corev1.Event{{
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "etcd-main-2"}, Reason: "BackOff", Count: 7,
			Message: "Back-off restarting failed container etcd in pod etcd-main-2", LastTimestamp: metav1.NewTime(noon.Add(-20 * time.Second)),
		}, {
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "other-0"}, Reason: "BackOff", Message: "another's", LastTimestamp: metav1.NewTime(noon),
		}}
	},
	"removed": func(s *health.Facts) {
		crash(s, "etcd-main-2")
		s.Survey.Value.List = slices.Delete(s.Survey.Value.List, 2, 3)
	},
	"no-quorum": func(s *health.Facts) {
		crash(s, "etcd-main-1")
		crash(s, "etcd-main-2")
		s.Survey.Value.Members[0].Leader, s.Survey.Value.Members[0].LeaderID = false, 0
		s.Survey.Value.List, s.Survey.Value.ListErr = nil, errors.New("no quorum")
	},
	"split-brain": func(s *health.Facts) {
		s.Survey.Value.Members[2].ClusterID, s.Survey.Value.Members[2].LeaderID, s.Survey.Value.Members[2].Leader = 0xbad, 3, true
		s.Survey.Value.List, s.Survey.Value.ListErr = nil, errors.New("split brain")
	},
	"no-space": func(s *health.Facts) {
		for i := range s.Survey.Value.Members {
			s.Survey.Value.Members[i].DBSize, s.Survey.Value.Members[i].Alarms = 8<<30, []string{"NOSPACE"}
		}
	},
	"no-space-of-who-is-gone": func(s *health.Facts) {
		s.Survey.Value.Strays = []etcd.Alarm{{MemberID: 0xff, Gone: true, Type: "NOSPACE"}}
	},
	"learner-joins": func(s *health.Facts) {
		s.Owner.Replicas = 4
		s.Cluster.Value.Cluster.Operation = "scale from 3 to 4 members"
		add(s, "etcd-main-3", "zone-a", "node-7", false)
		s.Survey.Value.Members = append(s.Survey.Value.Members, etcd.Member{Pod: "etcd-main-3", ID: 4, ClusterID: 0xc1, Learner: true, LeaderID: 2, Version: "3.6.5", DBSize: 1 << 20, Quota: 8 << 30, RaftTerm: 14, RaftIndex: 5000, RaftApplied: 3999})
		s.Survey.Value.List = append(s.Survey.Value.List, etcd.Listed{ID: 4, Name: "etcd-main-3", Learner: true, Pod: "etcd-main-3"})
	},
	"dead-voter": func(s *health.Facts) {
		s.Survey.Value.List = append(s.Survey.Value.List, etcd.Listed{ID: 0xdead, Name: "etcd-main-3", PeerURLs: []string{"http://etcd-main-3.etcd-main-peer.team-a.svc:2380"}})
		s.Silences = map[uint64]membership.Silence{0xdead: {Contact: membership.ContactNone}}
		s.MayRemove[0xdead] = policy.Allow(policy.QuorumKept, "")
	},
	"hibernated": hibernate,
	"restore-interrupted": func(s *health.Facts) {
		hibernate(s)
		restore := "kubectl etcd snapshot restore "
		s.KeepsClientsAway = true
		s.UnderWay.Value = &v1alpha1.UnderWay{Operation: "restore", Interrupted: true, Snapshot: "FILE is the snapshot with SHA-256 5891b5b522d5", Commands: []string{restore + "FILE etcd/etcd-main -n team-a", restore + "etcd/etcd-main --abort -n team-a"}}
	},
	"no-rights": func(s *health.Facts) {
		s.Survey = health.Got[etcd.Survey]{Err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods/portforward"}, "etcd-main-0", errors.New(`User "eve" cannot create resource "pods/portforward"`))}
		denyList(s, "nodes")
		for i := range s.Placement.Value {
			s.Placement.Value[i].Zone = ""
		}
	},
	"no-rights-and-unready": func(s *health.Facts) {
		crash(s, "etcd-main-2")
		health.PodNamed(s.Pods.Value, "etcd-main-2").Status.ContainerStatuses[0].State = corev1.ContainerState{}
		denyPortForward(s)
	},
	"no-rights-and-just-ready": func(s *health.Facts) {
		s.Cluster.Value.Cluster.Members[1].Ready, s.Cluster.Value.Cluster.Members[1].JustReady = false, true
		denyPortForward(s)
	},
	"no-rights-and-an-old-lease": func(s *health.Facts) {
		s.Cluster.Value.Cluster.Members[1].Ready = false
		denyPortForward(s)
	},
	"no-leases": func(s *health.Facts) {
		denyList(s, "leases.coordination.k8s.io")
		s.Backup.Value.Full, s.Backup.Value.Delta = nil, nil
		denyPortForward(s)
		for i := range s.Cluster.Value.Cluster.Members {
			s.Cluster.Value.Cluster.Members[i].Ready = false
		}
	},
	"no-pods": func(s *health.Facts) {
		denyList(s, "pods")
		s.Survey, s.Pods.Value, s.Placement.Value = health.Got[etcd.Survey]{Err: s.Pods.Err}, nil, nil
		for i := range s.Cluster.Value.Cluster.Members {
			s.Cluster.Value.Cluster.Members[i] = policy.Member{Pod: s.Cluster.Value.Cluster.Members[i].Pod}
		}
	},
	"no-budgets-no-services": func(s *health.Facts) {
		denyList(s, "poddisruptionbudgets.policy")
		denyList(s, "services")
		s.Cluster.Value.Budgets = observe.Budgets{Problem: &policy.Note{Reason: reasons.NoBudget, Message: "no budget selects the members"}}
	},
	"sidecars-crash-and-no-leader": func(s *health.Facts) {
		for i, p := range s.Pods.Value {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: "backup-restore", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			})
			s.Survey.Value.Members[i].Leader, s.Survey.Value.Members[i].LeaderID = false, 0
		}
		s.Survey.Value.List, s.Survey.Value.ListErr = nil, errors.New("no quorum")
	},
	"leader-and-another-not-reached": func(s *health.Facts) {
		for _, i := range []int{1, 2} {
			pod := s.Survey.Value.Members[i].Pod
			s.Survey.Value.Members[i] = etcd.Member{Pod: pod, Err: &etcd.MemberError{Pod: pod, Message: "the tunnel to its node is down"}}
		}
	},
	"certificates-refused": func(s *health.Facts) {
		for i := range s.Survey.Value.Members {
			s.Survey.Value.Members[i] = etcd.Member{Pod: s.Survey.Value.Members[i].Pod, Err: &etcd.MemberError{Pod: s.Survey.Value.Members[i].Pod, Message: "rejects the client certificate: it has expired"}}
		}
		s.Survey.Value.List, s.Survey.Value.ListErr = nil, errors.New("no voter answers")
	},
	"traffic-cut":          func(s *health.Facts) { cut(s, observe.CutValue(noon.Add(14*time.Minute))) },
	"traffic-cut-overdue":  func(s *health.Facts) { cut(s, observe.CutValue(noon.Add(-5*time.Minute))) },
	"traffic-cut-for-ever": func(s *health.Facts) { cut(s, "for-ever") },
	"backups-fail": func(s *health.Facts) {
		s.Backup.Value.Status, s.Backup.Value.Reason = "False", "BackupFailed"
		s.Backup.Value.Delta = &metav1.Time{Time: noon.Add(-3 * time.Hour)}
		condition(s, 1, observe.Condition{Type: "BackupReady", Status: "False", Reason: "BackupFailed", Message: "Stale snapshot leases. Not renewed in a long time", Since: noon.Add(-time.Hour), Confirmed: noon.Add(-10 * time.Second), Bad: true})
		s.Cluster.Value.Cluster.BackupReady = policy.Condition{Status: policy.False, Reason: "BackupFailed"}
	},
	"operator-gone": func(s *health.Facts) {
		for i, c := range s.Conditions.Value {
			c.Confirmed = noon.Add(-20 * time.Minute)
			condition(s, i, c)
		}
	},
	"long-names": func(s *health.Facts) {
		*s = threeMembers("kube-prometheus-thanos-etcd-events", "europe-west3-")
		for i := range s.Placement.Value {
			s.Placement.Value[i].Node = fmt.Sprintf("ip-10-180-7-%d.eu-central-1.compute.internal", 20+i)
		}
		s.Survey.Value.Members[1].CertificateExpiry = noon.Add(50 * time.Hour)
	},
}

// threeMembers is a healthy cluster of etcd-druid, which a budget protects.
func threeMembers(name, zones string) health.Facts {
	owner := owner.Owner{
		WorkloadKind: owner.DruidStatefulSet, Distribution: flavour.Druid, Kind: "Etcd", Namespace: "team-a", Name: name,
		StatefulSet: name, Replicas: 3,
	}
	full, delta := metav1.NewTime(noon.Add(-2*time.Hour)), metav1.NewTime(noon.Add(-3*time.Minute))
	s := health.Facts{Owner: owner, At: noon, MayRemove: map[uint64]policy.Verdict{}}
	s.Backup.Value = v1alpha1.Backup{Status: "True", Full: &full, Delta: &delta}
	s.Services.Value = []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: name + "-client"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": name}}}}
	s.Standing.Value = spread.Status{Kept: policy.True, Reason: spread.SpreadKept, Message: "3 members run on different nodes, evenly over zones: zone-a has 1, zone-b has 1, zone-c has 1"}
	s.Etcd.Value = &druidv1alpha1.Etcd{}
	for i, kind := range []string{"AllMembersReady", "BackupReady", "Ready"} {
		s.Conditions.Value = append(s.Conditions.Value, observe.Condition{})
		s.Etcd.Value.Status.Conditions = append(s.Etcd.Value.Status.Conditions, druidv1alpha1.Condition{})
		condition(&s, i, observe.Condition{Type: kind, Status: "True", Reason: kind, Since: noon.Add(-26 * time.Hour), Confirmed: noon.Add(-10 * time.Second)})
	}
	s.Cluster.Value = observe.Facts{At: noon, Running: true, Replicas: 3, Cluster: policy.Cluster{
		Namespace: "team-a", Name: name, Size: 3,
		AllMembersReady: policy.Condition{Status: policy.True}, BackupReady: policy.Condition{Status: policy.True},
	}}
	value, least := annotation.BudgetValue{Field: annotation.MinAvailable, N: 2}, intstr.FromInt32(2)
	pdb := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
	}
	s.Cluster.Value.Budgets.Managed = &observe.Budget{
		PodDisruptionBudget: pdb, Value: value, Record: annotation.BudgetRecord{For: "Etcd/" + name, Value: &value, Reason: policy.AllReady.Name()},
	}
	s.Budgets.Value, s.Selecting.Value = s.Cluster.Value.Budgets, []policyv1.PodDisruptionBudget{*pdb}
	for i, letter := range "abc" {
		pod := owner.PodName(i)
		add(&s, pod, zones+string(letter), fmt.Sprintf("node-%d", i+1), true)
		id := uint64(i + 1)
		s.Survey.Value.Members = append(s.Survey.Value.Members, etcd.Member{
			Pod: pod, Name: pod, ID: id, ClusterID: 0xc1, LeaderID: 2, Leader: id == 2, Version: "3.6.5",
			DBSize: 52 << 20, DBSizeInUse: 40 << 20, Quota: 8 << 30, RaftTerm: 14, RaftIndex: 5000, RaftApplied: 5000,
			Revision: 8123456, CertificateExpiry: noon.Add(60 * 24 * time.Hour),
		})
		s.Survey.Value.List = append(s.Survey.Value.List, etcd.Listed{ID: id, Name: pod, Pod: pod})
		s.MayRemove[id] = policy.Allow(policy.QuorumKept, "")
	}
	return s
}

// condition sets a condition of the Etcd.
func condition(s *health.Facts, i int, c observe.Condition) {
	s.Conditions.Value[i] = c
	s.Etcd.Value.Status.Conditions[i] = druidv1alpha1.Condition{
		Type: druidv1alpha1.ConditionType(c.Type), Status: druidv1alpha1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
		LastTransitionTime: metav1.NewTime(c.Since), LastUpdateTime: metav1.NewTime(c.Confirmed),
	}
}

func add(s *health.Facts, pod, zone, node string, ready bool) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	s.Pods.Value = append(s.Pods.Value, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Owner.Namespace, Name: pod, Labels: map[string]string{"app": s.Owner.Name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "backup-restore"}, {Name: "etcd", Command: []string{"/usr/local/bin/etcd"}}}, NodeName: node},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", Ready: ready}},
		},
	})
	s.Cluster.Value.Cluster.Members = append(s.Cluster.Value.Cluster.Members, policy.Member{Pod: pod, Exists: true, PodReady: ready, Ready: ready, Node: node})
	s.Placement.Value = append(s.Placement.Value, policy.Member{Pod: pod, Exists: true, Zone: zone, Node: node})
	s.Nodes.Value = append(s.Nodes.Value, spread.Node{Name: node, Zone: zone})
}

// cut has the client Service select no pod.
func cut(s *health.Facts, value string) {
	s.Cluster.Value.Cluster.TrafficCut = true
	s.Services.Value[0].Spec.Selector[api.ClientTrafficKey] = value
}

// denyList has the API server refuse a kind: each fact that needs it has that error.
func denyList(s *health.Facts, resource string) {
	name, group, _ := strings.Cut(resource, ".")
	err := apierrors.NewForbidden(schema.GroupResource{Group: group, Resource: name}, "", fmt.Errorf("User \"eve\" cannot list resource %q", resource))
	s.Unseen = append(s.Unseen, v1alpha1.Unseen{What: resource, Why: err.Error()})
	switch resource {
	case "pods":
		s.Pods.Err, s.Selecting.Err, s.Placement.Err, s.Standing.Err = err, err, err, err
	case "leases.coordination.k8s.io":
		s.Leases.Err = err
	case "services":
		s.Services.Err, s.Peer.Err = err, err
	case "poddisruptionbudgets.policy":
		s.Budgets.Err, s.Selecting.Err = err, err
	case "nodes":
		s.Nodes.Err, s.Standing.Err = err, err
	}
}

// denyPortForward has the API server refuse the connection to every member.
func denyPortForward(s *health.Facts) {
	s.Barred = map[string]bool{}
	for i := range s.Survey.Value.Members {
		pod := s.Survey.Value.Members[i].Pod
		s.Survey.Err = &etcd.MemberError{Pod: pod, Message: `User "eve" cannot create resource "pods/portforward"`, Err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, errors.New("no"))}
		s.Survey.Value.Members[i], s.Barred[pod] = etcd.Member{Pod: pod, Err: s.Survey.Err}, true
	}
	s.Survey.Value.List, s.Survey.Value.ListErr = nil, s.Survey.Err
}

// crash makes the pod of a member one that doesn't start.
func crash(s *health.Facts, pod string) {
	p := health.PodNamed(s.Pods.Value, pod)
	p.Status.Conditions[0].Status = corev1.ConditionFalse
	p.Status.ContainerStatuses[0] = corev1.ContainerStatus{
		Name: "etcd", RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
	}
	for i := range s.Cluster.Value.Cluster.Members {
		if m := &s.Cluster.Value.Cluster.Members[i]; m.Pod == pod {
			m.PodReady, m.Ready = false, false
		}
	}
	for i := range s.Survey.Value.Members {
		if s.Survey.Value.Members[i].Pod == pod {
			s.Survey.Value.Members[i] = etcd.Member{Pod: pod, Err: &etcd.MemberError{Pod: pod, Message: "nothing listens on port 2379"}}
		}
	}
}

// hibernate scales the cluster to 0.
func hibernate(s *health.Facts) {
	s.Owner.Replicas, s.Pods.Value, s.Cluster.Value.Cluster.Members, s.Cluster.Value.Cluster.Size = 0, nil, nil, 0
	s.Etcd.Value.Spec.Replicas = 0
	s.Survey.Value, s.Standing.Value, s.Placement.Value = etcd.Survey{}, spread.Status{}, nil
}
