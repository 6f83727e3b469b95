// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestRolloutCuresFirst changes the template of a StatefulSet while its lowest member is frozen.
// That member restarts first, although it is the last in the order of ordinals, and then the others,
// one at a time. A quorum is Ready throughout.
func TestRolloutCuresFirst(t *testing.T) {
	for name, ordered := range map[string]bool{"parallel": false, "ordered": true} {
		t.Run(name, func(t *testing.T) {
			operating(t, 3)
			ns, _ := governed(t, guardRollouts)
			c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Plain: clusters.PlainSpec{Ordered: ordered}, Mutate: probed})
			all := members(t, c)
			freeze(t, all[0].Pod.UID)
			awaitUnready(t, all[0].Pod.Name, c)
			quorumStays(t, c, 2)
			changeTemplate(t, c, stamp)
			restarted := awaitRestarts(t, c, all)
			if want := []int{0, 2, 1}; !slices.Equal(restarted, want) {
				t.Errorf("the members restarted in the order %v, want %v", restarted, want)
			}
			rolledOut(t, c)
			works(t, c)
		})
	}
}

// TestRolloutCuresMemberThatHangs is the same with a readiness probe that only connects: the pod of the frozen member
// stays Ready. etcd-webhook asks the members.
func TestRolloutCuresMemberThatHangs(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) {
		guardRollouts(s)
		s.Disruption.CreateMissing, s.Disruption.AskMembers = true, true
	})
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Mutate: connectingProbe})
	awaitMin(t, c, 2, "AllReady")
	all := members(t, c)
	freeze(t, all[0].Pod.UID)
	awaitMin(t, c, 3, "")
	changeTemplate(t, c, stamp)
	restarted := awaitRestarts(t, c, all)
	if want := []int{0, 2, 1}; !slices.Equal(restarted, want) {
		t.Errorf("the members restarted in the order %v, want %v", restarted, want)
	}
	rolledOut(t, c)
	works(t, c)
}

// guardRollouts enables the guard of rollouts, which is off by default.
func guardRollouts(s *v1alpha1.EtcdTopologyPolicySpec) { s.Rollout.Guard = v1alpha1.ModeEnforce }

// TestRolloutStopsAtTheFirstFailure gives a StatefulSet a template that can't start. One member fails,
// and the others stay, whatever the limit. The previous template restarts the failed one alone.
func TestRolloutStopsAtTheFirstFailure(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) {
		guardRollouts(s)
		s.Rollout.HoldLimit = &metav1.Duration{Duration: 2 * time.Second}
	})
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	all := members(t, c)
	quorumStays(t, c, 2)
	before := statefulSet(t, c).Spec.Template
	changeTemplate(t, c, func(template *corev1.PodTemplateSpec) {
		container := &template.Spec.Containers[0]
		container.Args = append(container.Args, "--no-such-flag")
	})
	awaitReason(t, c, rollout.UpdatedNotReady)
	stays(t, func() {
		if others := otherPods(t, c, all[:2]); len(others) > 0 {
			t.Fatalf("%q restarted with a template that can't start", others)
		}
	})
	awaitEvent(t, c, "main-2 is not ready with the new template", "correct the template")
	works(t, c)
	changeTemplate(t, c, func(template *corev1.PodTemplateSpec) { *template = before })
	rolledOut(t, c)
	if others := otherPods(t, c, all[:2]); len(others) > 0 {
		t.Errorf("%q restarted, although they had the template", others)
	}
}

