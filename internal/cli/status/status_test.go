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

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestStatus compares the output for clusters in many states, on a narrow and on a wide terminal,
// with golden files.
func TestStatus(t *testing.T) {
	t.Parallel()
	for name, change := range statusCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := threeMembers("etcd-main", "zone-")
			change(&s)
			st := health.StatusOf(s)
			for _, columns := range []int{80, 200} {
				a := app.New(genericiooptions.IOStreams{})
				screen := &ui.Screen{Columns: columns}
				if err := render(a, screen, st, false); err != nil {
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

var statusCases = map[string]func(*health.Observation){
	"healthy": func(*health.Observation) {},
	"member-down": func(s *health.Observation) {
		crash(s, "etcd-main-2")
		s.Facts.Cluster.AllMembersReady = policy.Condition{Status: policy.False}
		s.Conditions[0] = observe.Condition{Type: "AllMembersReady", Status: "False", Reason: "NotAllMembersReady", Message: "1 of 3 members is not ready", Since: noon.Add(-4 * time.Minute), Confirmed: noon.Add(-10 * time.Second), Bad: true}
		s.Events = []corev1.Event{{
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "etcd-main-2"}, Reason: "BackOff", Count: 7,
			Message: "Back-off restarting failed container etcd in pod etcd-main-2", LastTimestamp: metav1.NewTime(noon.Add(-20 * time.Second)),
		}, {
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "other-0"}, Reason: "BackOff", Message: "another's", LastTimestamp: metav1.NewTime(noon),
		}}
	},
	"removed": func(s *health.Observation) {
		crash(s, "etcd-main-2")
		s.Said.List = slices.Delete(s.Said.List, 2, 3)
	},
	"no-quorum": func(s *health.Observation) {
		crash(s, "etcd-main-1")
		crash(s, "etcd-main-2")
		s.Said.Members[0].Leader, s.Said.Members[0].LeaderID = false, 0
		s.Said.List, s.Said.ListErr = nil, errors.New("no quorum")
	},
	"split-brain": func(s *health.Observation) {
		s.Said.Members[2].ClusterID, s.Said.Members[2].LeaderID, s.Said.Members[2].Leader = 0xbad, 3, true
		s.Said.List, s.Said.ListErr = nil, errors.New("split brain")
	},
	"no-space": func(s *health.Observation) {
		for i := range s.Said.Members {
			s.Said.Members[i].DBSize, s.Said.Members[i].Alarms = 8<<30, []string{"NOSPACE"}
		}
	},
	"no-space-of-who-is-gone": func(s *health.Observation) {
		s.Said.Strays = []etcd.Alarm{{MemberID: 0xff, Gone: true, Type: "NOSPACE"}}
	},
	"learner-joins": func(s *health.Observation) {
		s.Owner.Replicas = 4
		s.Facts.Cluster.Operation = "scale from 3 to 4 members"
		add(s, "etcd-main-3", "zone-a", "node-7", false)
		s.Said.Members = append(s.Said.Members, etcd.Member{Pod: "etcd-main-3", ID: 4, ClusterID: 0xc1, Learner: true, LeaderID: 2, Version: "3.6.5", DBSize: 1 << 20, Quota: 8 << 30, RaftTerm: 14, RaftIndex: 5000, RaftApplied: 4000})
		s.Said.List = append(s.Said.List, etcd.Listed{ID: 4, Name: "etcd-main-3", Learner: true, Pod: "etcd-main-3"})
	},
	"dead-voter": func(s *health.Observation) {
		s.Said.List = append(s.Said.List, etcd.Listed{ID: 0xdead, Name: "etcd-main-3", PeerURLs: []string{"http://etcd-main-3.etcd-main-peer.team-a.svc:2380"}})
	},
	"hibernated": func(s *health.Observation) {
		s.Owner.Replicas, s.Pods, s.Facts.Cluster.Members, s.Facts.Cluster.Size = 0, nil, nil, 0
		s.Said, s.Standing, s.Events = etcd.Survey{}, spread.Status{}, nil
	},
	"no-rights": func(s *health.Observation) {
		s.Said = etcd.Survey{}
		s.Silence = apierrors.NewForbidden(schema.GroupResource{Resource: "pods/portforward"}, "etcd-main-0", errors.New(`User "eve" cannot create resource "pods/portforward"`))
		s.Unseen = []v1alpha1.Unseen{{What: "nodes", Why: `nodes is forbidden: User "eve" cannot list resource "nodes" in API group "" at the cluster scope`}}
		for i := range s.Facts.Cluster.Members {
			s.Facts.Cluster.Members[i].Zone = ""
		}
	},
	"no-rights-and-unready": func(s *health.Observation) {
		crash(s, "etcd-main-2")
		health.PodNamed(s.Pods, "etcd-main-2").Status.ContainerStatuses[0].State = corev1.ContainerState{}
		denyPortForward(s)
	},
	"no-rights-and-an-old-lease": func(s *health.Observation) {
		s.Facts.Cluster.Members[1].Ready = false
		denyPortForward(s)
	},
	"no-leases": func(s *health.Observation) {
		denyList(s, "leases.coordination.k8s.io")
		s.Backup.Full, s.Backup.Delta = nil, nil
		denyPortForward(s)
		for i := range s.Facts.Cluster.Members {
			s.Facts.Cluster.Members[i].Ready = false
		}
	},
	"no-pods": func(s *health.Observation) {
		denyList(s, "pods")
		s.Said, s.Pods = etcd.Survey{}, nil
		for i := range s.Facts.Cluster.Members {
			s.Facts.Cluster.Members[i] = policy.Member{Pod: s.Facts.Cluster.Members[i].Pod}
		}
	},
	"no-budgets-no-services": func(s *health.Observation) {
		denyList(s, "poddisruptionbudgets.policy")
		denyList(s, "services")
		s.Facts.Budgets = observe.Budgets{Problem: &policy.Note{Reason: "NoBudget", Message: "no budget selects the members"}}
		s.Traffic = v1alpha1.Traffic{State: v1alpha1.TrafficUnknown}
	},
	"sidecars-crash-and-no-leader": func(s *health.Observation) {
		for i, p := range s.Pods {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: "backup-restore", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			})
			s.Said.Members[i].Leader, s.Said.Members[i].LeaderID = false, 0
		}
		s.Said.List, s.Said.ListErr = nil, errors.New("no quorum")
	},
	"leader-and-another-not-reached": func(s *health.Observation) {
		for _, i := range []int{1, 2} {
			pod := s.Said.Members[i].Pod
			s.Said.Members[i] = etcd.Member{Pod: pod, Err: &etcd.MemberError{Pod: pod, Message: "the tunnel to its node is down"}}
		}
	},
	"certificates-refused": func(s *health.Observation) {
		for i := range s.Said.Members {
			s.Said.Members[i] = etcd.Member{Pod: s.Said.Members[i].Pod, Err: &etcd.MemberError{Pod: s.Said.Members[i].Pod, Message: "rejects the client certificate: it has expired"}}
		}
		s.Said.List, s.Said.ListErr = nil, errors.New("no voter answers")
	},
	"traffic-cut": func(s *health.Observation) {
		s.Facts.Cluster.TrafficCut = true
		s.Traffic.State, s.Traffic.Until = v1alpha1.TrafficCut, &metav1.Time{Time: noon.Add(14 * time.Minute)}
	},
	"traffic-cut-overdue": func(s *health.Observation) {
		s.Facts.Cluster.TrafficCut = true
		s.Traffic.State, s.Traffic.Until = v1alpha1.TrafficCut, &metav1.Time{Time: noon.Add(-5 * time.Minute)}
	},
	"traffic-cut-for-ever": func(s *health.Observation) {
		s.Facts.Cluster.TrafficCut = true
		s.Traffic.State = v1alpha1.TrafficCut
	},
	"backups-fail": func(s *health.Observation) {
		s.Backup.Status, s.Backup.Reason = "False", "BackupFailed"
		s.Backup.Delta = &metav1.Time{Time: noon.Add(-3 * time.Hour)}
		s.Conditions[1] = observe.Condition{Type: "BackupReady", Status: "False", Reason: "BackupFailed", Message: "Stale snapshot leases. Not renewed in a long time", Since: noon.Add(-time.Hour), Confirmed: noon.Add(-10 * time.Second), Bad: true}
		s.Facts.Cluster.BackupReady = policy.Condition{Status: policy.False, Reason: "BackupFailed"}
	},
	"operator-gone": func(s *health.Observation) {
		for i := range s.Conditions {
			s.Conditions[i].Confirmed = noon.Add(-20 * time.Minute)
		}
	},
	"long-names": func(s *health.Observation) {
		*s = threeMembers("kube-prometheus-thanos-etcd-events", "europe-west3-")
		for i := range s.Facts.Cluster.Members {
			s.Facts.Cluster.Members[i].Node = fmt.Sprintf("ip-10-180-7-%d.eu-central-1.compute.internal", 20+i)
		}
		s.Said.Members[1].CertificateExpiry = noon.Add(50 * time.Hour)
	},
}

