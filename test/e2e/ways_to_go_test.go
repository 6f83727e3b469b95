// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// The tests of this file have members go in the ways of docs/rules/eviction.md that nothing of this project
// can hold. They check that the way is not held, and that the other members stay guarded.

// TestWaysToGoPreemption has the scheduler preempt a member for a pod that is more important.
func TestWaysToGoPreemption(t *testing.T) {
	alone(t)
	c, _ := guardedMembers(t)
	first := members(t, c)[0].Pod
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}, Value: 1000}
	if err := kube.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, class) })
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "important"}, Spec: corev1.PodSpec{
		PriorityClassName: class.Name,
		NodeSelector:      map[string]string{corev1.LabelHostname: first.Spec.NodeName},
		Containers:        []corev1.Container{{Name: "sleep", Image: c.ToolImage(), Command: []string{"sleep", "infinity"}}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: c.MemberLabels()},
		}}}},
	}}
	// The API server reads classes from a cache.
	retry(t, "a pod of a class that is new", func(ctx context.Context) error { return kube.Create(ctx, other) })
	t.Cleanup(func() { remove(t, other) })
	gone(t, c, first)
}

// TestWaysToGoNoExecute gives the node of a member a taint that ends its pods.
func TestWaysToGoNoExecute(t *testing.T) {
	alone(t)
	c, _ := guardedMembers(t)
	first := members(t, c)[0].Pod
	taintNode(t, first.Spec.NodeName, corev1.Taint{Key: "kubectl-etcd.dev/test", Effect: corev1.TaintEffectNoExecute})
	gone(t, c, first)
}

// TestWaysToGoNodeDeleted deletes the Node object of a member. Its pod stays Ready until the garbage collector deletes
// it, and no other member may be evicted from the first moment on. When the object is back, the members are evicted as
// before.
func TestWaysToGoNodeDeleted(t *testing.T) {
	alone(t)
	c, _ := guardedMembers(t)
	first := members(t, c)[0].Pod
	restore := deleteNode(t, first.Spec.NodeName)
	var now corev1.Pod
	for _, name := range []string{c.Name + "-1", c.Name + "-2"} {
		answer, err := c.MayEvict(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Code != http.StatusTooManyRequests || !strings.Contains(answer.Message, "node "+first.Spec.NodeName+" does not exist") {
			t.Errorf("%s beside %s: %d %s", name, first.Name, answer.Code, answer.Message)
		}
	}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(&first), &now); err != nil || now.UID != first.UID || now.DeletionTimestamp != nil {
		t.Errorf("%s has gone already, so the answers show nothing: %v", first.Name, err)
	}
	awaitMin(t, c, 3, budget.MemberNotReady.Name())
	restore()
	eventually(t, "a member that may be evicted", func(ctx context.Context) (string, bool, error) {
		answer, err := c.MayEvict(ctx, c.Name+"-1")
		return answer.Message, answer.Code == http.StatusCreated, err
	})
	works(t, c)
}

// gone waits until a member's pod has gone, checks that no other one may be evicted as long as it is not
// back, and that the cluster works.
func gone(t *testing.T, c *clusters.Cluster, pod corev1.Pod) {
	t.Helper()
	eventually(t, pod.Name+" to go", func(ctx context.Context) (string, bool, error) {
		var now corev1.Pod
		err := client.IgnoreNotFound(kube.Get(ctx, client.ObjectKeyFromObject(&pod), &now))
		return "it is there", err == nil && now.UID != pod.UID, err
	})
	var now corev1.Pod
	for _, name := range []string{c.Name + "-1", c.Name + "-2"} {
		answer, err := c.MayEvict(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		err = client.IgnoreNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(&pod), &now))
		back := err == nil && slices.ContainsFunc(now.Status.Conditions, func(p corev1.PodCondition) bool {
			return p.Type == corev1.PodReady && p.Status == corev1.ConditionTrue
		})
		if !back && answer.Code != http.StatusTooManyRequests {
			t.Errorf("%s beside %s: %d %s", name, pod.Name, answer.Code, answer.Message)
		}
	}
	works(t, c)
}

// TestWaysToGoOwner deletes the StatefulSet. Its pods go without a refusal, or stay with --cascade=orphan. The
// volume claims stay.
func TestWaysToGoOwner(t *testing.T) {
	for _, way := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		t.Run(string(way), func(t *testing.T) {
			c, _ := guarded(t)
			before := claimsOf(t, c.Namespace)
			sts, err := c.StatefulSet(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := kube.Delete(t.Context(), sts, client.PropagationPolicy(way)); err != nil {
				t.Fatal(err)
			}
			want := 0
			if way == metav1.DeletePropagationOrphan {
				want = 3
			}
			eventually(t, "the StatefulSet to go", func(ctx context.Context) (string, bool, error) {
				err := kube.Get(ctx, client.ObjectKeyFromObject(sts), sts)
				return "it is there", err != nil && client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
			})
			eventually(t, fmt.Sprintf("%d pods", want), func(ctx context.Context) (string, bool, error) {
				var pods corev1.PodList
				err := kube.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels(c.MemberLabels()))
				return fmt.Sprintf("%d pods", len(pods.Items)), len(pods.Items) == want, err
			})
			if want > 0 {
				works(t, c)
			}
			if after := claimsOf(t, c.Namespace); !maps.Equal(after, before) {
				t.Errorf("the volume claims are %v, want %v", after, before)
			}
		})
	}
}

// TestReleasedMembersAreGuarded takes the label away that the StatefulSet of two members selects, so that it
// releases their pods. One of them may be evicted, and the other may not.
func TestReleasedMembersAreGuarded(t *testing.T) {
	c, _ := guarded(t)
	label := fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, slices.Collect(maps.Keys(c.MemberLabels()))[0])
	for _, name := range []string{"main-1", "main-2"} {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}}
		if err := kube.Patch(t.Context(), &pod, client.RawPatch(types.MergePatchType, []byte(label))); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+" to be released", func(ctx context.Context) (string, bool, error) {
			err := kube.Get(ctx, client.ObjectKeyFromObject(&pod), &pod)
			return fmt.Sprint(pod.OwnerReferences), err == nil && len(pod.OwnerReferences) == 0, err
		})
	}
	printed, _ := plugin(t, 0, "list", "-n", c.Namespace)
	wants(t, printed, "3/3")
	if answer, err := c.Evict(t.Context(), "main-1"); err != nil || answer.Code != http.StatusCreated {
		t.Fatalf("main-1: %d %s, %v", answer.Code, answer.Message, err)
	}
	if answer, err := c.MayEvict(t.Context(), "main-2"); err != nil || answer.Code != http.StatusTooManyRequests {
		t.Errorf("main-2: %d %s, %v", answer.Code, answer.Message, err)
	}
	works(t, c)
}