// TestRolloutWaitsForBackups holds a rollout until backups succeed. A client that writes the strategy
// past the hold gets it back. When the policy is switched off, nothing stays held.
func TestRolloutWaitsForBackups(t *testing.T) {
	operating(t, 3)
	ns, p := governed(t, guardRollouts)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "backup"}}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-2 * time.Hour)}
	if err := kube.Create(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Annotations: map[string]string{
		v1alpha1.BackupLeaseAnnotation: "backup", v1alpha1.BackupMaxAgeAnnotation: "1h",
	}})
	all := members(t, c)
	changeTemplate(t, c, stamp)
	awaitReason(t, c, policy.BackupFailing)
	reset := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"kubectl-etcd.dev/rollout-value":null}},"spec":{"updateStrategy":{"rollingUpdate":null}}}`))
	if err := kube.Patch(t.Context(), statefulSet(t, c), reset); err != nil {
		t.Fatal(err)
	}
	if sts := statefulSet(t, c); *sts.Spec.UpdateStrategy.RollingUpdate.Partition != 3 || !strings.Contains(sts.Annotations[v1alpha1.RolloutValueAnnotation], "3") {
		t.Errorf("the hold was written over: %+v %v", sts.Spec.UpdateStrategy, sts.Annotations)
	}
	if others := otherPods(t, c, all); len(others) > 0 {
		t.Errorf("%q restarted while backups fail", others)
	}
	quorumStays(t, c, 2)
	before := lease.DeepCopy()
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
	if err := kube.Patch(t.Context(), lease, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	rolledOut(t, c)
	// No budget selects the members.
	last := all[0].Pod
	if records := statefulSet(t, c).Annotations[v1alpha1.EvictionsAnnotation]; !strings.HasPrefix(records, last.Name+"="+string(last.UID)+"@") {
		t.Errorf("the StatefulSet records %q, want %s, which restarted last", records, last.Name)
	}

	before = lease.DeepCopy()
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-2 * time.Hour)}
	if err := kube.Patch(t.Context(), lease, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	changeTemplate(t, c, stamp)
	awaitReason(t, c, policy.BackupFailing)
	off := p.DeepCopy()
	p.Spec.Mode = v1alpha1.ModeOff
	if err := kube.Patch(t.Context(), p, client.MergeFrom(off)); err != nil {
		t.Fatal(err)
	}
	rolledOut(t, c)
}

// TestHeldRollout holds a rollout while backups fail, and releases it by hand. It is the only test of
// rollouts in the set of every change, which has to use each permission of etcd-webhook.
func TestHeldRollout(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, guardRollouts)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Annotations: map[string]string{
		v1alpha1.BackupLeaseAnnotation: "backup", v1alpha1.BackupMaxAgeAnnotation: "1h",
	}})
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "backup"}}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-2 * time.Hour)}
	if err := kube.Create(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	all := members(t, c)
	changeTemplate(t, c, stamp)
	awaitReason(t, c, policy.BackupFailing)
	if others := otherPods(t, c, all); len(others) > 0 {
		t.Errorf("%q restarted while backups fail", others)
	}
	release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"kubectl-etcd.dev/rollout":"release: the store is gone for good"}}}`))
	if err := kube.Patch(t.Context(), statefulSet(t, c), release); err != nil {
		t.Fatal(err)
	}
	awaitEvent(t, c, "the store is gone for good")
	rolledOut(t, c)
}

// TestRolloutRecreated deletes a StatefulSet without its pods, and creates it again with another
// template. The members restart one at a time, the frozen one first.
func TestRolloutRecreated(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, guardRollouts)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Mutate: probed})
	all := members(t, c)
	freeze(t, all[0].Pod.UID)
	awaitUnready(t, all[0].Pod.Name, c)
	quorumStays(t, c, 2)
	old := statefulSet(t, c)
	if err := kube.Delete(t.Context(), old, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	recreated := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: old.Namespace, Name: old.Name, Labels: old.Labels, Annotations: old.Annotations}, Spec: old.Spec}
	stamp(&recreated.Spec.Template)
	eventually(t, "the StatefulSet to be created again", func(ctx context.Context) (string, bool, error) {
		created := recreated.DeepCopy()
		err := kube.Create(ctx, created)
		if err == nil && created.Annotations[v1alpha1.RolloutValueAnnotation] == "" {
			t.Fatalf("the rollout is not held: %v", created.Annotations)
		}
		return fmt.Sprint(err), err == nil, nil
	})
	restarted := awaitRestarts(t, c, all)
	if want := []int{0, 2, 1}; !slices.Equal(restarted, want) {
		t.Errorf("the members restarted in the order %v, want %v", restarted, want)
	}
	rolledOut(t, c)
	works(t, c)
}