// threeMembers returns a healthy druid cluster that a policy governs.
func threeMembers(name, zones string) health.Observation {
	owner := observe.Owner{
		Flavour: observe.Druid, Distribution: flavour.Druid, Kind: "Etcd", Namespace: "team-a", Name: name,
		StatefulSet: name, Replicas: 3,
	}
	full, delta := metav1.NewTime(noon.Add(-2*time.Hour)), metav1.NewTime(noon.Add(-3*time.Minute))
	s := health.Observation{
		Owner: owner, At: noon,
		Backup:   v1alpha1.Backup{Status: "True", Full: &full, Delta: &delta},
		Traffic:  v1alpha1.Traffic{State: v1alpha1.TrafficOpen, Services: []string{name + "-client"}},
		Standing: spread.Status{Kept: policy.True, Reason: spread.SpreadKept, Message: "3 members run on different nodes, evenly over zones: zone-a has 1, zone-b has 1, zone-c has 1"},
		Settings: budget.Settings{BackupHoldLimit: time.Hour, StaleLimit: 10 * time.Minute, Settle: time.Minute},
	}
	for _, kind := range []string{"AllMembersReady", "BackupReady", "Ready"} {
		s.Conditions = append(s.Conditions, observe.Condition{Type: kind, Status: "True", Reason: kind, Since: noon.Add(-26 * time.Hour), Confirmed: noon.Add(-10 * time.Second)})
	}
	s.Facts = observe.Facts{At: noon, Running: true, Replicas: 3, Cluster: policy.Cluster{
		Namespace: "team-a", Name: name, Size: 3,
		AllMembersReady: policy.Condition{Status: policy.True}, BackupReady: policy.Condition{Status: policy.True},
	}}
	value := observe.BudgetValue{Field: observe.MinAvailable, N: 2}
	s.Facts.Budgets.Kept = &observe.Budget{
		PodDisruptionBudget: &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}},
		Value:               value, Record: observe.BudgetRecord{For: "Etcd/" + name, Value: &value, Reason: policy.AllReady.Name()},
	}
	for i, letter := range "abc" {
		pod := owner.PodName(i)
		add(&s, pod, zones+string(letter), fmt.Sprintf("node-%d", i+1), true)
		id := uint64(i + 1)
		s.Said.Members = append(s.Said.Members, etcd.Member{
			Pod: pod, Name: pod, ID: id, ClusterID: 0xc1, LeaderID: 2, Leader: id == 2, Version: "3.6.5",
			DBSize: 52 << 20, DBSizeInUse: 40 << 20, Quota: 8 << 30, RaftTerm: 14, RaftIndex: 5000, RaftApplied: 5000,
			Revision: 8123456, CertificateExpiry: noon.Add(60 * 24 * time.Hour),
		})
		s.Said.List = append(s.Said.List, etcd.Listed{ID: id, Name: pod, Pod: pod})
	}
	return s
}

