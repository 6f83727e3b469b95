// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestStatus draws what was seen of clusters in all conditions, on a narrow
// terminal and on a wide one.
func TestStatus(t *testing.T) {
	t.Parallel()
	for name, change := range statusCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := threeMembers("etcd-main", "zone-")
			change(&s)
			st := statusOf(s)
			for _, columns := range []int{80, 200} {
				e := newEnv(genericiooptions.IOStreams{})
				c := &canvas{columns: columns}
				if err := renderStatus(e, c, st, false); err != nil {
					t.Fatal(err)
				}
				said := "exit code 0\n"
				if err := verdictOn(st); err != nil {
					code, word := outcome(t.Context(), err)
					said = fmt.Sprintf("exit code %d\n%s: %v\n", code, word, err)
				}
				compareGolden(t, filepath.Join("testdata", "status", fmt.Sprintf("%s.%d.txt", name, columns)), c.String()+said)
				for line := range strings.Lines(c.String()) {
					if n := len([]rune(strings.TrimRight(line, "\n"))); n > columns && !strings.Contains(line, "kubectl ") {
						t.Errorf("%d columns where there are %d: %q", n, columns, line)
					}
				}
			}
		})
	}
}

var statusCases = map[string]func(*sight){
	"healthy": func(*sight) {},
	"member-down": func(s *sight) {
		s.crash("etcd-main-2")
		s.facts.Cluster.AllMembersReady = policy.Condition{Status: policy.False}
		s.conditions[0] = observe.Condition{Type: "AllMembersReady", Status: "False", Reason: "NotAllMembersReady", Message: "1 of 3 members is not ready", Since: noon.Add(-4 * time.Minute), Confirmed: noon.Add(-10 * time.Second), Bad: true}
		s.events = []corev1.Event{{
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "etcd-main-2"}, Reason: "BackOff", Count: 7,
			Message: "Back-off restarting failed container etcd in pod etcd-main-2", LastTimestamp: metav1.NewTime(noon.Add(-20 * time.Second)),
		}, {
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "other-0"}, Reason: "BackOff", Message: "another's", LastTimestamp: metav1.NewTime(noon),
		}}
	},
	"removed": func(s *sight) {
		s.crash("etcd-main-2")
		s.said.List = slices.Delete(s.said.List, 2, 3)
	},
	"no-quorum": func(s *sight) {
		s.crash("etcd-main-1")
		s.crash("etcd-main-2")
		s.said.Members[0].Leader, s.said.Members[0].LeaderID = false, 0
		s.said.List, s.said.ListErr = nil, errors.New("no quorum")
	},
	"split-brain": func(s *sight) {
		s.said.Members[2].ClusterID, s.said.Members[2].LeaderID, s.said.Members[2].Leader = 0xbad, 3, true
		s.said.List, s.said.ListErr = nil, errors.New("split brain")
	},
	"no-space": func(s *sight) {
		for i := range s.said.Members {
			s.said.Members[i].DBSize, s.said.Members[i].Alarms = 8<<30, []string{"NOSPACE"}
		}
	},
	"no-space-of-who-is-gone": func(s *sight) {
		s.said.Strays = []etcd.Alarm{{MemberID: 0xff, Gone: true, Type: "NOSPACE"}}
	},
	"learner-joins": func(s *sight) {
		s.owner.Replicas = 4
		s.facts.Cluster.Operation = "scale from 3 to 4 members"
		s.add("etcd-main-3", "zone-a", "node-7", false)
		s.said.Members = append(s.said.Members, etcd.Member{Pod: "etcd-main-3", ID: 4, ClusterID: 0xc1, Learner: true, LeaderID: 2, Version: "3.6.5", DBSize: 1 << 20, Quota: 8 << 30, RaftTerm: 14, RaftIndex: 5000, RaftApplied: 4000})
		s.said.List = append(s.said.List, etcd.Listed{ID: 4, Name: "etcd-main-3", Learner: true, Pod: "etcd-main-3"})
	},
	"dead-voter": func(s *sight) {
		s.said.List = append(s.said.List, etcd.Listed{ID: 0xdead, Name: "etcd-main-3", PeerURLs: []string{"http://etcd-main-3.etcd-main-peer.team-a.svc:2380"}})
	},
	"hibernated": func(s *sight) {
		s.owner.Replicas, s.pods, s.facts.Cluster.Members, s.facts.Cluster.Size = 0, nil, nil, 0
		s.said, s.standing, s.events = etcd.Survey{}, policy.Standing{}, nil
	},
	"no-rights": func(s *sight) {
		s.said = etcd.Survey{}
		s.silence = apierrors.NewForbidden(schema.GroupResource{Resource: "pods/portforward"}, "etcd-main-0", errors.New(`User "eve" cannot create resource "pods/portforward"`))
		s.unseen = []v1alpha1.Unseen{{What: "nodes", Why: `nodes is forbidden: User "eve" cannot list resource "nodes" in API group "" at the cluster scope`}}
		for i := range s.facts.Cluster.Members {
			s.facts.Cluster.Members[i].Zone = ""
		}
	},
	"no-rights-and-unready": func(s *sight) {
		s.crash("etcd-main-2")
		podNamed(s.pods, "etcd-main-2").Status.ContainerStatuses[0].State = corev1.ContainerState{}
		s.mayNotAsk()
	},
	"no-rights-and-an-old-lease": func(s *sight) {
		s.facts.Cluster.Members[1].Ready = false
		s.mayNotAsk()
	},
	"no-leases": func(s *sight) {
		s.mayNotList("leases.coordination.k8s.io")
		s.backup.Full, s.backup.Delta = nil, nil
		s.mayNotAsk()
		for i := range s.facts.Cluster.Members {
			s.facts.Cluster.Members[i].Ready = false
		}
	},
	"no-pods": func(s *sight) {
		s.mayNotList("pods")
		s.said, s.pods = etcd.Survey{}, nil
		for i := range s.facts.Cluster.Members {
			s.facts.Cluster.Members[i] = policy.Member{Pod: s.facts.Cluster.Members[i].Pod}
		}
	},
	"no-budgets-no-services": func(s *sight) {
		s.mayNotList("poddisruptionbudgets.policy")
		s.mayNotList("services")
		s.facts.Budgets = observe.Budgets{Problem: &policy.Note{Reason: "NoBudget", Message: "no budget selects the members"}}
		s.traffic = v1alpha1.Traffic{State: v1alpha1.TrafficUnknown}
	},
	"sidecars-crash-and-no-leader": func(s *sight) {
		for i, p := range s.pods {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: "backup-restore", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			})
			s.said.Members[i].Leader, s.said.Members[i].LeaderID = false, 0
		}
		s.said.List, s.said.ListErr = nil, errors.New("no quorum")
	},
	"leader-and-another-not-reached": func(s *sight) {
		for _, i := range []int{1, 2} {
			pod := s.said.Members[i].Pod
			s.said.Members[i] = etcd.Member{Pod: pod, Err: &etcd.MemberError{Pod: pod, Words: "the tunnel to its node is down"}}
		}
	},
	"certificates-refused": func(s *sight) {
		for i := range s.said.Members {
			s.said.Members[i] = etcd.Member{Pod: s.said.Members[i].Pod, Err: &etcd.MemberError{Pod: s.said.Members[i].Pod, Words: "refuses the client certificate: it has expired"}}
		}
		s.said.List, s.said.ListErr = nil, errors.New("no voter answers")
	},
	"traffic-cut": func(s *sight) {
		s.facts.Cluster.TrafficCut = true
		s.traffic.State, s.traffic.Until = v1alpha1.TrafficCut, &metav1.Time{Time: noon.Add(14 * time.Minute)}
	},
	"traffic-cut-overdue": func(s *sight) {
		s.facts.Cluster.TrafficCut = true
		s.traffic.State, s.traffic.Until = v1alpha1.TrafficCut, &metav1.Time{Time: noon.Add(-5 * time.Minute)}
	},
	"traffic-cut-for-ever": func(s *sight) {
		s.facts.Cluster.TrafficCut = true
		s.traffic.State = v1alpha1.TrafficCut
	},
	"backups-fail": func(s *sight) {
		s.backup.Status, s.backup.Reason = "False", "BackupFailed"
		s.backup.Delta = &metav1.Time{Time: noon.Add(-3 * time.Hour)}
		s.conditions[1] = observe.Condition{Type: "BackupReady", Status: "False", Reason: "BackupFailed", Message: "Stale snapshot leases. Not renewed in a long time", Since: noon.Add(-time.Hour), Confirmed: noon.Add(-10 * time.Second), Bad: true}
		s.facts.Cluster.BackupReady = policy.Condition{Status: policy.False, Reason: "BackupFailed"}
	},
	"operator-gone": func(s *sight) {
		for i := range s.conditions {
			s.conditions[i].Confirmed = noon.Add(-20 * time.Minute)
		}
	},
	"long-names": func(s *sight) {
		*s = threeMembers("kube-prometheus-thanos-etcd-events", "europe-west3-")
		for i := range s.facts.Cluster.Members {
			s.facts.Cluster.Members[i].Node = fmt.Sprintf("ip-10-180-7-%d.eu-central-1.compute.internal", 20+i)
		}
		s.said.Members[1].CertificateExpiry = noon.Add(50 * time.Hour)
	},
}

