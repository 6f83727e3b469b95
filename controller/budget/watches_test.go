// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	druidcommon "github.com/gardener/etcd-druid/api/common"
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestBudgetKeys checks which clusters are reconciled after a change of an object.
func TestBudgetKeys(t *testing.T) {
	t.Parallel()
	s, ctx := druid(t, "{}"), t.Context()
	etcd := owner.Key{Kind: "Etcd", Namespace: "shoot", Name: "main"}
	set := owner.Key{Kind: "StatefulSet", Namespace: "shoot", Name: "main"}
	s.reconcile() // the budget has its record
	compactor := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot", Name: "main-compactor-x", Labels: map[string]string{
		"app.kubernetes.io/managed-by": "etcd-druid", "app.kubernetes.io/part-of": "main",
	}}}
	for _, row := range []struct {
		name string
		got  keys
		want keys
	}{
		{"an Etcd", s.budget.ofEtcd(ctx, find[*druidv1alpha1.Etcd](s, "main")), keys{etcd}},
		{"its StatefulSet", s.budget.ofStatefulSet(ctx, find[*appsv1.StatefulSet](s, "main")), keys{set, etcd}},
		{"a StatefulSet of something else", s.budget.ofStatefulSet(ctx, &appsv1.StatefulSet{}), nil},
		{"a member's pod", s.budget.ofPod(ctx, find[*corev1.Pod](s, "main-1")), keys{etcd}},
		{"another pod that the budget counts", s.budget.ofPod(ctx, compactor), keys{etcd}},
		{"another pod", s.budget.ofPod(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot", Name: "web"}}), nil},
		{"the node of a member", s.budget.ofNode(ctx, find[*corev1.Node](s, find[*corev1.Pod](s, "main-1").Spec.NodeName)), keys{etcd}},
		{"another node", s.budget.ofNode(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other"}}), nil},
		{"a lease without an owner", s.budget.ofLease(ctx, find[*coordinationv1.Lease](s, "main-1")), nil},
		{"a budget", s.budget.ofBudget(ctx, find[*policyv1.PodDisruptionBudget](s, "main")), keys{etcd, etcd}},
		{"a budget elsewhere", s.budget.ofBudget(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "other"}}), nil},
		{"a policy", s.budget.ofPolicy(ctx, find[*v1alpha1.EtcdTopologyPolicy](s, "default")), keys{etcd}},
		{"the namespace", s.budget.ofNamespace(ctx, find[*corev1.Namespace](s, "shoot")), keys{etcd}},
		{"a Service", s.budget.ofService(ctx, find[*corev1.Service](s, "main-client")), keys{etcd}},
	} {
		if !slices.Equal(row.got, row.want) {
			t.Errorf("%s maps to %v, want %v", row.name, row.got, row.want)
		}
	}
}

// TestNodeChanged checks that only nodes that become lost, or are well again, lead to a reconciliation.
func TestNodeChanged(t *testing.T) {
	t.Parallel()
	node := func(status corev1.ConditionStatus, heartbeat time.Duration) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: status, LastHeartbeatTime: metav1.NewTime(controllertest.Now.Add(heartbeat)),
		}}}}
	}
	for _, row := range []struct {
		name          string
		before, after *corev1.Node
		want          bool
	}{
		{"a heartbeat", node("True", 0), node("True", time.Minute), false},
		{"cut off", node("True", 0), node("Unknown", 0), true},
		{"back", node("Unknown", 0), node("True", 0), true},
		{"its kubelet reports that it is not Ready", node("True", 0), node("False", 0), true},
		{"still not Ready", node("Unknown", 0), node("False", 0), false},
	} {
		if got := nodeChanged().Update(event.TypedUpdateEvent[*corev1.Node]{ObjectOld: row.before, ObjectNew: row.after}); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
}