func add(s *health.Observation, pod, zone, node string, ready bool) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	s.Pods = append(s.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Owner.Namespace, Name: pod},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "backup-restore"}, {Name: "etcd", Command: []string{"/usr/local/bin/etcd"}}}},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", Ready: ready}},
		},
	})
	s.Facts.Cluster.Members = append(s.Facts.Cluster.Members, policy.Member{Pod: pod, Exists: true, PodReady: ready, Ready: ready, Zone: zone, Node: node})
}

func denyList(s *health.Observation, resource string) {
	s.Unseen = append(s.Unseen, v1alpha1.Unseen{What: resource, Why: fmt.Sprintf("User \"eve\" cannot list resource %q", resource)})
}

// denyPortForward makes the API server refuse port-forwards to all members.
func denyPortForward(s *health.Observation) {
	for i := range s.Said.Members {
		pod := s.Said.Members[i].Pod
		s.Silence = &etcd.MemberError{Pod: pod, Message: `User "eve" cannot create resource "pods/portforward"`, Err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, errors.New("no"))}
		s.Said.Members[i] = etcd.Member{Pod: pod, Err: s.Silence}
	}
	s.Said.List, s.Said.ListErr = nil, s.Silence
}

// crash puts the pod of a member into CrashLoopBackOff.
func crash(s *health.Observation, pod string) {
	p := health.PodNamed(s.Pods, pod)
	p.Status.Conditions[0].Status = corev1.ConditionFalse
	p.Status.ContainerStatuses[0] = corev1.ContainerStatus{
		Name: "etcd", RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
	}
	for i := range s.Facts.Cluster.Members {
		if m := &s.Facts.Cluster.Members[i]; m.Pod == pod {
			m.PodReady, m.Ready = false, false
		}
	}
	for i := range s.Said.Members {
		if s.Said.Members[i].Pod == pod {
			s.Said.Members[i] = etcd.Member{Pod: pod, Err: &etcd.MemberError{Pod: pod, Message: "nothing listens on port 2379"}}
		}
	}
}
