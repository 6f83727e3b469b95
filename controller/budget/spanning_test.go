// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// spanning returns a cluster of one StatefulSet per member, each Ready, without a budget.
func spanning(t *testing.T, names ...string) *stage {
	t.Helper()
	s := plain(t, "{disruption: {createMissing: true}}")
	removeBudget(s, "etcd")
	sts, pod := find[*appsv1.StatefulSet](s, "etcd").DeepCopy(), find[*corev1.Pod](s, "etcd-0").DeepCopy()
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
		switch o.(type) {
		case *appsv1.StatefulSet, *corev1.Pod:
			return true
		}
		return false
	})
	for _, name := range names {
		addMember(s, sts.DeepCopy(), pod.DeepCopy(), name, names)
	}
	s.key.Name = names[0]
	return s
}

// addMember adds a StatefulSet of one member that lists others.
func addMember(s *stage, sts *appsv1.StatefulSet, pod *corev1.Pod, name string, listed []string) {
	var entries []string
	for _, other := range listed {
		entries = append(entries, fmt.Sprintf("%s=http://%s:2380", other, other))
	}
	own := map[string]string{"member": name}
	sts.Name, sts.UID, sts.Spec.Replicas, sts.Status.Replicas = name, types.UID(name), new(int32(1)), 1
	sts.Spec.Selector, sts.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: own}, own
	sts.Spec.Template.Spec.Containers[0].Args = []string{
		"--name=" + name, "--initial-advertise-peer-urls=http://" + name + ":2380", "--initial-cluster=" + strings.Join(entries, ","),
	}
	pod.Name, pod.UID = name+"-0", types.UID(name+"-0")
	pod.Labels = map[string]string{"member": name, appsv1.StatefulSetPodNameLabel: pod.Name}
	pod.OwnerReferences[0].Name, pod.OwnerReferences[0].UID = name, sts.UID
	s.Put(sts)
	s.Put(pod)
}

func (s *stage) reconcileAll(names ...string) {
	s.t.Helper()
	for range 2 {
		for _, name := range names {
			s.key.Name = name
			s.reconcile()
			s.onceEach()
		}
	}
}

// onceEach checks that no pod is selected by two budgets.
func (s *stage) onceEach() {
	s.t.Helper()
	for _, o := range s.Objects {
		pod, is := o.(*corev1.Pod)
		if n := len(s.budgetsOf(pod)); is && n > 1 {
			s.t.Errorf("%d budgets select %s", n, pod.Name)
		}
	}
}

func (s *stage) budgetsOf(pod *corev1.Pod) (names []string) {
	for _, o := range s.Objects {
		pdb, is := o.(*policyv1.PodDisruptionBudget)
		if !is || pod == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			names = append(names, pdb.Name)
		}
	}
	return names
}

// selected returns the pods that a budget selects.
func (s *stage) selected(budget string) string {
	var pods []string
	for _, o := range s.Objects {
		if pod, is := o.(*corev1.Pod); is && slices.Contains(s.budgetsOf(pod), budget) {
			pods = append(pods, pod.Name)
		}
	}
	slices.Sort(pods)
	return strings.Join(pods, " ")
}

// expectOne checks that one budget selects the members, whichever of the workloads is reconciled.
func (s *stage) expectOne(want, pods string) {
	s.t.Helper()
	s.onceEach()
	name, _, _ := strings.Cut(want, " ")
	if got := s.budgets(); !slices.Equal(got, []string{want}) || s.selected(name) != pods {
		s.t.Errorf("budgets are %q, which select %s; want %q for %s", got, s.selected(name), want, pods)
	}
}

func delete1[T client.Object](s *stage, name string) {
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
		_, is := o.(T)
		return is && o.GetName() == name
	})
}

// TestOneBudgetOverWorkloads checks that a cluster of one StatefulSet per member has one budget, that
// grows with the cluster and outlives the StatefulSet that it has its name from.
func TestOneBudgetOverWorkloads(t *testing.T) {
	t.Parallel()
	s := spanning(t, "a", "b", "c")
	s.reconcileAll("a", "b", "c")
	s.expectOne("a-quorum minAvailable=2 AllReady", "a-0 b-0 c-0")
	budget := find[*policyv1.PodDisruptionBudget](s, "a-quorum")
	if len(budget.OwnerReferences) != 3 {
		t.Errorf("its owners are %v", budget.OwnerReferences)
	}

	delete1[*appsv1.StatefulSet](s, "a")
	delete1[*corev1.Pod](s, "a-0")
	s.reconcileAll("a", "b", "c")
	s.advance(time.Hour)
	s.reconcileAll("a", "b", "c")
	s.expectOne("a-quorum minAvailable=2 MemberDown", "b-0 c-0")
}