// TestNodesAtTheStart checks that the nodes which exist at the start lead to no reconciliation, and that one which is
// created again later does.
func TestNodesAtTheStart(t *testing.T) {
	t.Parallel()
	for _, initial := range []bool{true, false} {
		if got := nodeChanged().Create(event.TypedCreateEvent[*corev1.Node]{Object: &corev1.Node{}, IsInInitialList: initial}); got == initial {
			t.Errorf("in the initial list %t: %t", initial, got)
		}
	}
	if !nodeChanged().Delete(event.TypedDeleteEvent[*corev1.Node]{Object: &corev1.Node{}}) {
		t.Error("a deletion is ignored")
	}
}

// listedPods counts the pods that lists return.
type listedPods struct {
	client.Reader
	pods *int
}

func (l listedPods) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := l.Reader.List(ctx, list, opts...)
	if pods, is := list.(*corev1.PodList); is {
		*l.pods += len(pods.Items)
	}
	return err
}

// TestNodeReadsItsPods checks that an event of a node lists the pods of that node by the field that is indexed, and no
// others.
func TestNodeReadsItsPods(t *testing.T) {
	t.Parallel()
	var objects observetest.Objects
	for i := range 1000 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: fmt.Sprint(i)}, Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%100)}}
		if got := nodeOf(pod); !slices.Equal(got, []string{pod.Spec.NodeName}) {
			t.Fatalf("pod %d is indexed by %v", i, got)
		}
		objects = append(objects, pod)
	}
	listed := 0
	b := &Reconciler{Reader: &observe.Reader{Reader: listedPods{objects, &listed}}}
	b.ofNode(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-7"}})
	if listed != 10 {
		t.Errorf("%d pods are listed for a node with 10", listed)
	}
}

// TestEtcdChanged checks that etcd-druid's confirmation of its conditions every 15 seconds
// is ignored, except for the first one after a longer time.
func TestEtcdChanged(t *testing.T) {
	t.Parallel()
	at := func(after time.Duration, status druidv1alpha1.ConditionStatus) *druidv1alpha1.Etcd {
		return &druidv1alpha1.Etcd{Status: druidv1alpha1.EtcdStatus{Conditions: []druidv1alpha1.Condition{{
			Type: druidv1alpha1.ConditionTypeBackupReady, Status: status, LastUpdateTime: metav1.NewTime(controllertest.Now.Add(after)),
		}}}}
	}
	acts := at(15*time.Second, "True")
	acts.Status.LastOperation = &druidcommon.LastOperation{State: druidv1alpha1.LastOperationStateSucceeded}
	labelled := at(0, "True")
	labelled.Labels = map[string]string{"a": "b"}
	for _, row := range []struct {
		name  string
		after *druidv1alpha1.Etcd
		want  bool
	}{
		{"confirmed", at(15*time.Second, "True"), false},
		{"another status", at(15*time.Second, "False"), true},
		{"confirmed after etcd-druid was unavailable", at(3*time.Minute, "True"), true},
		{"a label", labelled, true},
		{"etcd-druid has acted", acts, true},
		{"no conditions", &druidv1alpha1.Etcd{}, true},
	} {
		if got := etcdChanged().Update(event.TypedUpdateEvent[*druidv1alpha1.Etcd]{ObjectOld: at(0, "True"), ObjectNew: row.after}); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestPodChanged(t *testing.T) {
	t.Parallel()
	s := druid(t, "")
	before := find[*corev1.Pod](s, "main-0")
	for _, row := range []struct {
		name string
		edit func(*corev1.Pod)
		want bool
	}{
		{"another condition", func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "Extra"})
		}, false},
		{"another version only", func(p *corev1.Pod) { p.ResourceVersion = "9" }, false},
		{"not Ready", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		{"being deleted", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: controllertest.Now} }, true},
		{"its etcd restarted", func(p *corev1.Pod) {
			p.Status.ContainerStatuses[1].State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(controllertest.Now)}
		}, true},
		{"its etcd crashed", func(p *corev1.Pod) { p.Status.ContainerStatuses[1].State.Running = nil }, true},
		{"a label", func(p *corev1.Pod) { p.Labels = nil }, true},
	} {
		after := before.DeepCopy()
		row.edit(after)
		if got := podChanged().Update(event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: before, ObjectNew: after}); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}
