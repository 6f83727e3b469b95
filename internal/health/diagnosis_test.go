// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

func boundClaim(name string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
}

// scaledIn has a cluster of one that had three members when it last had a quorum.
func scaledIn(f *Facts) {
	f.Owner.Claims = []owner.Claim{{Template: "data"}}
	f.Claims.Value = []corev1.PersistentVolumeClaim{boundClaim("data-main-0")}
	f.Survey.Value.ListErr, f.LastVoters = errRefused, 3
	f.Survey.Value.Members[0].LeaderID = 0
}

// frozen has main-2 silent, out of contact with the leader, and its data there.
func frozen(f *Facts) {
	silent(2)(f)
	f.Owner.Claims = []owner.Claim{{Template: "data"}}
	for i := range 3 {
		f.Claims.Value = append(f.Claims.Value, boundClaim("data-"+podName(i)))
		f.Pods.Value[i].Spec.NodeName = "node"
		f.Pods.Value[i].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	f.Silences = map[uint64]membership.Silence{3: {Pod: "main-2", Contact: membership.ContactNone}}
}

// unlisted has main-2 answer with that raft index as a member that the list of the others lacks. Their leader has 50.
func unlisted(index uint64) func(*Facts) {
	return func(f *Facts) {
		s := &f.Survey.Value
		s.List, s.Members[0].RaftIndex = s.List[:2], 50
		s.Members[2].Err, s.Members[2].RaftIndex = errRefused, index
	}
}

// claimsLost has main-0 answer without a leader. The claims of the others are Lost.
func claimsLost(f *Facts) {
	f.Owner.Claims = []owner.Claim{{Template: "data"}}
	for i := range 3 {
		claim := boundClaim("data-" + podName(i))
		if i > 0 {
			claim.Status.Phase = corev1.ClaimLost
			silent(i)(f)
		}
		f.Claims.Value = append(f.Claims.Value, claim)
	}
	f.Survey.Value.List, f.Survey.Value.ListErr = nil, errRefused
	f.Survey.Value.Members[0].Leader, f.Survey.Value.Members[0].LeaderID = false, 0
}

// druidSized is an Etcd of three members.
func druidSized(f *Facts) { druid(func(e *druidv1alpha1.Etcd) { e.Spec.Replicas = 3 })(f) }

// leftOver has a voter main-3 without a pod in a cluster of three.
func leftOver(f *Facts) {
	f.Owner.Claims = []owner.Claim{{Template: "data"}}
	f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{ID: 4, Name: "main-3"})
}

