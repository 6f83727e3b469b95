// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestWarnModeChangesNothing checks that mode Warn changes nothing, and that an Event reports
// what mode Enforce would change.
func TestWarnModeChangesNothing(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Mode = v1alpha1.ModeWarn })
	one := intstr.FromInt32(1)
	c := start(t, ns, "warned", clusters.Spec{
		Flavour: clusters.Plain, Size: 3, Ephemeral: true, Budget: &clusters.Budget{MinAvailable: &one},
	})
	noTerms(t, c)
	awaitEvent(t, c, "would")
	budgetUnchanged(t, ns, "warned")
}

// TestOptedOutIsLeftAlone checks that an enforced policy doesn't change a cluster that opted
// out.
func TestOptedOutIsLeftAlone(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, nil)
	one := intstr.FromInt32(1)
	c := start(t, ns, "out", clusters.Spec{
		Flavour: clusters.Plain, Size: 3, Ephemeral: true, Budget: &clusters.Budget{MinAvailable: &one},
		Annotations: map[string]string{v1alpha1.TopologyPolicyAnnotation: v1alpha1.OptOut},
	})
	noTerms(t, c)
	budgetUnchanged(t, ns, "out")
}

// TestBudgetsThatCannotBeKept checks that a budget that selects other pods or only some members
// isn't changed while it is strict enough. The policy's status shows why.
func TestBudgetsThatCannotBeKept(t *testing.T) {
	operating(t, 3)
	ns, p := governed(t, nil)
	start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true})
	one := &metav1.LabelSelector{MatchLabels: map[string]string{"statefulset.kubernetes.io/pod-name": "main-0"}}
	for reason, spec := range map[string]policyv1.PodDisruptionBudgetSpec{
		"BudgetSelectsAll": {Selector: &metav1.LabelSelector{}, MaxUnavailable: new(intstr.FromInt32(1))},
		"BudgetPartial":    {Selector: one, MaxUnavailable: new(intstr.FromInt32(1))},
	} {
		t.Run(reason, func(t *testing.T) {
			b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "theirs"}, Spec: spec}
			if err := kube.Create(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { remove(t, b) })
			eventually(t, reason+" in the policy's status", func(ctx context.Context) (string, bool, error) {
				err := kube.Get(ctx, client.ObjectKeyFromObject(p), p)
				seen := fmt.Sprintf("%+v", p.Status.Clusters)
				return seen, strings.Contains(seen, reason), err
			})
			budgetUnchanged(t, ns, "theirs")
		})
	}
}

// TestBudgetsThatAreKeptAtANumber checks budgets with a percentage or with AlwaysAllow. Their
// minAvailable is managed as a number.
func TestBudgetsThatAreKeptAtANumber(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, nil)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true})
	app := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "main"}}
	third, always := intstr.FromString("34%"), policyv1.AlwaysAllow
	for name, spec := range map[string]policyv1.PodDisruptionBudgetSpec{
		"percentage":  {Selector: app, MinAvailable: &third},
		"alwaysallow": {Selector: app, MinAvailable: new(intstr.FromInt32(1)), UnhealthyPodEvictionPolicy: &always},
	} {
		t.Run(name, func(t *testing.T) {
			b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: spec}
			if err := kube.Create(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { remove(t, b) })
			awaitMin(t, c, 2, "AllReady")
		})
	}
}

func noTerms(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	for _, m := range members(t, c) {
		if m.Pod.Spec.Affinity != nil || len(m.Pod.Spec.TopologySpreadConstraints) > 0 {
			t.Errorf("pod %s has scheduling terms: %v %v", m.Pod.Name, m.Pod.Spec.Affinity, m.Pod.Spec.TopologySpreadConstraints)
		}
	}
}

// budgetUnchanged checks that the spec of a budget is unchanged, and that it has no annotation
// of ours.
func budgetUnchanged(t *testing.T, ns, name string) {
	t.Helper()
	var b policyv1.PodDisruptionBudget
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, &b); err != nil {
		t.Fatal(err)
	}
	if b.Generation != 1 || b.Annotations[v1alpha1.BudgetValueAnnotation] != "" {
		t.Errorf("budget %s/%s was changed: generation %d, %v", ns, name, b.Generation, b.Annotations)
	}
}

// awaitEvent waits for an Event about a cluster's owner with these texts.
func awaitEvent(t *testing.T, c *clusters.Cluster, texts ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("an Event about %s with %q", c, texts), func(ctx context.Context) (string, bool, error) {
		var events corev1.EventList
		err := kube.List(ctx, &events, client.InNamespace(c.Namespace))
		for _, e := range events.Items {
			if e.InvolvedObject.Name == c.Full() && lacking(e.Message, texts) == "" {
				return "", true, nil
			}
		}
		return fmt.Sprintf("%d other Events", len(events.Items)), false, err
	})
}
