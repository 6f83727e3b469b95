// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

var errRefused = errors.New("connection refused")

func silent(pods ...int) func(*Facts) {
	return func(f *Facts) {
		for _, i := range pods {
			f.Survey.Value.Members[i] = etcd.Member{Pod: podName(i), Err: errRefused}
		}
	}
}

// apart has main-2 lead a cluster of its own that has the cluster ID of the others.
func apart(f *Facts) {
	s := &f.Survey.Value
	s.Members[2].LeaderID, s.Members[2].Leader = s.Members[2].ID, true
	s.Apart = map[uint64][]string{s.Members[0].LeaderID: {podName(0), podName(1)}, s.Members[2].ID: {podName(2)}}
	s.List, s.ListErr = nil, &etcd.SplitBrainError{Pods: s.Apart, SameID: true}
}

// readyInKubernetes has Kubernetes show every member as ready.
func readyInKubernetes(f *Facts) {
	for i := range f.Pods.Value {
		f.Cluster.Value.Cluster.Members = append(f.Cluster.Value.Cluster.Members, policy.Member{Pod: podName(i), Ready: true, PodReady: true})
	}
}

func member(i int, change func(*etcd.Member)) func(*Facts) {
	return func(f *Facts) { change(&f.Survey.Value.Members[i]) }
}

// removed takes main-1 out of etcd, whose process then ends.
func removed(f *Facts) {
	silent(1)(f)
	f.Survey.Value.List = slices.Delete(f.Survey.Value.List, 1, 2)
	f.FatalLogs = map[string]string{"main-1": "permanently removed from the cluster"}
}

func scaling(f *Facts) { f.Cluster.Value.Cluster.Operation = "scale from 3 to 5 members" }