// TestDiagnosis: the action of the first scenario, and its command.
func TestDiagnosis(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name string
		size int
		with []func(*Facts)
		do   recovery.Do
		want string
	}{
		{"frozen", 3, []func(*Facts){frozen}, recovery.RestartPod, "kubectl etcd restart statefulset/main --member main-2 -n team"},
		{"the leader receives its messages", 3, []func(*Facts){frozen, func(f *Facts) {
			f.Silences[3] = membership.Silence{Pod: "main-2", Contact: membership.ContactActive}
		}}, recovery.Nothing, ""},
		{"the leader's contact is unknown", 3, []func(*Facts){frozen, func(f *Facts) { f.Silences = nil }}, recovery.InspectPod, "kubectl describe pod main-2 -n team"},
		{"a preStop hook removes it", 3, []func(*Facts){frozen, func(f *Facts) {
			f.Owner.MemberChanges = []etcdconf.MemberChange{{Verb: "remove", Hook: etcdconf.PreStop}}
		}}, recovery.InspectPod, "kubectl describe pod main-2 -n team"},
		{"a static pod", 3, []func(*Facts){frozen, func(f *Facts) {
			f.Pods.Value[2].Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
		}}, recovery.InspectPod, ""},
		{"bare pods", 3, []func(*Facts){frozen, func(f *Facts) { f.Owner.WorkloadKind = owner.Pods }}, recovery.InspectPod, ""},
		{"its data is in an emptyDir", 3, []func(*Facts){frozen, func(f *Facts) {
			f.Pods.Value[2].Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}}, recovery.InspectPod, "kubectl describe pod main-2 -n team"},
		{"its claim is being deleted", 3, []func(*Facts){frozen, func(f *Facts) {
			f.Claims.Value[2].DeletionTimestamp = &metav1.Time{Time: noon}
		}}, recovery.InspectPod, "kubectl describe pod main-2 -n team"},
		{"scaled in", 1, []func(*Facts){scaledIn, func(f *Facts) {
			f.Away.Value = []corev1.PersistentVolumeClaim{boundClaim("data-main-1"), boundClaim("data-main-2")}
		}}, recovery.ScaleBack, "kubectl scale statefulset/main --replicas 3 -n team"},
		{"scaled in, and the claims are gone", 1, []func(*Facts){scaledIn}, recovery.Recover, "kubectl etcd recover statefulset/main -n team"},
		{"two clusters with one cluster ID", 3, []func(*Facts){apart}, recovery.CompareClusters, "kubectl etcd check statefulset/main --only Q005 -n team"},
		{"a pod that is no member, and answers", 3, []func(*Facts){unlisted(40)}, recovery.Replace, ""},
		{"a pod that is no member, and is ahead of the leader", 3, []func(*Facts){unlisted(60)}, recovery.InspectPod, "kubectl describe pod main-2 -n team"},
		{"two claims are lost", 3, []func(*Facts){claimsLost}, recovery.Recover, "kubectl etcd recover statefulset/main --lost main-1,main-2 -n team"},
		{"two claims are lost, and no command restores a member, without a store", 3, []func(*Facts){druidSized, claimsLost, func(f *Facts) {
			f.Etcd.Value.Spec.Backup.Store = nil
		}}, recovery.SaveSnapshot, "kubectl etcd snapshot save etcd/main main.db -n team"},
		{"two claims are lost, with a store", 3, []func(*Facts){druidSized, claimsLost}, recovery.Recover, "kubectl etcd recover etcd/main --lost main-1,main-2 -n team"},
		{"two claims are lost, and a member is in a pod beside the StatefulSet", 3, []func(*Facts){claimsLost, func(f *Facts) { f.Owner.PodsBeside = []string{"main-0"} }}, recovery.SaveSnapshot, "kubectl etcd snapshot save statefulset/main main.db -n team"},
		{"two claims are lost, and the third is being deleted", 3, []func(*Facts){claimsLost, func(f *Facts) {
			f.Claims.Value[0].DeletionTimestamp = &metav1.Time{Time: noon}
		}}, recovery.SaveSnapshot, "kubectl etcd snapshot save statefulset/main main.db -n team"},
		{"two claims are lost, and the third member crashes", 3, []func(*Facts){claimsLost, silent(0)}, recovery.InspectPod, "kubectl describe pod main-0 -n team"},
		{"one claim is lost, and a log shows lost data", 3, []func(*Facts){claimsLost, func(f *Facts) {
			f.Claims.Value[2].Status.Phase, f.FatalLogs = corev1.ClaimBound, map[string]string{"main-2": "wal: crc mismatch"}
		}}, recovery.Recover, "kubectl etcd recover statefulset/main --lost main-1,POD -n team"},
		{"scaled in, and the claims are unread", 1, []func(*Facts){scaledIn, func(f *Facts) { f.Away.Err = errRefused }}, recovery.InspectPod, ""},
		{"left over with its claim", 3, []func(*Facts){leftOver, func(f *Facts) {
			f.Away.Value = []corev1.PersistentVolumeClaim{boundClaim("data-main-3")}
		}}, recovery.ScaleBack, "kubectl scale statefulset/main --replicas 4 -n team"},
		{"left over, and its claim is gone", 3, []func(*Facts){leftOver}, recovery.ListMembers, "kubectl etcd member list statefulset/main -n team"},
		{"left over, and its claim is being deleted", 3, []func(*Facts){leftOver, func(f *Facts) {
			c := boundClaim("data-main-3")
			c.DeletionTimestamp = &metav1.Time{Time: noon}
			f.Away.Value = []corev1.PersistentVolumeClaim{c}
		}}, recovery.ListMembers, "kubectl etcd member list statefulset/main -n team"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			f := healthy(r.size)
			for _, with := range r.with {
				with(f)
			}
			a := recovery.Diagnose(f.Recovery()).Scenarios[0].Action
			if got := f.Order(a); a.Do != r.do || r.want != "" && got != r.want {
				t.Errorf("%s %q (%s), want %s %q", a.Do, got, a.Why, r.do, r.want)
			}
			if why := f.Why(a); strings.Contains(why, "NAME") {
				t.Errorf("its reason has no command for this cluster: %s", why)
			}
		})
	}
}

// TestSinceOfStoppingPod: a pod that was Ready until it was deleted has not been unready since it became Ready.
func TestSinceOfStoppingPod(t *testing.T) {
	t.Parallel()
	f := healthy(3)
	pod := f.Pods.Value[2]
	podstate.Condition(pod, corev1.PodReady).LastTransitionTime = metav1.NewTime(f.At.Add(-time.Hour))
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: f.At.Add(28 * time.Second)}, new(int64(30))
	m := f.recoveryMember(pod.Name, true)
	if m.Pod != recovery.PodStopping || !m.Since.Equal(f.At.Add(-2*time.Second)) {
		t.Errorf("%s since %s, want since 2 s ago", m.Pod, m.Since)
	}
	pod.DeletionTimestamp = &metav1.Time{Time: f.At.Add(-5 * time.Minute)}
	f.Cluster.Value.Cluster.Members = []policy.Member{{Pod: pod.Name, NodeLost: "node node-2 does not exist"}}
	if m = f.recoveryMember("main-2", true); !strings.Contains(m.Detail, "kubectl taint nodes "+pod.Spec.NodeName+" node.kubernetes.io/out-of-service=nodeshutdown:NoExecute") {
		t.Errorf("no way to end the pod of a lost node: %s", m.Detail)
	}
}

