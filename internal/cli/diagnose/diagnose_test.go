// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// cases are clusters with the rows that hold.
var cases = map[string]struct {
	ids    string
	change func(*health.Facts)
}{
	"healthy":  {"S-1", func(*health.Facts) {}},
	"grace":    {"X-7", func(f *health.Facts) { down(f, 2, 2*time.Minute) }},
	"minority": {"S-9", func(f *health.Facts) { down(f, 2, time.Hour) }},
	"quorum-lost": {"S-10 S-6", func(f *health.Facts) {
		down(f, 1, time.Hour)
		down(f, 2, time.Hour)
		f.Survey.Value.Members[0].Leader, f.Survey.Value.Members[0].LeaderID = false, 0
		f.Survey.Value.List, f.Survey.Value.ListErr = nil, errors.New("no quorum")
	}},
	"claims-lost": {"S-10", claimsLost},
	"claims-lost-none-answers": {"S-10", func(f *health.Facts) {
		claimsLost(f)
		down(f, 0, time.Hour)
	}},
	"plain-damaged": {"S-9", func(f *health.Facts) {
		plain(f)
		down(f, 2, time.Hour)
		f.FatalLogs = map[string]string{"etcd-main-2": "tocommit(12) is out of range [lastIndex(3)]"}
	}},
	"unread": {"X-4", func(f *health.Facts) {
		plain(f)
		f.Pods.Err, f.Pods.Value = errors.New("pods is forbidden"), nil
		f.Survey.Err, f.Survey.Value = errors.New("pods is forbidden"), etcd.Survey{}
	}},
	"alarm": {"X-19", func(f *health.Facts) { f.Survey.Value.Members[1].Alarms = []string{"NOSPACE"} }},
	"peer-url": {"X-20", func(f *health.Facts) {
		f.PeerURLs = map[uint64]health.Got[peers.Lead]{2: {Value: peers.Lead{Wrong: []string{"there is no Service team-a/wrong"}, Advertised: []string{"https://etcd-main-1.etcd-main-peer.team-a.svc:2380"}}}}
	}},
	"scaled-to-zero": {"X-1", scaleToZero},
	"restore-interrupted": {"X-6", func(f *health.Facts) {
		scaleToZero(f)
		restore := "kubectl etcd snapshot restore "
		f.KeepsClientsAway = true
		f.UnderWay.Value = &output.UnderWay{Operation: "restore", Interrupted: true, Snapshot: "FILE is the snapshot with SHA-256 5891b5b522d5", Commands: []string{restore + "FILE etcd/etcd-main -n team-a", restore + "etcd/etcd-main --abort -n team-a"}}
	}},
	"restore-unstopped": {"X-6 X-14", func(f *health.Facts) {
		restore := "kubectl etcd snapshot restore "
		f.KeepsClientsAway, f.Unstopped, f.Cluster.Value.Cluster.TrafficCut = true, true, true
		f.UnderWay.Value = &output.UnderWay{Operation: "snapshot restore", Interrupted: true, Commands: []string{restore + "main.db etcd/etcd-main -n team-a", restore + "etcd/etcd-main --abort -n team-a"}}
	}},
}

// TestDiagnose writes diagnoses on a narrow terminal and on a wide one.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := threeMembers()
			c.change(f)
			facts := f.Recovery()
			if got := strings.Join(recovery.IDs(facts), " "); got != c.ids {
				t.Errorf("the scenarios are %s, want %s\n%+v", got, c.ids, facts)
			}
			d := view.Diagnosis(f, recovery.Diagnose(facts), facts.Unread)
			for _, columns := range []int{80, 200} {
				screen := &ui.Screen{Columns: columns}
				if err := render.Diagnosis(app.New(genericiooptions.IOStreams{}).Console, d)(screen, columns > 80); err != nil {
					t.Fatal(err)
				}
				scripttest.CompareGolden(t, filepath.Join("testdata", "diagnose", fmt.Sprintf("%s.%d.txt", name, columns)), screen.String())
				for line := range strings.Lines(screen.String()) {
					if n := len([]rune(strings.TrimRight(line, "\n"))); n > columns && !strings.Contains(line, "kubectl ") {
						t.Errorf("the line has %d columns on a terminal of %d: %q", n, columns, line)
					}
				}
			}
		})
	}
}