func TestQuorum(t *testing.T) {
	t.Parallel()
	judge(t, []row{
		{name: "all", id: "Q001", want: OK, message: "3 of 3 voters answer and follow one leader, quorum is 2", fix: "-"},
		{name: "one silent", id: "Q001", with: silent(2), want: Failure, message: "main-2: connection refused", fix: "kubectl describe pod main-2 -n team"},
		{name: "one has lost its data", id: "Q001", with: func(f *Facts) {
			silent(2)(f)
			f.FatalLogs = map[string]string{"main-2": "has already been bootstrapped"}
		}, want: Failure, message: "main-2: connection refused; its log ends with: has already been bootstrapped", fix: "kubectl etcd member replace statefulset/main main-2 -n team"},
		{name: "the same, in the middle of a rollout", id: "Q001", with: func(f *Facts) {
			silent(2)(f)
			f.FatalLogs = map[string]string{"main-2": "has already been bootstrapped"}
			f.StatefulSet.Value.Status.UpdateRevision = "b"
			for i, revision := range []string{"a", "a", "b"} {
				f.Pods.Value[i].Labels = map[string]string{appsv1.StatefulSetRevisionLabel: revision}
			}
		}, want: Failure, fix: "once the rollout is complete, kubectl etcd member replace statefulset/main main-2 -n team"},
		{name: "the same, and the revision of the others is known", id: "Q001", with: func(f *Facts) {
			silent(2)(f)
			f.FatalLogs = map[string]string{"main-2": "has already been bootstrapped"}
			f.StatefulSet.Value.Status.UpdateRevision = "b"
			f.UndoRollout = "kubectl rollout undo statefulset/main --to-revision=4 -n team"
			for i, revision := range []string{"a", "a", "b"} {
				f.Pods.Value[i].Labels = map[string]string{appsv1.StatefulSetRevisionLabel: revision}
			}
		}, want: Failure, fix: "once the rollout is complete or undone (kubectl rollout undo statefulset/main --to-revision=4 -n team), kubectl etcd member replace statefulset/main main-2 -n team"},
		{name: "the same, and the others have the latest template", id: "Q001", with: func(f *Facts) {
			silent(2)(f)
			f.FatalLogs = map[string]string{"main-2": "has already been bootstrapped"}
			f.StatefulSet.Value.Status.UpdateRevision = "b"
			for i, revision := range []string{"b", "b", "a"} {
				f.Pods.Value[i].Labels = map[string]string{appsv1.StatefulSetRevisionLabel: revision}
			}
		}, want: Failure, fix: "kubectl etcd member replace statefulset/main main-2 -n team"},
		{name: "one whose log shows no lost data", id: "Q001", with: func(f *Facts) {
			silent(2)(f)
			f.LastLines = map[string]string{"main-2": "warn: failed: cluster ID mismatch"}
		}, want: Failure, message: `main-2: connection refused; the last line of its log: "warn: failed: cluster ID mismatch"`, fix: "kubectl describe pod main-2 -n team"},
		{name: "lost by a scale-in", id: "Q001", size: 1, with: func(f *Facts) {
			scaledIn(f)
			f.Away.Value = []corev1.PersistentVolumeClaim{boundClaim("data-main-1"), boundClaim("data-main-2")}
		}, want: Failure, message: "0 of 3 voters answer and follow one leader, quorum is 2, and the StatefulSet has 1 replica", fix: "kubectl scale statefulset/main --replicas 3 -n team"},
		{name: "lost by a scale-in that deleted a claim", id: "Q001", size: 1, with: func(f *Facts) {
			scaledIn(f)
			f.Away.Value = []corev1.PersistentVolumeClaim{boundClaim("data-main-1")}
		}, want: Failure, message: "0 of 3 voters", fix: "kubectl etcd status statefulset/main -n team"},
		{name: "lost", id: "Q001", with: silent(1, 2), want: Failure, message: "1 of 3 voters", fix: "kubectl describe pod main-1 main-2 -n team"},
		{name: "barred", id: "Q001", with: func(f *Facts) { silent(1, 2)(f); f.Barred["main-1"], f.Barred["main-2"] = true, true }, want: Unknown, message: "main-1 and main-2 could not be asked"},
		{name: "no pod at all", id: "Q001", with: func(f *Facts) { f.Survey.Value = etcd.Survey{} }, want: Failure, message: "0 of 3"},
		{name: "no answer, but all are ready", id: "Q001", with: func(f *Facts) { silent(0, 1, 2)(f); readyInKubernetes(f) }, want: Unknown, message: "although Kubernetes shows all of them as ready"},
		{name: "no answer, and not all are ready", id: "Q001", with: func(f *Facts) {
			silent(0, 1, 2)(f)
			readyInKubernetes(f)
			f.Cluster.Value.Cluster.Members[2].Ready = false
		}, want: Failure, message: "no member answers, although Kubernetes shows all of them but main-2 as ready"},
		{name: "no answer, and most are not ready", id: "Q001", with: func(f *Facts) {
			silent(0, 1, 2)(f)
			readyInKubernetes(f)
			f.Cluster.Value.Cluster.Members[1].Ready, f.Cluster.Value.Cluster.Members[2].Ready = false, false
		}, want: Failure, message: "nothing can be written: 0 of 3 voters"},
		{name: "one is reached, and follows a leader", id: "Q001", with: silent(0, 2), want: Failure, message: "the others can't be reached from here, but the leader 0000000000000001 is one of them"},
		{name: "not asked, and a lease is old", id: "Q001", with: func(f *Facts) {
			f.Survey.Err, f.Owner.Distribution = errRefused, flavour.Druid
			readyInKubernetes(f)
			f.Cluster.Value.Cluster.Members[1].Ready = false
		}, want: Failure, message: "main-1: its pod is Ready and its lease is not renewed"},
		{name: "not asked, and a node is lost", id: "Q001", with: func(f *Facts) {
			f.Survey.Err = errRefused
			readyInKubernetes(f)
			f.Cluster.Value.Cluster.Members[1] = f.Cluster.Value.Cluster.Members[1].LoseNode("node a is not Ready")
		}, want: Failure, message: "main-1: node a is not Ready"},
		{name: "not asked, a lease is renewed, and its node is lost", id: "Q001", with: func(f *Facts) {
			f.Survey.Err, f.Owner.Distribution = errRefused, flavour.Druid
			readyInKubernetes(f)
			f.Cluster.Value.Cluster.Members[1] = f.Cluster.Value.Cluster.Members[1].LoseNode("node a is not Ready")
		}, want: Failure, message: "main-1: node a is not Ready"},
		{name: "scaled to 0", id: "Q001", with: func(f *Facts) { f.Owner.Replicas = 0; f.Survey.Value = etcd.Survey{} }, want: NotApplicable},
		{name: "a voter without a pod counts", id: "Q001", with: func(f *Facts) {
			f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{ID: 9, Name: "main-3"}, etcd.Listed{ID: 10, Name: "main-4"})
		}, want: OK, message: "3 of 5 voters answer and follow one leader, quorum is 3"},

		{name: "one", id: "Q002", want: OK, message: "1 voter may fail"},
		{name: "two of five", id: "Q002", size: 5, want: OK, message: "2 voters may fail"},
		{name: "none left", id: "Q002", with: silent(0), want: Failure, message: "2 of 3 voters are healthy and quorum is 2", fix: "kubectl describe pod main-0"},
		{name: "one down of five", id: "Q002", size: 5, with: silent(4), want: OK, message: "1 voter may fail"},
		{name: "single", id: "Q002", size: 1, want: Info, fix: "kubectl etcd scale statefulset/main --replicas 3 -n team"},
		{name: "single, kubeadm's", id: "Q002", size: 1, with: kubeadm, want: Info, fix: "to scale: kubeadm join --control-plane on a new node"},
		{name: "single, a chart's", id: "Q002", size: 1, with: owners["helm"], want: Info, fix: "to scale: helm upgrade chart CHART -n team --reuse-values --set replicaCount=3"},
		{name: "single, with a start script", id: "Q002", size: 1, with: changesMembers(etcdconf.MemberChange{Container: "etcd", Verb: "add"}), want: Info,
			wholeFix: "by one member at a time, once kubectl etcd status main -n team shows that all members are healthy: kubectl scale statefulset main --replicas 3 -n team"},
		{name: "single, with a script that can't be read", id: "Q002", size: 1, with: changesMembers(etcdconf.MemberChange{Container: "etcd", Unread: "no ConfigMap"}), want: Info, fix: "make the script readable"},
		{name: "two", id: "Q002", size: 2, want: Warning, fix: "--replicas 3"},
		{name: "barred", id: "Q002", with: func(f *Facts) { silent(2)(f); f.Barred["main-2"] = true }, want: Unknown},

		{name: "barred, of two", id: "Q002", size: 2, with: func(f *Facts) { silent(1)(f); f.Barred["main-1"] = true }, want: Unknown, message: "at best, no voter may fail; main-1 could not be asked"},
		{name: "barred, and one silent", id: "Q002", with: func(f *Facts) { silent(1, 2)(f); f.Barred["main-2"] = true }, want: Unknown, message: "at best, no voter may fail"},
		{name: "barred, and lost all the same", id: "Q002", size: 5, with: func(f *Facts) { silent(1, 2, 3, 4)(f); f.Barred["main-4"] = true }, want: Failure, message: "lost already"},

		{name: "odd", id: "Q003", want: OK, fix: "-"},
		{name: "even", id: "Q003", size: 4, want: Warning, message: "4 voters tolerate no more failures than 3", fix: "kubectl etcd scale statefulset/main --replicas 5 -n team"},
		{name: "even while it scales", id: "Q003", size: 4, with: scaling, want: Info, fix: "-"},
		{name: "even and too many", id: "Q003", size: 8, want: Warning, fix: "--replicas 7"},
		{name: "four of cozystack", id: "Q003", size: 4, with: func(f *Facts) {
			f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.StatefulSet = owner.Pods, flavour.Cozystack, ""
		}, want: Warning, fix: "kubectl scale etcdclusters.etcd-operator.cozystack.io main --replicas 5 -n team"},
		{name: "four, and one is down", id: "Q003", size: 4, with: silent(2), want: Warning, fix: "once all members are voters and healthy, kubectl etcd scale statefulset/main --replicas 5 -n team"},
		{name: "four, and backups fail", id: "Q003", size: 4, with: func(f *Facts) {
			f.Cluster.Value.Cluster.BackupReady = policy.Condition{Status: policy.False}
		}, want: Warning, fix: "once backups succeed, kubectl etcd scale statefulset/main --replicas 5 -n team"},
		{name: "a dead voter makes it even", id: "Q003", with: func(f *Facts) {
			f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{ID: 9, Name: "main-3"})
		}, want: Warning, message: "4 voters", fix: "kubectl etcd check statefulset/main --only members -n team"},
		{name: "one of three never joined", id: "Q003", with: func(f *Facts) { f.Survey.Value.List = f.Survey.Value.List[:2] }, want: Warning, fix: "--only members"},
		{name: "too many", id: "Q003", size: 9, want: Warning, fix: "--replicas 7"},

		{name: "agreed", id: "Q004", want: OK, message: "main-0 leads"},
		{name: "none", id: "Q004", with: func(f *Facts) {
			for i := range 3 {
				f.Survey.Value.Members[i].LeaderID, f.Survey.Value.Members[i].Leader = 0, false
			}
		}, want: Failure, message: "no member knows a leader"},
		{name: "one has no leader", id: "Q004", with: member(2, func(m *etcd.Member) { m.LeaderID = 0 }), want: Failure, message: "main-2: follows no leader"},
		{name: "one follows another", id: "Q004", with: member(2, func(m *etcd.Member) { m.LeaderID = 3 }), want: Warning, message: "main-2: follows 0000000000000003, most follow 0000000000000001"},

		{name: "one cluster", id: "Q005", want: OK, message: "c1"},
		{name: "split brain with one cluster ID", id: "Q005", with: apart, want: Failure, message: "split brain, 2 clusters: main-0 and main-1 led by 0000000000000001; main-2 led by 0000000000000003", fix: "kubectl etcd member list statefulset/main -n team"},
		{name: "split brain", id: "Q005", with: member(2, func(m *etcd.Member) { m.ClusterID = 0xc2 }), want: Failure, message: "split brain, 2 clusters: main-0 and main-1 in 00000000000000c1; main-2 in 00000000000000c2", fix: "kubectl etcd member list statefulset/main -n team"},

		{name: "etcds of their own", id: "Q005", with: singles(nil), want: Warning, message: "each pod is an etcd of its own, not a member of one cluster: main-0, main-1 and main-2 each list", fix: "if that is intended, declare it: kubectl annotate statefulset main kubectl-etcd.dev/etcd=false -n team"},
		{name: "etcds of their own by etcd's default", id: "Q005", with: func(f *Facts) { singles(nil)(f); sameID(f) }, want: Warning, message: "each pod is an etcd of its own"},
		{name: "etcds that fell apart", id: "Q005", with: singles(func(c *etcdconf.Config) { c.Where["initial-cluster"] = "flag" }), want: Failure, message: "split brain, 3 clusters"},
		{name: "etcds whose list is not known", id: "Q005", with: singles(func(c *etcdconf.Config) { c.Unknown = map[string]string{"initial-cluster": "only in the pod"} }), want: Failure, message: "split brain, 3 clusters"},

		{name: "level", id: "Q006", want: OK},
		{name: "busy", id: "Q006", with: member(2, func(m *etcd.Member) { m.RaftApplied = 8001 }), want: OK, message: "999 entries"},
		{name: "behind", id: "Q006", with: member(2, func(m *etcd.Member) { m.RaftApplied = 7999 }), want: Warning, message: "main-2: has applied 7999 of 9000"},
		{name: "far behind", id: "Q006", with: member(2, func(m *etcd.Member) { m.RaftApplied = 4000 }), want: Failure, message: "5000 behind main-0"},

		{name: "steady", id: "Q007", with: changes(3, 30*time.Minute), want: OK},
		{name: "unsteady", id: "Q007", with: changes(40, 10*time.Hour), want: Warning, message: "40 times in 10h00m"},
		{name: "old and steady", id: "Q007", with: changes(40, 100*time.Hour), want: OK},
	})
}