// TestPodWaits: a pod waits if its member's container doesn't run, whatever its other containers do.
func TestPodWaits(t *testing.T) {
	t.Parallel()
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waits := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	}
	status := func(name string, s corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: s}
	}
	for _, r := range []struct {
		name          string
		initial, rest []corev1.ContainerStatus
		want          recovery.Pod
		beside        bool
	}{
		{"all run", nil, []corev1.ContainerStatus{status("etcd", running), status("backup", running)}, recovery.PodUnready, false},
		{"a sidecar ends again and again", nil, []corev1.ContainerStatus{status("backup", waits("CrashLoopBackOff")), status("etcd", running)}, recovery.PodUnready, true},
		{"a native sidecar ends again and again", []corev1.ContainerStatus{status("first", waits("CrashLoopBackOff"))}, []corev1.ContainerStatus{status("etcd", running)}, recovery.PodUnready, true},
		{"an init container ends again and again", []corev1.ContainerStatus{status("first", waits("CrashLoopBackOff"))}, []corev1.ContainerStatus{status("etcd", waits("PodInitializing"))}, recovery.PodWaiting, false},
		{"etcd ends again and again", nil, []corev1.ContainerStatus{status("backup", running), status("etcd", waits("CrashLoopBackOff"))}, recovery.PodWaiting, false},
		{"both do", nil, []corev1.ContainerStatus{status("backup", waits("CrashLoopBackOff")), status("etcd", waits("CrashLoopBackOff"))}, recovery.PodWaiting, false},
		{"etcd has ended, and a sidecar waits", nil, []corev1.ContainerStatus{status("backup", waits("CrashLoopBackOff")), status("etcd", corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})}, recovery.PodWaiting, false},
		{"no state of etcd", nil, []corev1.ContainerStatus{status("backup", waits("CrashLoopBackOff"))}, recovery.PodWaiting, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			f := healthy(3)
			pod := f.Pods.Value[2]
			pod.Spec.NodeName = "node"
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "backup"})
			podstate.Condition(pod, corev1.PodReady).Status = corev1.ConditionFalse
			pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = r.initial, r.rest
			m := f.recoveryMember(pod.Name, true)
			if m.Pod != r.want || m.SidecarWaits != r.beside {
				t.Errorf("%s, a container beside waits: %t (%s)", m.Pod, m.SidecarWaits, m.Detail)
			}
			if r.beside && !strings.Contains(m.Detail, "CrashLoopBackOff") {
				t.Errorf("the detail lacks the container: %s", m.Detail)
			}
		})
	}
}

// TestNoneAnswers: if no member answers, for whatever reason, Ready pods don't show that the members are healthy, and
// they don't show that the quorum is lost.
func TestNoneAnswers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Facts){
		"refused": func(*Facts) {},
		"barred": func(f *Facts) {
			f.Barred = map[string]bool{"main-0": true, "main-1": true, "main-2": true, "main-3": true, "main-4": true}
		},
		"one of them is barred": func(f *Facts) { f.Barred = map[string]bool{"main-0": true} },
		"no survey":             func(f *Facts) { f.Survey = Got[etcd.Survey]{Err: errRefused} },
		"one pod is not Ready": func(f *Facts) {
			if last := len(f.Pods.Value) - 1; last > 0 {
				f.Pods.Value[last].Status.Conditions = nil
				f.Cluster.Value.Cluster.Members[last].Ready, f.Cluster.Value.Cluster.Members[last].PodReady = false, false
			}
		},
	} {
		for _, size := range []int{1, 3, 5} {
			f := healthy(size)
			f.Survey.Value.List, f.Survey.Value.ListErr = nil, errRefused
			for i := range f.Survey.Value.Members {
				m := &f.Survey.Value.Members[i]
				*m = etcd.Member{Pod: m.Pod, Err: errRefused}
			}
			readyInKubernetes(f)
			for _, pod := range f.Pods.Value {
				pod.Spec.NodeName = "node"
			}
			change(f)
			d := recovery.Diagnose(f.Recovery())
			if got := d.Scenarios[0]; got.ID != "X-4" || got.Action.Do != recovery.Check || d.Healthy() {
				t.Errorf("%s, %d members: %s, %s", name, size, got.ID, got.Action.Do)
			}
		}
	}
}