// threeMembers returns a healthy cluster of etcd-druid.
func threeMembers() *health.Facts {
	f := &health.Facts{At: noon, MayRemove: map[uint64]policy.Verdict{}, Serving: map[string]health.Got[etcdconf.Config]{}}
	f.Owner = owner.Owner{
		WorkloadKind: owner.DruidStatefulSet, Distribution: flavour.Druid, Kind: "Etcd", Namespace: "team-a", Name: "etcd-main", StatefulSet: "etcd-main", Replicas: 3,
	}
	e := &druidv1alpha1.Etcd{Spec: druidv1alpha1.EtcdSpec{Replicas: 3}}
	generation := int64(0)
	e.Status.ObservedGeneration = &generation
	e.Spec.Backup.Store = &druidv1alpha1.StoreSpec{}
	e.Status.Conditions = []druidv1alpha1.Condition{{Type: druidv1alpha1.ConditionTypeReady, Status: druidv1alpha1.ConditionTrue, LastUpdateTime: metav1.NewTime(noon.Add(-10 * time.Second))}}
	f.Etcd.Value = e
	f.Cluster.Value = observe.Facts{At: noon, Running: true, Replicas: 3, Cluster: policy.Cluster{
		Namespace: "team-a", Name: "etcd-main", Size: 3,
		AllMembersReady: policy.Condition{Status: policy.True}, BackupReady: policy.Condition{Status: policy.True},
	}}
	for i := range 3 {
		addMember(f, i)
	}
	return f
}

func addMember(f *health.Facts, i int) {
	name, id, renewed := f.Owner.PodName(i), uint64(i+1), metav1.NewMicroTime(noon.Add(-5*time.Second))
	f.Pods.Value = append(f.Pods.Value, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: []string{"/usr/local/bin/etcd"}, LivenessProbe: &corev1.Probe{}}}, NodeName: fmt.Sprintf("node-%d", i)},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", Ready: true}},
		},
	})
	f.Serving[name] = health.Got[etcdconf.Config]{Value: etcdconf.Config{Container: "etcd", DataDir: "/var/etcd/data"}}
	f.Survey.Value.Members = append(f.Survey.Value.Members, etcd.Member{Pod: name, Name: name, ID: id, ClusterID: 0xc1, LeaderID: 1, Leader: i == 0, RaftTerm: 14, RaftIndex: 5000, RaftApplied: 5000})
	f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{ID: id, Name: name, Pod: name})
	f.MayRemove[id] = policy.Allow(policy.QuorumKept, "")
	f.Leases.Value = append(f.Leases.Value, coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}})
	f.Etcd.Value.Status.Members = append(f.Etcd.Value.Status.Members, druidv1alpha1.EtcdMemberStatus{
		Name: name, Status: druidv1alpha1.EtcdMemberStatusReady, LastTransitionTime: metav1.NewTime(noon.Add(-24 * time.Hour)),
	})
}

// down has a member that crashes, for as long as given.
func down(f *health.Facts, i int, since time.Duration) {
	begin := noon.Add(-since)
	f.Pods.Value[i].Status.Conditions[0] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(begin)}
	f.Pods.Value[i].Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "etcd", RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(noon.Add(-time.Minute))}},
	}}
	f.Survey.Value.Members[i] = etcd.Member{Pod: f.Owner.PodName(i), Err: errors.New("connection refused")}
	if f.Etcd.Value == nil {
		return
	}
	f.Cluster.Value.Cluster.AllMembersReady.Status = policy.False
	renewed := metav1.NewMicroTime(begin)
	f.Leases.Value[i].Spec.RenewTime = &renewed
	m := &f.Etcd.Value.Status.Members[i]
	m.Status, m.LastTransitionTime = druidv1alpha1.EtcdMemberStatusNotReady, metav1.NewTime(begin)
}

// claimsLost has two members down whose claims are Lost. The third one answers without a leader.
func claimsLost(f *health.Facts) {
	plain(f)
	f.Owner.Claims, f.Serving = []owner.Claim{{Template: "data"}}, nil
	for i, phase := range []corev1.PersistentVolumeClaimPhase{corev1.ClaimBound, corev1.ClaimLost, corev1.ClaimLost} {
		f.Claims.Value = append(f.Claims.Value, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "data-" + f.Owner.PodName(i)}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase},
		})
	}
	down(f, 1, time.Hour)
	down(f, 2, time.Hour)
	f.Survey.Value.Members[0].Leader, f.Survey.Value.Members[0].LeaderID = false, 0
	f.Survey.Value.List, f.Survey.Value.ListErr = nil, errors.New("no quorum")
}

// plain makes the cluster one of a StatefulSet without an operator.
func plain(f *health.Facts) {
	f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.Kind = owner.StatefulSet, flavour.Plain, "StatefulSet"
	f.Etcd.Value, f.Leases.Value = nil, nil
	f.Cluster.Value.Cluster.AllMembersReady, f.Cluster.Value.Cluster.BackupReady = policy.Condition{}, policy.Condition{}
}

func scaleToZero(f *health.Facts) {
	f.Owner.Replicas, f.Etcd.Value.Spec.Replicas, f.Etcd.Value.Status.Members = 0, 0, nil
	f.Pods.Value, f.Survey.Value, f.Leases.Value = nil, etcd.Survey{}, nil
}