// TestRolloutDruid changes the requests of an Etcd's members, as a vertical autoscaler does, while a
// member is frozen. etcd-druid writes the strategy back at each reconciliation, and the rollout stays
// held. The frozen member restarts first.
func TestRolloutDruid(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, guardRollouts)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 3})
	all := members(t, c)
	freeze(t, all[1].Pod.UID)
	awaitUnready(t, all[1].Pod.Name, c)
	quorumStays(t, c, 2)
	etcd, err := c.Etcd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := etcd.DeepCopy()
	etcd.Spec.Etcd.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("40Mi")}}
	if err := kube.Patch(t.Context(), etcd, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if err := c.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	restarted := awaitRestarts(t, c, all, func() { _ = c.Reconcile(t.Context()) })
	if restarted[0] != 1 {
		t.Errorf("the members restarted in the order %v, want the frozen one first", restarted)
	}
	rolledOut(t, c)
	works(t, c)
}

// TestRolloutContinues kills the replica of etcd-webhook that leads in the middle of a rollout.
func TestRolloutContinues(t *testing.T) {
	alone(t)
	ns, _ := governed(t, guardRollouts)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	all := members(t, c)
	quorumStays(t, c, 2)
	changeTemplate(t, c, stamp)
	eventually(t, "the first member to restart", func(context.Context) (string, bool, error) {
		found, err := c.Members(t.Context())
		return "", err == nil && len(found) == 3 && found[2].Pod.UID != all[2].Pod.UID, nil
	})
	var election coordinationv1.Lease
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "kubectl-etcd-system", Name: "etcd-webhook.kubectl-etcd.dev"}, &election); err != nil {
		t.Fatal(err)
	}
	leader, _, _ := strings.Cut(*election.Spec.HolderIdentity, "_")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kubectl-etcd-system", Name: leader}}
	if err := kube.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	rolledOut(t, c)
	works(t, c)
}

// probed gives etcd's container a readiness probe that a frozen member fails.
func probed(sts *appsv1.StatefulSet) {
	for i := range sts.Spec.Template.Spec.Containers {
		if c := &sts.Spec.Template.Spec.Containers[i]; c.Name == "etcd" && c.ReadinessProbe == nil {
			c.ReadinessProbe = c.LivenessProbe.DeepCopy()
			c.ReadinessProbe.InitialDelaySeconds, c.ReadinessProbe.PeriodSeconds, c.ReadinessProbe.FailureThreshold = 1, 5, 3
		}
	}
}

// stamp changes a template without an effect on etcd.
func stamp(template *corev1.PodTemplateSpec) {
	metav1.SetMetaDataAnnotation(&template.ObjectMeta, "stamp", time.Now().Format(time.RFC3339Nano))
}

func statefulSet(t *testing.T, c *clusters.Cluster) *appsv1.StatefulSet {
	t.Helper()
	var sts appsv1.StatefulSet
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: c.Full()}, &sts); err != nil {
		t.Fatal(err)
	}
	return &sts
}