// TestUnknownListKeepsItsMember checks that StatefulSets of one member whose lists may be in a Secret get
// budgets that keep it, and that these become one as soon as the lists are in the templates.
func TestUnknownListKeepsItsMember(t *testing.T) {
	t.Parallel()
	s := spanning(t, "a", "b", "c")
	lists := map[string][]string{}
	for _, name := range []string{"a", "b", "c"} {
		change(s, name, func(sts *appsv1.StatefulSet) {
			c := &sts.Spec.Template.Spec.Containers[0]
			c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "tuning"}}}}
			lists[name], c.Args = c.Args, []string{"--name=" + name}
		})
	}
	s.reconcileAll("a", "b", "c")
	want := []string{"a-quorum minAvailable=1 SizeUnknown", "b-quorum minAvailable=1 SizeUnknown", "c-quorum minAvailable=1 SizeUnknown"}
	if got := s.budgets(); !slices.Equal(got, want) {
		t.Errorf("budgets are %q, want %q", got, want)
	}
	if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); !strings.Contains(got, "Secret store/tuning is not read") || !strings.Contains(got, "kubectl annotate --overwrite statefulset/a -n store kubectl-etcd.dev/size=") {
		t.Errorf("Events are %s", got)
	}
	for name, args := range lists {
		change(s, name, func(sts *appsv1.StatefulSet) { sts.Spec.Template.Spec.Containers[0].Args = args })
	}
	s.reconcileAll("a", "b", "c")
	s.advance(time.Hour)
	s.reconcileAll("a", "b", "c")
	s.expectOne("a-quorum minAvailable=2 AllReady", "a-0 b-0 c-0")
}

// TestBudgetsOfWorkloadsBecomeOne checks that the budgets that were created for single workloads
// become one as soon as those list each other, and that no member is without one meanwhile.
func TestBudgetsOfWorkloadsBecomeOne(t *testing.T) {
	t.Parallel()
	s := spanning(t, "a", "b", "c")
	lists := map[string][]string{}
	for _, name := range []string{"a", "b", "c"} {
		change(s, name, func(o *appsv1.StatefulSet) {
			c := &o.Spec.Template.Spec.Containers[0]
			lists[name] = c.Args
			c.Args = append(slices.Clone(c.Args[:2]), "--initial-cluster="+name+"=http://"+name+":2380,x"+name+"=http://elsewhere:2380")
		})
	}
	s.reconcileAll("a", "b", "c")
	if got := s.budgets(); len(got) != 3 || !strings.HasPrefix(got[0], "a-quorum minAvailable=2 QuorumAtRisk") {
		t.Fatalf("budgets are %q: a workload of one member that lists peers is no cluster of one", got)
	}
	for name, list := range lists {
		change(s, name, func(o *appsv1.StatefulSet) { o.Spec.Template.Spec.Containers[0].Args = list })
	}
	for _, name := range []string{"c", "b", "a", "b", "c"} {
		s.key = owner.Key{Kind: "StatefulSet", Namespace: s.key.Namespace, Name: name}
		s.reconcile()
		for _, pod := range []string{"a-0", "b-0", "c-0"} {
			if len(s.budgetsOf(find[*corev1.Pod](s, pod))) == 0 {
				t.Errorf("no budget selects %s after %s", pod, name)
			}
		}
	}
	s.advance(time.Hour)
	s.reconcileAll("a", "b", "c")
	s.expectOne("a-quorum minAvailable=2 AllReady", "a-0 b-0 c-0")
}

