// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package unschedulable

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

var hostAndZone = []spread.Term{
	{Kind: spread.PodAntiAffinity, TopologyKey: spread.HostnameKey, Hard: true},
	{Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey, Hard: true, MinDomains: 3},
}

// waitingRoom has the third member of db/bad, which waits, and the time.
type waitingRoom struct {
	t        *testing.T
	now      time.Time
	clock    *clocktesting.FakePassiveClock
	recorder *events.FakeRecorder
	gone     deletions
	u        *Reconciler
}

func newWaitingRoom(t *testing.T) *waitingRoom {
	t.Helper()
	w := &waitingRoom{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), recorder: events.NewFakeRecorder(10)}
	w.clock = clocktesting.NewFakePassiveClock(w.now)
	w.u = &Reconciler{Client: &w.gone, Recorder: w.recorder, Clock: w.clock}
	return w
}

// reconcile reconciles the pod at a time, nil for none, with the nodes of some names. It returns when it is
// reconciled again.
func (w *waitingRoom) reconcile(at time.Duration, pod *corev1.Pod, zone, nodes string) time.Duration {
	w.t.Helper()
	w.clock.SetTime(w.now.Add(at))
	base := controllertest.Policies(w.t)
	objects := controllertest.Parse(w.t, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, volumeBindingMode: WaitForFirstConsumer, "+
		"metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}}}\n")
	for _, o := range with(w.t, base, zone, waiting(w.now, time.Hour)) {
		node, isNode := o.(*corev1.Node)
		if o.GetName() == "bad-2" && o.GetNamespace() == "db" || isNode && !strings.Contains(nodes, node.Name) {
			continue
		}
		objects = append(objects, o)
	}
	if pod != nil {
		objects = append(objects, pod)
	}
	w.u.Reader = &observe.Reader{Reader: objects, Live: objects}
	result, err := w.u.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "db", Name: "bad-2"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return result.RequeueAfter
}

func (w *waitingRoom) want(deleted int, event string) {
	w.t.Helper()
	got := strings.Join(controllertest.Recorded(w.t, w.recorder), "\n")
	if len(w.gone) != deleted || !strings.Contains(got, event) || event == "" && got != "" {
		w.t.Errorf("deleted %q, want %d; recorded %q, want %q", w.gone, deleted, got, event)
	}
}

// waitingPod returns the third member with terms.
func (w *waitingRoom) waitingPod(uid types.UID, terms ...spread.Term) *corev1.Pod {
	pod := waiting(w.now, time.Hour)
	pod.UID = uid
	record(pod, annotation.SpreadRecord{Policy: "prod", Terms: terms})
	return pod
}

// TestUnschedulableNodesCome holds that a pod is not deleted while nodes come or are replaced: its next pod
// would share a node or a zone for good.
func TestUnschedulableNodesCome(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		zone  string // of its volume
		nodes []string
		want  int
	}{
		{name: "an autoscaler adds one node after another", nodes: []string{"a1", "a1", "a1 b1", "a1 b1", "a1 b1 c1"}},
		{name: "a zone's only node is replaced", nodes: []string{"a1 b1 c1", "a1 b1", "a1 b1", "a1 b1 c2"}},
		{name: "the node of its volume is replaced", zone: "c", nodes: []string{"a1 b1 c1", "a1 b1", "a1 b1", "a1 b1 c2"}},
		{name: "its volume is taken, and a node is replaced", zone: "a", nodes: []string{"a1 b1", "a1 b1", "a1 b1"}},
		{name: "they stay few", nodes: strings.Split(strings.Repeat("a1 b1,", 4), ","), want: 1},
		{name: "few of many come and go", nodes: []string{"a1 a2", "a1", "a1 a2", "a1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWaitingRoom(t)
			pod := w.waitingPod("u", hostAndZone...)
			for i, nodes := range row.nodes[:min(len(row.nodes), 4)] {
				after := w.reconcile(time.Duration(i)*5*time.Minute, pod, row.zone, nodes)
				if len(w.gone) == 0 && (after <= 0 || after > unschedulableRecheck) {
					t.Errorf("with %s, evaluated again after %s", nodes, after)
				}
			}
			if len(w.gone) != row.want {
				t.Errorf("deleted %q", w.gone)
			}
		})
	}
}