// changes gives every member's metrics so many changes of the leader since its start.
func changes(n float64, up time.Duration) func(*Facts) {
	return func(f *Facts) {
		start := float64(noon.Add(-up).Unix())
		for i := range f.Pods.Value {
			f.Metrics[podName(i)] = Got[Metrics]{Value: Metrics{
				"etcd_server_leader_changes_seen_total": {Metric: []*dto.Metric{{Counter: &dto.Counter{Value: &n}}}},
				"process_start_time_seconds":            {Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &start}}}},
			}}
		}
	}
}

func listed(i int, change func(*etcd.Listed)) func(*Facts) {
	return func(f *Facts) { change(&f.Survey.Value.List[i]) }
}

// atIP has the first member listed with the IP of its pod.
func atIP(changes ...func(*corev1.Pod)) func(*Facts) {
	return func(f *Facts) {
		f.Survey.Value.List[0].PeerURLs = []string{"http://10.0.0.7:2380"}
		f.Pods.Value[0].Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.7"}}
		for _, change := range changes {
			change(f.Pods.Value[0])
		}
	}
}

func onHost(p *corev1.Pod) { p.Spec.HostNetwork = true }

func TestMembers(t *testing.T) {
	t.Parallel()
	away := func(l *etcd.Listed) { l.Pod = "" }
	stray := func(l *etcd.Listed) { l.Pod, l.Name, l.PeerURLs = "", "main-3", []string{"http://main-3.main:2380"} }
	alone := listed(2, stray)
	withSilence := func(s membership.Silence) func(*Facts) {
		return func(f *Facts) { alone(f); f.Silences = map[uint64]membership.Silence{3: s} }
	}
	dead := withSilence(membership.Silence{Contact: membership.ContactNone})
	judge(t, []row{
		{name: "all", id: "M001", want: OK, fix: "-"},
		{name: "dead voter", id: "M001", with: dead, want: Failure, message: "voter main-3 (0000000000000003) is in the member list and no pod runs it", fix: "kubectl etcd member remove statefulset/main 0000000000000003 -n team"},
		{name: "dead voter whose pod is due", id: "M001", with: listed(2, away), want: Failure, message: "voter main-2 (0000000000000003) is in the member list and no pod runs it", fix: "kubectl describe statefulset main -n team"},
		{name: "voter in contact with the leader", id: "M001", with: withSilence(membership.Silence{Contact: membership.ContactActive}), want: Warning, message: "no pod of this cluster runs it (http://main-3.main:2380); it is alive", fix: "kubectl etcd member list statefulset/main -n team"},
		{name: "voter of another pod", id: "M001", with: withSilence(membership.Silence{Contact: membership.ContactNone, Elsewhere: []string{"etcd3-0"}}), want: Failure, message: "of pod etcd3-0", fix: "kubectl etcd status pod/etcd3-0 -n team"},
		{name: "voter of another pod, with a login", id: "M001", with: func(f *Facts) {
			withSilence(membership.Silence{Contact: membership.ContactNone, Elsewhere: []string{"etcd3-0"}})(f)
			f.Flags, f.Login = " --context desk", " --cert a.crt"
		}, want: Failure, message: "of pod etcd3-0", fix: "kubectl etcd status pod/etcd3-0 -n team --context desk --cert a.crt"},
		{name: "voter of which nothing is known", id: "M001", with: withSilence(membership.Silence{Unknown: "403"}), want: Failure, message: "it is not known whether it is dead: 403", fix: "kubectl etcd member list statefulset/main -n team"},
		{name: "dead voter that was scaled away with its claim", id: "M001", with: func(f *Facts) {
			dead(f)
			f.Owner.Claims = []owner.Claim{{Template: "data"}}
			f.Away.Value = []corev1.PersistentVolumeClaim{boundClaim("data-main-3")}
		}, want: Failure, fix: "kubectl scale statefulset/main --replicas 4 -n team"},
		{name: "dead voter that was scaled away, and its claim is gone", id: "M001", with: func(f *Facts) { dead(f); f.Owner.Claims = []owner.Claim{{Template: "data"}} }, want: Failure, fix: "kubectl etcd member remove statefulset/main 0000000000000003 -n team"},
		{name: "voter whose StatefulSet is scaled to 0", id: "M001", with: withSilence(membership.Silence{Contact: membership.ContactNone, Stopped: "statefulset/etcd-2", Replicas: 1}), want: Failure,
			message: "no pod of this cluster runs it (http://main-3.main:2380); statefulset/etcd-2 has no replica for it", fix: "kubectl scale statefulset/etcd-2 --replicas 1 -n team"},
		{name: "voter whose Deployment is scaled to 0, and metrics can't be read", id: "M001", with: withSilence(membership.Silence{Unknown: "403", Stopped: "deployment/etcd-2", Replicas: 1}), want: Failure, fix: "kubectl scale deployment/etcd-2 --replicas 1 -n team"},
		{name: "dead voter that the rule keeps", id: "M001", with: func(f *Facts) { dead(f); delete(f.MayRemove, 3) }, want: Failure, fix: "kubectl etcd member list statefulset/main -n team"},
		{name: "dead voter while client traffic is cut", id: "M001", with: func(f *Facts) { dead(f); f.Cluster.Value.Cluster.TrafficCut = true }, want: Failure, fix: "kubectl etcd member list statefulset/main -n team"},
		{name: "while it scales", id: "M001", with: func(f *Facts) { dead(f); scaling(f) }, want: Warning},
		{name: "dead learner", id: "M001", with: func(f *Facts) { dead(f); f.Survey.Value.List[2].Learner = true }, want: Warning, message: "learner main-3"},

		{name: "dead voter with the name of another", id: "M001", with: func(f *Facts) { dead(f); f.Survey.Value.List[2].Name = "cp2;rm" }, want: Failure, fix: "kubectl etcd member remove statefulset/main 0000000000000003 -n team"},

		{name: "all", id: "M002", want: OK},
		{name: "another member, and a second voter is down", id: "M002", size: 5, with: func(f *Facts) {
			f.Survey.Value.Members[1].ID, f.Survey.Value.Members[1].Err = 77, errRefused
			silent(4)(f)
		}, want: Failure, fix: "once main-4 is healthy or removed, kubectl etcd member replace statefulset/main main-1 -n team"},
		{name: "another member, ahead of the leader", id: "M002", with: func(f *Facts) {
			s := &f.Survey.Value
			s.Members[1].ID, s.Members[1].Err, s.Members[1].RaftIndex = 77, errRefused, s.Members[0].RaftIndex+1
		}, want: Failure, fix: "kubectl etcd diagnose statefulset/main -n team"},
		{name: "removed, and there is a learner", id: "M002", size: 4, with: func(f *Facts) { removed(f); f.Survey.Value.List[2].Learner = true }, want: Failure, fix: "once no member is a learner, kubectl etcd member replace statefulset/main main-1 -n team"},
		{name: "removed, and client traffic is cut", id: "M002", with: func(f *Facts) { removed(f); f.Cluster.Value.Cluster.TrafficCut = true }, want: Failure, fix: "kubectl etcd restore-client-traffic statefulset/main -n team"},
		{name: "another member", id: "M002", with: member(1, func(m *etcd.Member) {
			m.ID, m.Err = 77, errors.New("runs member 4d, which the member list doesn't have")
		}), want: Failure, message: "main-1: runs member 4d", fix: "kubectl etcd member replace statefulset/main main-1 -n team"},

		{name: "another member, and the rule keeps the old one", id: "M002", with: func(f *Facts) {
			f.Survey.Value.Members[1].ID, f.Survey.Value.Members[1].Err = 77, errRefused
			delete(f.MayRemove, 2)
		}, want: Failure, fix: "kubectl etcd member list statefulset/main -n team"},
		{name: "removed", id: "M002", with: removed, want: Failure, message: "main-1: is not a member: it was removed from etcd, or never joined", fix: "kubectl etcd member replace statefulset/main main-1 -n team"},
		{name: "silent, and the list does not have it", id: "M002", with: func(f *Facts) {
			removed(f)
			f.FatalLogs = nil
		}, want: Failure, message: "main-1: etcd's member list doesn't have it, and it does not answer", fix: "kubectl describe pod main-1 -n team"},
		{name: "removed for now", id: "M002", with: func(f *Facts) { removed(f); scaling(f) }, want: Info, message: "main-1: is not a member now: scale from 3 to 5 members", fix: "-"},
		{name: "not joined yet, where others do that", id: "M002", with: func(f *Facts) { removed(f); f.Owner.Distribution = flavour.Bitnami }, want: Warning, fix: "kubectl describe pod main-1 -n team"},
		{name: "removed, and it still answers", id: "M002", with: func(f *Facts) {
			removed(f)
			f.Survey.Value.Members[1].ID, f.Owner.Distribution = 77, flavour.Bitnami
		}, want: Warning, message: "main-1: is not a member", fix: "kubectl describe pod main-1 -n team"},
		{name: "silent, and the list has one more", id: "M002", with: func(f *Facts) { silent(1)(f); away(&f.Survey.Value.List[1]) }, want: OK},
		{name: "removed", id: "Q001", with: removed, want: OK, message: "2 of 2 voters answer", fix: "-"},
		{name: "removed", id: "Q002", with: removed, want: Warning, message: "none of the 2 voters may fail", fix: "kubectl etcd check statefulset/main --only members -n team"},

		{name: "none", id: "M003", want: OK},
		{name: "left over", id: "M003", with: listed(2, func(l *etcd.Listed) { l.Learner = true }), want: Warning, fix: "kubectl etcd member promote statefulset/main 0000000000000003 -n team"},
		{name: "while it scales", id: "M003", with: func(f *Facts) { f.Survey.Value.List[2].Learner = true; scaling(f) }, want: Info, fix: "-"},
		{name: "left over, for all that is known", id: "M003", with: func(f *Facts) { f.Survey.Value.List[2].Learner = true; f.Cluster.Err = errRefused }, want: Unknown, fix: "-"},
		{name: "druid's", id: "M003", with: func(f *Facts) {
			f.Survey.Value.List[2].Learner = true
			f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.Kind = owner.DruidStatefulSet, flavour.Druid, "Etcd"
		}, want: Warning, fix: "kubectl logs main-2 -c backup-restore -n team"},
		{name: "in no pod", id: "M003", with: func(f *Facts) {
			dead(f)
			f.Survey.Value.List[2].Learner = true
			f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.Kind = owner.DruidStatefulSet, flavour.Druid, "Etcd"
		}, want: Warning, fix: "kubectl etcd member remove etcd/main 0000000000000003 -n team"},

		{name: "left over, of kubeadm", id: "M003", with: func(f *Facts) { kubeadm(f); f.Survey.Value.List[2].Learner = true }, want: Warning, fix: " -n team -- etcdctl member promote 0000000000000003"},
		{name: "left over and behind, of kubeadm", id: "M003", with: func(f *Facts) {
			kubeadm(f)
			f.Survey.Value.List[2].Learner, f.Survey.Value.Members[2].RaftApplied = true, 1
		}, want: Warning, fix: "kubectl describe pod main-2 -n team"},

		{name: "all", id: "M004", want: OK},
		{name: "never", id: "M004", with: func(f *Facts) { dead(f); f.Survey.Value.List[2].Name = "" }, want: Failure, message: "member 0000000000000003 ", fix: "kubectl etcd member remove statefulset/main 0000000000000003 -n team"},

		{name: "names", id: "M005", want: OK},
		{name: "loopback", id: "M005", size: 1, with: listed(0, func(l *etcd.Listed) { l.PeerURLs = []string{"http://localhost:2380"} }), want: Warning, message: "none of them can reach it",
			fix: "then run kubectl etcd proxy statefulset/main -n team -- etcdctl member update 0000000000000001 --peer-urls=URL"},
		{name: "IPv6 loopback", id: "M005", with: listed(0, func(l *etcd.Listed) { l.PeerURLs = []string{"http://[::1]:2380"} }), want: Warning},
		{name: "IP", id: "M005", with: atIP(), want: Warning, message: "another IP", wholeFix: "advertise the pod's name under the headless Service to the other members: set --initial-advertise-peer-urls: kubectl edit statefulset main -n team, and then run the command that check M009 prints for each member"},
		{name: "IP of a Service", id: "M005", with: func(f *Facts) { atIP()(f); f.Survey.Value.List[0].PeerURLs = []string{"http://10.96.0.9:2380"} }, want: OK},
		{name: "IP of a member without a pod", id: "M005", with: func(f *Facts) { atIP()(f); f.Survey.Value.List[0].Pod = ""; f.Pods.Value = f.Pods.Value[1:] }, want: OK},
		{name: "IP of a pod that is the member by no name", id: "M005", with: func(f *Facts) { atIP()(f); f.Survey.Value.List[0].Pod = "" }, want: Warning},
		{name: "IP of a pod of another workload", id: "M005", with: func(f *Facts) {
			atIP()(f)
			f.Elsewhere, f.Pods.Value, f.Survey.Value.List[0].Pod = f.Pods.Value[:1], f.Pods.Value[1:], ""
		}, want: Warning},
		{name: "IP, and the pods can't be read", id: "M005", with: func(f *Facts) { atIP()(f); f.Pods = Got[[]*corev1.Pod]{Err: errRefused} }, want: Unknown},
		{name: "IP of a Deployment's pod", id: "M005", with: func(f *Facts) { atIP()(f); f.Owner.WorkloadKind = owner.Pods }, want: Warning,
			fix: "advertise the name of a Service that selects this member alone to the other members: one member at a time, and the next when all members are healthy again: set --initial-advertise-peer-urls"},
		{name: "IP of the node, as kubeadm's", id: "M005", with: func(f *Facts) { kubeadm(f); atIP(onHost)(f) }, want: OK},
		{name: "IP of the node, as a DaemonSet's", id: "M005", with: atIP(onHost, func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "etcd", Controller: new(true)}}
		}), want: OK},
		{name: "IP of the only node of the pod", id: "M005", with: atIP(onHost, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "node-0"} }), want: OK},
		{name: "IP of a node that the pod may leave", id: "M005", with: atIP(onHost), want: Warning},
		{name: "IP of a DaemonSet's pod", id: "M005", with: atIP(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "etcd", Controller: new(true)}}
		}), want: Warning},
		{name: "IP of a single member", id: "M005", size: 1, with: atIP(), want: OK},

		{name: "all", id: "M006", want: OK, message: "3 of 3"},
		{name: "one not Ready", id: "M006", with: pod(1, crashing), want: Failure, message: "main-1: CrashLoopBackOff: container etcd (7 restarts)", fix: "kubectl logs main-1 -c etcd --previous -n team"},
		{name: "one not scheduled", id: "M006", with: pod(1, unscheduled), want: Failure, message: "main-1: pending: not scheduled: 0/3 nodes are available", fix: "kubectl describe pod main-1 -n team"},
		{name: "a learner, which can't be Ready", id: "M006", with: func(f *Facts) { pod(1, unready)(f); f.Survey.Value.Members[1].Learner = true }, want: Info, message: "main-1: is a learner"},
		{name: "those after the first wait for its quorum", id: "M006", with: func(f *Facts) {
			pod(0, unready)(f)
			f.Pods.Value, f.Owner.Ordered = f.Pods.Value[:1], true
			f.StatefulSet.Value.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
		}, want: Failure, message: "2 of 3 pods do not exist: the StatefulSet creates the next one when those before it are Ready", fix: "kubectl etcd check statefulset/main --only W009 -n team"},
		{name: "one not there", id: "M006", with: func(f *Facts) { f.Pods.Value = f.Pods.Value[:2] }, want: Failure, message: "1 of 3 pods do not exist"},
		{name: "scaled to 0", id: "M006", with: func(f *Facts) { f.Owner.Replicas, f.Pods.Value = 0, nil }, want: NotApplicable},

		{name: "steady", id: "M007", want: OK},
		{name: "restarting", id: "M007", with: pod(1, restarted(5, time.Minute)), want: Warning, message: "restarted 5 times, the last time 1m00s ago after OOMKilled (exit code 137)", fix: "kubectl logs main-1 -c etcd --previous -n team"},
		{name: "complete", id: "M008", want: OK},
		{name: "no readiness probe that asks etcd, and the data is in the pods", id: "M008", with: func(f *Facts) {
			f.Cluster.Value.Notes = []policy.Note{{Reason: reasons.NoReadinessProbe, Message: "it counts as ready once its pod has run for 1m"}}
			inPod(0)(f)
		}, want: Warning, fix: "only when the data is on persistent volumes (D006), because it restarts the members, and a new pod starts without the data: add a readiness probe on etcd's /readyz: kubectl edit statefulset main -n team"},
		{name: "a lease is left over", id: "M008", with: func(f *Facts) {
			f.Cluster.Value.Notes = []policy.Note{{Reason: reasons.LeaseWithoutMember, Message: "lease main-3 is left over"}}
		}, want: Warning, message: "lease main-3 is left over"},
		{name: "the list is not shown, and etcd has it", id: "M008", size: 1, with: func(f *Facts) {
			f.Cluster.Value.Cluster = policy.Cluster{Namespace: "team", Target: "statefulset/main", Size: 1, SizeUnknown: "x"}
			f.Cluster.Value.Notes = []policy.Note{{Reason: policy.SizeUnknown, Message: "it is not known which members the cluster has"}}
		}, want: Warning, wholeFix: `kubectl annotate --overwrite statefulset/main -n team kubectl-etcd.dev/size="1 at $(date -u +%FT%TZ)"`},
		{name: "nothing has the list", id: "M008", size: 1, with: func(f *Facts) {
			listUnknown(f)
			f.Cluster.Value.Notes = []policy.Note{{Reason: policy.SizeUnknown, Message: "it is not known which members the cluster has"}}
		}, want: Warning, fix: "-"},
		{name: "long ago", id: "M007", with: pod(1, restarted(5, 3*time.Hour)), want: OK},
	})
}

