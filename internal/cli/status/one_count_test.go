// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	testclock "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/budget"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/gather"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestOneCount gives the same objects to list, to status, and to the reconciler that publishes the metrics: each counts
// the same ready members of the same total, whatever members answer to status. Where none answers it has the same quorum,
// too. It isn't parallel, because the process has one set of series.
func TestOneCount(t *testing.T) {
	for name, row := range map[string]struct {
		objects string
		// silent is how long ago the lease of the last member was seen to change, 0 for a few seconds.
		silent time.Duration
		// change edits each object.
		change  func(any)
		healthy int
		// answers are those of members to the reconciler, by pod. Nil if no policy lets it ask.
		answers answers
		// survey has what members answer to status, by ordinal. Nil if none answers.
		survey []etcd.Member
		// notAnswering counts those that don't answer that they have a quorum.
		notAnswering int
	}{
		"a StatefulSet with all pods ready":     {objects: "plain-3", healthy: 3},
		"a StatefulSet with a pod not ready":    {objects: "plain-3", change: unready("etcd-1"), healthy: 2},
		"a StatefulSet with no pod ready":       {objects: "plain-3", change: unready("etcd-0", "etcd-1", "etcd-2"), healthy: 0},
		"a StatefulSet that is scaled to 5":     {objects: "plain-3", change: replicas(5), healthy: 3},
		"an Etcd with all leases fresh":         {objects: "druid-3", healthy: 3},
		"an Etcd with a lease one beat late":    {objects: "druid-3", silent: 15 * time.Second, healthy: 3},
		"an Etcd with a lease three beats late": {objects: "druid-3", silent: 33 * time.Second, healthy: 2},
		"an Etcd with a lease a minute late":    {objects: "druid-3", silent: 70 * time.Second, healthy: 2},
		"an Etcd with a pod not ready":          {objects: "druid-3", change: unready("main-1"), healthy: 2},
		"a StatefulSet with a member that hangs": {
			objects: "plain-3", change: unprobed, answers: answers{"etcd-0": true, "etcd-1": true, "etcd-2": false}, healthy: 3, notAnswering: 1,
		},
		"a StatefulSet whose members answer": {
			objects: "plain-3", change: unprobed, answers: answers{"etcd-0": true, "etcd-1": true, "etcd-2": true}, healthy: 3,
		},
		"members answer":               {objects: "plain-3", survey: following(3), healthy: 3},
		"a voter's pod is not ready":   {objects: "plain-3", change: unready("etcd-1"), survey: following(3), healthy: 2},
		"a learner joins":              {objects: "plain-3", change: replicas(4), survey: learning(following(4), 3), healthy: 3},
		"a learner's pod is not ready": {objects: "plain-3", change: unready("etcd-2"), survey: learning(following(3), 2), healthy: 2},
		"members have an alarm":        {objects: "plain-3", survey: alarmed(following(3)), healthy: 3},
		"a member is unknown":          {objects: "plain-3", survey: silent(following(3), 2), healthy: 3},
		"no member has a leader":       {objects: "plain-3", survey: make([]etcd.Member, 3), healthy: 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCounted(t, row.objects, row.silent, row.change)
			w.answers, w.survey = row.answers, row.survey
			listed, shown := w.listed(t), w.shown(t)
			if listed.Members.Ready != row.healthy {
				t.Errorf("list counts %d healthy members, want %d", listed.Members.Ready, row.healthy)
			}
			if shown.Replicas != listed.Members {
				t.Errorf("list counts %+v, status %+v", listed.Members, shown.Replicas)
			}
			if listed.Quorum.Healthy != row.healthy || row.survey == nil && shown.Quorum != listed.Quorum {
				t.Errorf("list has the quorum %+v, status %+v", listed.Quorum, shown.Quorum)
			}
			w.reconcile(t)
			for metric, want := range map[string]int{
				"kubectl_etcd_cluster_members_ready":         row.healthy,
				"kubectl_etcd_cluster_members_not_answering": row.notAnswering,
				"kubectl_etcd_cluster_quorum":                listed.Quorum.Needed,
				"kubectl_etcd_cluster_members_desired":       listed.Quorum.Voters,
			} {
				if got := w.metric(t, metric); got != want {
					t.Errorf("the metric %s is %d, and list has %d", metric, got, want)
				}
			}
			for _, c := range shown.Conditions {
				if got := w.condition(t, c.Type); c.Type == "AllMembersReady" && got != c.Status {
					t.Errorf("the metric of the condition %s is %s, and status has %s", c.Type, got, c.Status)
				}
			}
		})
	}
}