// threeMembers is a healthy cluster of druid's, kept by a policy.
func threeMembers(name, zones string) sight {
	owner := observe.Owner{
		Flavour: observe.Druid, Distribution: observe.DistributionDruid, Kind: "Etcd", Namespace: "team-a", Name: name,
		StatefulSet: name, Replicas: 3,
	}
	full, delta := metav1.NewTime(noon.Add(-2*time.Hour)), metav1.NewTime(noon.Add(-3*time.Minute))
	s := sight{
		owner: owner, at: noon,
		backup:   v1alpha1.Backup{Status: "True", Full: &full, Delta: &delta},
		traffic:  v1alpha1.Traffic{State: v1alpha1.TrafficOpen, Services: []string{name + "-client"}},
		standing: policy.Standing{Kept: policy.True, Reason: policy.SpreadKept, Message: "3 members run on different nodes, evenly over zones: zone-a has 1, zone-b has 1, zone-c has 1"},
		settings: policy.BudgetSettings{BackupHoldLimit: time.Hour, StaleLimit: 10 * time.Minute, Settle: time.Minute},
	}
	for _, kind := range []string{"AllMembersReady", "BackupReady", "Ready"} {
		s.conditions = append(s.conditions, observe.Condition{Type: kind, Status: "True", Reason: kind, Since: noon.Add(-26 * time.Hour), Confirmed: noon.Add(-10 * time.Second)})
	}
	s.facts = observe.Facts{At: noon, Running: true, Replicas: 3, Cluster: policy.Cluster{
		Namespace: "team-a", Name: name, Size: 3,
		AllMembersReady: policy.Condition{Status: policy.True}, BackupReady: policy.Condition{Status: policy.True},
	}}
	value := observe.BudgetValue{Field: observe.MinAvailable, N: 2}
	s.facts.Budgets.Kept = &observe.Budget{
		PodDisruptionBudget: &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}},
		Value:               value, Record: observe.BudgetRecord{For: "Etcd/" + name, Value: &value, Reason: policy.AllReady},
	}
	for i, letter := range "abc" {
		pod := owner.PodName(i)
		s.add(pod, zones+string(letter), fmt.Sprintf("node-%d", i+1), true)
		id := uint64(i + 1)
		s.said.Members = append(s.said.Members, etcd.Member{
			Pod: pod, Name: pod, ID: id, ClusterID: 0xc1, LeaderID: 2, Leader: id == 2, Version: "3.6.5",
			DBSize: 52 << 20, DBSizeInUse: 40 << 20, Quota: 8 << 30, RaftTerm: 14, RaftIndex: 5000, RaftApplied: 5000,
			Revision: 8123456, CertificateExpiry: noon.Add(60 * 24 * time.Hour),
		})
		s.said.List = append(s.said.List, etcd.Listed{ID: id, Name: pod, Pod: pod})
	}
	return s
}