func pod(i int, change func(*corev1.Pod)) func(*Facts) {
	return func(f *Facts) { change(f.Pods.Value[i]) }
}

func unscheduled(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}
}

func unready(p *corev1.Pod) {
	p.Status.Conditions[0].Status = corev1.ConditionFalse
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd"}}
}

func crashing(p *corev1.Pod) {
	p.Status.Conditions[0].Status = corev1.ConditionFalse
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "etcd", RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
	}}
}

func restarted(times int32, ago time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "etcd", RestartCount: times, Ready: true, LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(noon.Add(-ago))},
			},
		}}
	}
}

// TestUpVoters: a pod without a probe that has just become Ready is no dead member, and a member
// with an old lease is one.
func TestUpVoters(t *testing.T) {
	t.Parallel()
	for justReady, want := range map[bool]int{true: 3, false: 2} {
		f := healthy(3)
		readyInKubernetes(f)
		f.Cluster.Value.Cluster.Size = 3
		f.Cluster.Value.Cluster.Members[0].Ready, f.Cluster.Value.Cluster.Members[0].JustReady = false, justReady
		f.Survey.Value.Members = nil
		if got := f.Quorum(); got.Healthy != want || got.Voters != 3 {
			t.Errorf("just ready %t: %d of %d healthy, want %d", justReady, got.Healthy, got.Voters, want)
		}
	}
}