// changeTemplate changes the template until admission has reviewed the write.
func changeTemplate(t *testing.T, c *clusters.Cluster, change func(*corev1.PodTemplateSpec)) {
	t.Helper()
	sts := statefulSet(t, c)
	before := sts.DeepCopy()
	change(&sts.Spec.Template)
	if err := kube.Patch(t.Context(), sts, client.StrategicMergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if sts.Annotations[v1alpha1.RolloutValueAnnotation] == "" {
		t.Fatalf("the rollout is not held: %v", sts.Annotations)
	}
}

// awaitReason waits until a rollout is held for a reason.
func awaitReason(t *testing.T, c *clusters.Cluster, reason policy.Reason) {
	t.Helper()
	eventually(t, fmt.Sprintf("the rollout of %s to be held: %s", c, reason), func(context.Context) (string, bool, error) {
		found := statefulSet(t, c).Annotations
		return fmt.Sprint(found), found[v1alpha1.RolloutReasonAnnotation] == reason.Name(), nil
	})
}

// rolledOut waits until all members are Ready with the newest template and nothing is held.
func rolledOut(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	eventually(t, fmt.Sprintf("the rollout of %s to be complete", c), func(context.Context) (string, bool, error) {
		sts := statefulSet(t, c)
		s := sts.Status
		partition := sts.Spec.UpdateStrategy.RollingUpdate
		seen := fmt.Sprintf("%d updated, %d ready, %+v, %v", s.UpdatedReplicas, s.ReadyReplicas, sts.Spec.UpdateStrategy, sts.Annotations)
		// etcd-druid writes a strategy without a partition, which means 0.
		held := sts.Annotations[v1alpha1.RolloutValueAnnotation] != "" || partition != nil && ptr.Deref(partition.Partition, 0) != 0
		return seen, !held && s.ObservedGeneration == sts.Generation && s.CurrentRevision == s.UpdateRevision && s.UpdatedReplicas == *sts.Spec.Replicas && s.ReadyReplicas == *sts.Spec.Replicas, nil
	})
}

// otherPods returns the names of the first members that have another pod than before.
func otherPods(t *testing.T, c *clusters.Cluster, before []clusters.Member) []string {
	t.Helper()
	var names []string
	for i, m := range members(t, c)[:len(before)] {
		if m.Pod.UID != before[i].Pod.UID {
			names = append(names, m.Pod.Name)
		}
	}
	return names
}

// awaitRestarts waits until every member has another pod, and returns the order. meanwhile is called
// from time to time.
func awaitRestarts(t *testing.T, c *clusters.Cluster, before []clusters.Member, meanwhile ...func()) []int {
	t.Helper()
	var order []int
	eventually(t, "every member to restart", func(ctx context.Context) (string, bool, error) {
		for _, do := range meanwhile {
			do()
		}
		var pods corev1.PodList
		if err := kube.List(ctx, &pods, client.InNamespace(c.Namespace)); err != nil {
			return "", false, err
		}
		for i, m := range before {
			restarted := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == m.Pod.Name && p.UID != m.Pod.UID })
			if restarted && !slices.Contains(order, i) {
				order = append(order, i)
			}
		}
		return fmt.Sprintf("%v restarted: %v", order, statefulSet(t, c).Annotations), len(order) == len(before), nil
	})
	return order
}

func awaitUnready(t *testing.T, name string, c *clusters.Cluster) {
	t.Helper()
	eventually(t, name+" to be unready", func(ctx context.Context) (string, bool, error) {
		var pod corev1.Pod
		err := kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &pod)
		return "the pod is Ready", !podIsReady(&pod), err
	})
}

func podIsReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// quorumStays checks until the end of the test that at least so many members are Ready.
func quorumStays(t *testing.T, c *clusters.Cluster, least int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			var pods corev1.PodList
			if err := kube.List(ctx, &pods, client.InNamespace(c.Namespace)); err != nil {
				continue // the test ends, or another one stops the API server
			}
			var ready []string
			for i := range pods.Items {
				// Between two StatefulSets, the members have none.
				if ref := metav1.GetControllerOf(&pods.Items[i]); (ref == nil || ref.Kind == "StatefulSet") && podIsReady(&pods.Items[i]) {
					ready = append(ready, pods.Items[i].Name)
				}
			}
			if len(ready) < least {
				t.Errorf("%s: only %q are Ready", c, ready)
				return
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
}