func (s *sight) add(pod, zone, node string, ready bool) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	s.pods = append(s.pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.owner.Namespace, Name: pod},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "backup-restore"}, {Name: "etcd", Command: []string{"/usr/local/bin/etcd"}}}},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", Ready: ready}},
		},
	})
	s.facts.Cluster.Members = append(s.facts.Cluster.Members, policy.Member{Pod: pod, Exists: true, PodReady: ready, Ready: ready, Zone: zone, Node: node})
}

func (s *sight) mayNotList(resource string) {
	s.unseen = append(s.unseen, v1alpha1.Unseen{What: resource, Why: fmt.Sprintf("User \"eve\" cannot list resource %q", resource)})
}

// mayNotAsk has the API server refuse the way to every member.
func (s *sight) mayNotAsk() {
	for i := range s.said.Members {
		pod := s.said.Members[i].Pod
		s.silence = &etcd.MemberError{Pod: pod, Words: `User "eve" cannot create resource "pods/portforward"`, Err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, errors.New("no"))}
		s.said.Members[i] = etcd.Member{Pod: pod, Err: s.silence}
	}
	s.said.List, s.said.ListErr = nil, s.silence
}

// crash makes a member's pod one that doesn't start.
func (s *sight) crash(pod string) {
	p := podNamed(s.pods, pod)
	p.Status.Conditions[0].Status = corev1.ConditionFalse
	p.Status.ContainerStatuses[0] = corev1.ContainerStatus{
		Name: "etcd", RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
	}
	for i := range s.facts.Cluster.Members {
		if m := &s.facts.Cluster.Members[i]; m.Pod == pod {
			m.PodReady, m.Ready = false, false
		}
	}
	for i := range s.said.Members {
		if s.said.Members[i].Pod == pod {
			s.said.Members[i] = etcd.Member{Pod: pod, Err: &etcd.MemberError{Pod: pod, Words: "nothing listens on port 2379"}}
		}
	}
}

// compareGolden compares text with a golden file, or writes it when UPDATE is set.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