// beside is a cluster of two pods whose list has five voters: the leader and two more run elsewhere.
func beside(silence membership.Silence, led bool) *Facts {
	f := healthy(2)
	f.Silences = map[uint64]membership.Silence{}
	for i := range f.Survey.Value.Members {
		f.Survey.Value.Members[i].Leader = false
		f.Survey.Value.Members[i].LeaderID = 11
	}
	for id, name := range []string{"a-0", "a-1", "a-2"} {
		l := etcd.Listed{ID: uint64(11 + id), Name: name, PeerURLs: []string{"http://" + name + ".p.team.svc:2380"}}
		f.Survey.Value.List = append(f.Survey.Value.List, l)
		f.Silences[l.ID] = silence
	}
	f.Silences[11] = membership.Silence{Contact: membership.ContactLeads, Elsewhere: []string{"a-0"}}
	if !led { // the members of this cluster have the leader
		f.Silences[11] = silence
		for i := range f.Survey.Value.Members {
			f.Survey.Value.Members[i].Leader, f.Survey.Value.Members[i].LeaderID = i == 0, 1
		}
	}
	return f
}

// TestVotersElsewhere walks what is known of voters that no pod of the cluster runs: down, healthy or not known.
func TestVotersElsewhere(t *testing.T) {
	t.Parallel()
	pod := []string{"a-1"}
	for _, row := range []struct {
		name    string
		silence membership.Silence
		led     bool // the leader runs elsewhere
		healthy int
		unknown int
		q001    Level
		q002    Level
		of      string
	}{
		{"pods elsewhere, and the leader too", membership.Silence{Elsewhere: pod, Unknown: "the leader doesn't answer"}, true, 3, 2, OK, Unknown, output.Unknown},
		{"no pod found, the leader is elsewhere", membership.Silence{Unknown: "the leader doesn't answer"}, true, 3, 2, OK, Unknown, output.Unknown},
		{"a stopped workload", membership.Silence{Unknown: "the leader doesn't answer", Stopped: "statefulset/a", Replicas: 3}, true, 3, 0, OK, Failure, output.Degraded},
		{"pods elsewhere, metrics unread", membership.Silence{Elsewhere: pod, Unknown: "metrics can't be read"}, false, 2, 3, Unknown, Unknown, output.Unknown},
		{"no pod found, metrics unread", membership.Silence{Unknown: "metrics can't be read"}, false, 2, 0, Failure, Failure, output.Down},
		{"the leader has lost them", membership.Silence{Elsewhere: pod, Contact: membership.ContactNone}, false, 2, 0, Failure, Failure, output.Down},
		{"the leader is in contact", membership.Silence{Elsewhere: pod, Contact: membership.ContactActive}, false, 5, 0, OK, OK, output.Healthy},
	} {
		f := beside(row.silence, row.led)
		if q := f.Quorum(); q.Voters != 5 || q.Healthy != row.healthy || q.Unknown != row.unknown {
			t.Errorf("%s: %+v", row.name, q)
		}
		if got := quorumAnswers(f)[0]; got.Level != row.q001 {
			t.Errorf("%s: Q001 %s %s", row.name, got.Level, got.Message)
		}
		if got := quorumSlack(f)[0]; got.Level != row.q002 || row.q002 == Unknown && !strings.Contains(got.Fix, "name all members in the lists of all") {
			t.Errorf("%s: Q002 %s %s: %s", row.name, got.Level, got.Message, got.Fix)
		}
		if got := Of(f, StatusFindings(f)); got != row.of {
			t.Errorf("%s: %s", row.name, got)
		}
	}
}