// counted are the objects of one cluster, as a process sees them that has observed the leases for a while.
type counted struct {
	reader *observe.Reader
	clock  *testclock.FakePassiveClock
	owner  owner.Owner
	// answers are those of members to the reconciler.
	answers answers
	// survey has what members answer to status, by ordinal.
	survey []etcd.Member
}

// following returns the answers of n voters that follow the first.
func following(n int) []etcd.Member {
	members := make([]etcd.Member, n)
	for i := range members {
		members[i] = etcd.Member{ID: uint64(i + 1), ClusterID: 7, LeaderID: 1, Leader: i == 0}
	}
	return members
}

func learning(members []etcd.Member, at int) []etcd.Member {
	members[at].Learner = true
	return members
}

func alarmed(members []etcd.Member) []etcd.Member {
	for i := range members {
		members[i].Alarms = []string{"NOSPACE"}
	}
	return members
}

func silent(members []etcd.Member, at int) []etcd.Member {
	members[at] = etcd.Member{Err: errors.New("no answer")}
	return members
}

// answers are those of members to the question whether they have a quorum, by pod.
type answers map[string]bool

func (a answers) Answer(pod *corev1.Pod) observe.Answer {
	healthy, known := a[pod.Name]
	return observe.Answer{Known: known, Healthy: healthy}
}

// asksMembers is a policy that lets the reconciler ask members, and write nothing.
const asksMembers = `
---
apiVersion: policy.kubectl-etcd.dev/v1alpha1
kind: EtcdTopologyPolicy
metadata: {name: default}
spec: {mode: Warn, disruption: {askMembers: true}}
`

// newCounted returns a cluster of internal/observe's tests, with what is different.
func newCounted(t *testing.T, file string, silent time.Duration, change func(any)) *counted {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "observe", "testdata", "facts", file+".objects.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects, err := observetest.Parse(scheme, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if change != nil {
			change(o)
		}
	}
	namespace := objects[0].GetNamespace()
	more, err := observetest.Parse(scheme, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"+asksMembers))
	if err != nil {
		t.Fatal(err)
	}
	objects = append(objects, more...)
	now := noon.Add(-2 * time.Hour) // when the objects were read
	w := &counted{clock: testclock.NewFakePassiveClock(now)}
	w.reader = &observe.Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: w.clock}}
	for _, o := range objects {
		lease, ok := o.(*coordinationv1.Lease)
		if !ok {
			continue
		}
		age := 5 * time.Second
		if lease.Name == "main-2" {
			age = max(age, silent)
		}
		before := lease.DeepCopy()
		before.Spec.RenewTime.Time = before.Spec.RenewTime.Add(-10 * time.Second)
		w.clock.SetTime(now.Add(-age - time.Second))
		w.reader.Leases.Observe(before)
		w.clock.SetTime(now.Add(-age))
		w.reader.Leases.Observe(lease)
	}
	w.clock.SetTime(now)
	key := owner.Key{Kind: objects[0].GetObjectKind().GroupVersionKind().Kind, Namespace: namespace, Name: objects[0].GetName()}
	o, found, err := w.reader.Owner(t.Context(), key)
	if err != nil || !found {
		t.Fatal(key, found, err)
	}
	w.owner = o
	return w
}