// TestUnschedulableAtTheTime holds that the pod is evaluated again when the nodes have been the same for long.
func TestUnschedulableAtTheTime(t *testing.T) {
	t.Parallel()
	w := newWaitingRoom(t)
	pod := w.waitingPod("u", hostAndZone...)
	w.reconcile(0, pod, "", "a1 b1")
	if after := w.reconcile(nodesSettle-30*time.Second, pod, "", "a1 b1"); after != 30*time.Second {
		t.Errorf("evaluated again after %s", after)
	}
	// The time begins again for another pod of the name.
	w.reconcile(nodesSettle, w.waitingPod("v", hostAndZone...), "", "a1 b1")
	w.want(0, "")
	w.reconcile(2*nodesSettle, w.waitingPod("v", hostAndZone...), "", "a1 b1")
	w.want(1, "with the current nodes")
}

// TestUnschedulableAgain holds that a pod is deleted once for a term that admission requires again, since
// another webhook changes the pod afterwards.
func TestUnschedulableAgain(t *testing.T) {
	t.Parallel()
	const all = "a1 a2 b1 b2 c1 c2"
	w := newWaitingRoom(t)
	w.reconcile(0, w.waitingPod("u", hostAndZone...), "a", all)
	w.want(1, "MemberRespread")
	if after := w.reconcile(time.Minute, nil, "a", all); after != deletionKept-time.Minute {
		t.Errorf("the deletion of a pod that is gone is removed after %s", after)
	}
	fresh := w.waitingPod("v", hostAndZone...)
	fresh.Status.Conditions = nil
	w.reconcile(2*time.Minute, fresh, "a", all) // the scheduler hasn't tried yet
	for range 2 {
		w.reconcile(5*time.Minute, w.waitingPod("v", hostAndZone...), "a", all)
	}
	w.want(1, "TermRequiredAgain")
	w.reconcile(10*time.Minute, w.waitingPod("w", hostAndZone...), "a", all)
	w.want(1, "another webhook changes the pod")
	// A third one has another obsolete term.
	w.reconcile(15*time.Minute, w.waitingPod("x", spread.Term{Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey, Hard: true, MinDomains: 2}), "a", all)
	w.want(2, "MemberRespread")
}

// TestUnschedulableDeletionEnds holds that a pod may be deleted again for a term after one of its name ran, had
// the term not, or was gone for long.
func TestUnschedulableDeletionEnds(t *testing.T) {
	t.Parallel()
	const all = "a1 a2 b1 b2 c1 c2"
	for name, between := range map[string]func(w *waitingRoom){
		"it runs": func(w *waitingRoom) {
			pod := w.waitingPod("v", hostAndZone...)
			pod.Spec.NodeName = "a1"
			w.reconcile(time.Minute, pod, "a", all)
		},
		"it requires nothing": func(w *waitingRoom) { w.reconcile(time.Minute, w.waitingPod("v"), "a", all) },
		"no policy spreads it": func(w *waitingRoom) {
			pod := w.waitingPod("v")
			pod.Annotations = nil
			w.reconcile(time.Minute, pod, "a", all)
		},
		"it has only the other term": func(w *waitingRoom) { w.reconcile(time.Minute, w.waitingPod("v", hostAndZone[0]), "a", all) },
		"it is gone": func(w *waitingRoom) {
			if after := w.reconcile(deletionKept, nil, "a", all); after != 0 {
				t.Errorf("evaluated again after %s", after)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWaitingRoom(t)
			w.reconcile(0, w.waitingPod("u", hostAndZone...), "a", all)
			between(w)
			w.reconcile(2*deletionKept, w.waitingPod("x", hostAndZone...), "a", all)
			if len(w.gone) != 2 {
				t.Errorf("deleted %q", w.gone)
			}
		})
	}
}

// TestUnschedulableBound holds that no pod is deleted if too many deletions are remembered.
func TestUnschedulableBound(t *testing.T) {
	t.Parallel()
	w := newWaitingRoom(t)
	for i := range maxDeletions {
		w.u.deleted.Swap(client.ObjectKey{Namespace: "db", Name: strings.Repeat("x", i+1)}, deletion{})
	}
	w.reconcile(0, w.waitingPod("u", hostAndZone...), "a", "a1 b1 c1")
	w.want(0, "")
}