// TestQuorumByObjects: without an answer, members that run elsewhere are not known to be down.
func TestQuorumByObjects(t *testing.T) {
	t.Parallel()
	f := healthy(2)
	f.Survey = Got[etcd.Survey]{Err: ErrNotGathered}
	up := policy.Member{Exists: true, PodReady: true, Ready: true}
	f.Cluster.Value.Cluster = policy.Cluster{Size: 5, Elsewhere: 3, Members: []policy.Member{up, up}}
	if q := f.Quorum(); q.Slack != -1 || q.Unknown != 3 {
		t.Errorf("%+v", q)
	}
	f.Cluster.Value.Cluster = policy.Cluster{Size: 2, Elsewhere: 3, Members: []policy.Member{up, up}}
	if q := f.Quorum(); q.Unknown != 0 {
		t.Errorf("declared: %+v", q)
	}
}

// singles has each pod answer as an etcd of its own whose configuration has no list. change changes that.
func singles(change func(*etcdconf.Config)) func(*Facts) {
	return func(f *Facts) {
		f.Survey.Value.Singles = true
		for i := range f.Survey.Value.Members {
			m := &f.Survey.Value.Members[i]
			m.ClusterID, m.LeaderID, m.Leader = uint64(0xc0+i), m.ID, true
		}
		serving(func(c *etcdconf.Config) {
			c.Where = map[string]string{}
			if change != nil {
				change(c)
			}
		})(f)
	}
}

// sameID has all members report one cluster ID and one member ID, as without any setting of etcd.
func sameID(f *Facts) {
	for i := range f.Survey.Value.Members {
		m := &f.Survey.Value.Members[i]
		m.ID, m.ClusterID, m.LeaderID = 7, 0xc, 7
	}
}