// listed returns the cluster as list does.
func (w *counted) listed(t *testing.T) *v1alpha1.EtcdCluster {
	t.Helper()
	all, err := gather.List(t.Context(), w.reader, etcd.Access{}, w.owner.Namespace, labels.Everything(), false, "")
	if err != nil || len(all.Items) != 1 {
		t.Fatal(all, err)
	}
	return &all.Items[0]
}

// shown returns the cluster as status does.
func (w *counted) shown(t *testing.T) *v1alpha1.EtcdClusterStatus {
	t.Helper()
	facts, err := w.reader.Facts(t.Context(), w.owner)
	if err != nil {
		t.Fatal(err)
	}
	f := &health.Facts{At: facts.At, Owner: w.owner}
	f.Cluster.Value = facts
	if f.Pods.Value, err = w.reader.MemberPods(t.Context(), w.owner); err != nil {
		t.Fatal(err)
	}
	for i, m := range w.survey {
		m.Pod = w.owner.PodName(i)
		f.Survey.Value.Members = append(f.Survey.Value.Members, m)
		f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{ID: uint64(i + 1), Name: m.Pod, Pod: m.Pod, Learner: m.Learner})
	}
	if f.Conditions.Value, err = w.reader.Conditions(t.Context(), w.owner, facts); err != nil {
		t.Fatal(err)
	}
	return view.StatusOf(f)
}

// reconcile publishes the metrics of the cluster. The policy of mode Warn writes nothing.
func (w *counted) reconcile(t *testing.T) {
	t.Helper()
	for _, c := range budget.Collectors() {
		if series, resets := c.(interface{ Reset() }); resets {
			series.Reset() // those of the rows before
		}
	}
	r := &budget.Reconciler{Reader: w.reader, Recorder: events.NewFakeRecorder(10), Clock: w.clock, Findings: &budget.Findings{}}
	if w.answers != nil {
		r.Health = w.answers
	}
	if _, err := r.Reconcile(t.Context(), w.owner.Key()); err != nil {
		t.Fatal(err)
	}
}

// metric returns the value of a metric for the cluster.
func (w *counted) metric(t *testing.T, name string) int {
	t.Helper()
	value, found := w.series(t, name, map[string]string{"cluster": w.owner.Name})
	if !found {
		t.Fatalf("%s has no metric %s", w.owner, name)
	}
	return value
}

// condition returns the status of a condition that the metrics have, "" for none.
func (w *counted) condition(t *testing.T, kind string) string {
	t.Helper()
	for _, status := range []string{"True", "False", "Unknown", "Absent"} {
		if n, _ := w.series(t, "kubectl_etcd_cluster_condition", map[string]string{"cluster": w.owner.Name, "condition": kind, "status": status}); n == 1 {
			return status
		}
	}
	return ""
}

// series returns the value of the series of a metric that has some labels.
func (w *counted) series(t *testing.T, name string, has map[string]string) (value int, found bool) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(budget.Collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			same := 0
			for _, l := range m.GetLabel() {
				if v, asked := has[l.GetName()]; asked && v == l.GetValue() {
					same++
				}
			}
			if f.GetName() == name && same == len(has) {
				return int(m.GetGauge().GetValue()), true
			}
		}
	}
	return 0, false
}

// unready returns a change by which pods are not ready.
func unready(names ...string) func(any) {
	return func(o any) {
		pod, ok := o.(*corev1.Pod)
		if !ok || !slices.Contains(names, pod.Name) {
			return
		}
		for i := range pod.Status.Conditions {
			if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
				c.Status = corev1.ConditionFalse
			}
		}
	}
}

// unprobed is a change by which the readiness probe of pods does not ask etcd.
func unprobed(o any) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(2379)}}}
	}
}

// replicas returns a change by which a StatefulSet is to have n pods.
func replicas(n int32) func(any) {
	return func(o any) {
		if sts, ok := o.(*appsv1.StatefulSet); ok {
			sts.Spec.Replicas = &n
		}
	}
}