// TestAuthorsBudgetOverWorkloads checks that an author's budget over all workloads is adopted, and
// that budgets over single ones are made stricter and stay alone.
func TestAuthorsBudgetOverWorkloads(t *testing.T) {
	t.Parallel()
	author := func(name string, members ...string) string {
		return fmt.Sprintf(`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, namespace: store, uid: %s},
spec: {minAvailable: 0, selector: {matchExpressions: [{key: member, operator: In, values: [%s]}]}}}`, name, name, strings.Join(members, ", "))
	}
	s := spanning(t, "a", "b", "c")
	s.Objects = append(s.Objects, controllertest.Parse(t, author("all", "a", "b", "c"))...)
	s.reconcileAll("a", "b", "c")
	s.expectOne("all minAvailable=2 AllReady", "a-0 b-0 c-0")

	s = spanning(t, "a", "b", "c")
	for _, name := range []string{"a", "b", "c"} {
		s.Objects = append(s.Objects, controllertest.Parse(t, author(name, name))...)
	}
	s.reconcileAll("a", "b", "c")
	s.onceEach()
	if got := s.budgets(); len(got) != 3 {
		t.Errorf("budgets are %q", got)
	}
}

// TestBudgetOutlivesLeader checks that a budget that was kept for a StatefulSet which leaves its
// cluster goes on with the others and is never below the quorum of their voters.
func TestBudgetOutlivesLeader(t *testing.T) {
	t.Parallel()
	author := `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: all, namespace: store, uid: all},
spec: {minAvailable: 0, selector: {matchExpressions: [{key: member, operator: In, values: [a, b, c]}]}}}`
	for name, leave := range map[string]func(*stage){
		"deleted": func(s *stage) {
			delete1[*appsv1.StatefulSet](s, "a")
			delete1[*corev1.Pod](s, "a-0")
		},
		"denied": func(s *stage) { change(s, "a", annotated[*appsv1.StatefulSet](v1alpha1.NotEtcd)) },
	} {
		s := spanning(t, "a", "b", "c")
		s.Objects = append(s.Objects, controllertest.Parse(t, author)...)
		s.reconcileAll("a", "b", "c")
		s.expectOne("all minAvailable=2 AllReady", "a-0 b-0 c-0")
		leave(s)
		for range 3 {
			for _, key := range []string{"a", "b", "c"} {
				s.key.Name = key
				s.reconcile()
				if got := s.budgets(); !strings.HasPrefix(got[0], "all minAvailable=2 ") && !strings.HasPrefix(got[0], "all minAvailable=3 ") {
					t.Errorf("%s: budgets are %q after %s", name, got, key)
				}
			}
			s.advance(time.Hour)
		}
		change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff })
		s.reconcileAll("a", "b", "c")
		s.advance(time.Hour)
		s.reconcileAll("a", "b", "c")
		if got := s.budgets(); !slices.Equal(got, []string{"all minAvailable=2 -"}) {
			t.Errorf("%s: released to %q", name, got)
		}
	}
}

// TestPartialBudgetChangesHands checks that a budget over members that have left the cluster it was
// kept for is handed to the cluster that they are in now, and not restored below its quorum.
func TestPartialBudgetChangesHands(t *testing.T) {
	t.Parallel()
	s := spanning(t, "a", "b", "c", "d")
	s.Objects = append(s.Objects, controllertest.Parse(t, `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: some, namespace: store, uid: some},
spec: {minAvailable: 0, selector: {matchExpressions: [{key: member, operator: In, values: [b, c, d]}]}}}`)...)
	s.key.Name = "a"
	s.reconcile()
	change(s, "a", func(o *appsv1.StatefulSet) {
		o.Spec.Template.Spec.Containers[0].Args = []string{"--name=a", "--initial-advertise-peer-urls=http://a:2380", "--initial-cluster=a=http://a:2380"}
	})
	for _, name := range []string{"b", "c", "d"} {
		change(s, name, func(o *appsv1.StatefulSet) {
			args := o.Spec.Template.Spec.Containers[0].Args
			args[2] = "--initial-cluster=b=http://b:2380,c=http://c:2380,d=http://d:2380"
		})
	}
	before := find[*policyv1.PodDisruptionBudget](s, "some").Spec.MinAvailable.IntValue()
	s.key.Name = "a"
	s.reconcile()
	after := find[*policyv1.PodDisruptionBudget](s, "some")
	if after.Spec.MinAvailable.IntValue() < before || before == 0 || after.Annotations[v1alpha1.BudgetForAnnotation] != "StatefulSet/b" {
		t.Errorf("from %d to %d, kept for %q", before, after.Spec.MinAvailable.IntValue(), after.Annotations[v1alpha1.BudgetForAnnotation])
	}
}
