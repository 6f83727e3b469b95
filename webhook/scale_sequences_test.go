// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// TestWritesAtOneMoment holds that of two writes which are judged before either is stored, and of a
// write and an eviction, only one passes if both together take a quorum.
func TestWritesAtOneMoment(t *testing.T) {
	t.Parallel()
	for name, requests := range map[string][2]admissionv1.AdmissionRequest{
		"two StatefulSets":             {scaleOf("a", 1, 0), scaleOf("b", 1, 0)},
		"a StatefulSet and a member":   {scaleOf("a", 1, 0), evictionOf("b-0")},
		"a member and a StatefulSet":   {evictionOf("c-0"), scaleOf("b", 1, 0)},
		"a StatefulSet twice, another": {scaleOf("c", 1, 0), scaleOf("a", 1, 0)},
	} {
		for range 20 {
			live := spanningCluster(t, "a/1", "b/1", "c/1")
			var wg sync.WaitGroup
			var admitted [2]bool
			for i, r := range requests {
				wg.Go(func() { admitted[i] = replica(t, live, live).handle(t, r).Allowed })
			}
			wg.Wait()
			if admitted[0] == admitted[1] {
				t.Fatalf("%s: admitted %v", name, admitted)
			}
		}
	}
}

// TestScaleRecords holds what a write of replicas records: the pods of the voters that leave, but
// nothing in a dry run, for a step of kubectl etcd, and when all stop.
func TestScaleRecords(t *testing.T) {
	t.Parallel()
	dry, all := scaleOf("a", 5, 3), scaleOf("a", 5, 0)
	dry.DryRun = new(true)
	for name, row := range map[string]struct {
		request admissionv1.AdmissionRequest
		want    string
	}{
		"two leave": {scaleOf("a", 5, 3), "a-3=a-3-uid@2026-11-20T10:00:00Z,a-4=a-4-uid@2026-11-20T10:00:00Z"},
		"a dry run": {dry, ""},
		"all stop":  {all, ""},
		"none":      {scaleOf("a", 5, 7), ""},
	} {
		live := spanningCluster(t, "a/5")
		change(live, "all", func(b *policyv1.PodDisruptionBudget) {
			b.Annotations = map[string]string{"kubectl-etcd.dev/budget-for": "StatefulSet/a", "kubectl-etcd.dev/largest-size": "5"}
		})
		change(live, "a", func(s *appsv1.StatefulSet) { s.Annotations = map[string]string{"kubectl-etcd.dev/size": "5"} })
		got := replica(t, live, live).handle(t, row.request)
		if !got.Allowed {
			t.Errorf("%s: %+v", name, got.Result)
		}
		change(live, "all", func(b *policyv1.PodDisruptionBudget) {
			if text := b.Annotations["kubectl-etcd.dev/evictions"]; text != row.want {
				t.Errorf("%s: recorded %q, want %q", name, text, row.want)
			}
		})
	}
}

// TestScaleWhileMembersStart: etcd of a pod that has been Ready for a moment, and whose probe doesn't ask
// etcd, may vote, and so does that of a Ready pod. A write takes its vote, but does not keep a quorum by it.
func TestScaleWhileMembersStart(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		down int // the pod that is not Ready, -1 for none
		// young are the pods that became Ready a moment ago.
		young   []int
		allowed bool
		reason  string
	}{
		"voters that just started leave, and no quorum stays": {0, []int{3, 4}, false, "VotersLost"},
		"a voter that just started stays":                     {0, []int{1}, false, "VotersLost"},
		"voters that just started leave, and a quorum stays":  {-1, []int{3, 4}, true, "VotersLeft"},
		"no voter just started":                               {-1, nil, true, "VotersLeft"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := spanningCluster(t, "a/5")
			change(live, "all", func(b *policyv1.PodDisruptionBudget) {
				b.Annotations = map[string]string{"kubectl-etcd.dev/budget-for": "StatefulSet/a", "kubectl-etcd.dev/budget-size": "5", "kubectl-etcd.dev/budget-value": "minAvailable=3"}
			})
			for i := range 5 {
				change(live, fmt.Sprintf("a-%d", i), func(p *corev1.Pod) {
					since := metav1.NewTime(now.Add(-time.Hour))
					if slices.Contains(row.young, i) {
						since = metav1.NewTime(now.Add(-30 * time.Second))
					}
					p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(2379)}}}
					p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}}}}
					p.Status.Conditions[0].LastTransitionTime = since
					if i == row.down {
						p.Status.Conditions[0].Status = corev1.ConditionFalse
					}
				})
			}
			got := expectation{t, replica(t, live, live)}.gets("5 to 3", scaleOf("a", 5, 3), row.allowed, row.reason)
			change(live, "all", func(b *policyv1.PodDisruptionBudget) {
				recorded := b.Annotations["kubectl-etcd.dev/evictions"]
				if both := strings.Contains(recorded, "a-3=") && strings.Contains(recorded, "a-4="); both != row.allowed {
					t.Errorf("recorded %q, and allowed %t: %v", recorded, row.allowed, got.Warnings)
				}
			})
		})
	}
}

// TestScaleInAfterDeclaration holds that a scale-in passes with a warning after the annotation declared
// the voters that stay, in an earlier write: the budget still records the previous ones.
func TestScaleInAfterDeclaration(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "a/5")
	change(live, "all", func(b *policyv1.PodDisruptionBudget) {
		b.Annotations = map[string]string{"kubectl-etcd.dev/budget-for": "StatefulSet/a", "kubectl-etcd.dev/budget-size": "5", "kubectl-etcd.dev/budget-value": "minAvailable=3"}
	})
	change(live, "a", func(s *appsv1.StatefulSet) {
		s.Annotations = map[string]string{"kubectl-etcd.dev/size": "3 at 2026-11-20T09:59:00Z"}
	})
	if got := replica(t, live, live).handle(t, scaleOf("a", 5, 3)); !got.Allowed || len(got.Warnings) == 0 {
		t.Errorf("allowed %t, warnings %q: %+v", got.Allowed, got.Warnings, got.Result)
	}
}

// TestOrdinals moves the replicas of a cluster of three to every first ordinal.
func TestOrdinals(t *testing.T) {
	t.Parallel()
	for first := range 5 {
		for replicas := 1; replicas < 6; replicas++ {
			live := spanningCluster(t, "a/3")
			change(live, "a", func(s *appsv1.StatefulSet) { s.Annotations = map[string]string{"kubectl-etcd.dev/size": "3"} })
			r := scaleOf("a", 3, replicas)
			r.SubResource = ""
			r.Object.Raw = fmt.Appendf(nil, `{"metadata":{"name":"a","namespace":"db"},"spec":{"replicas":%d,"ordinals":{"start":%d}}}`, replicas, first)
			stay := 0
			for voter := range 3 {
				if voter >= first && voter < first+replicas {
					stay++
				}
			}
			if got := replica(t, live, live).handle(t, r); got.Allowed != (stay >= 2) {
				t.Errorf("%d replicas from %d, where %d voters stay: allowed %t %+v", replicas, first, stay, got.Allowed, got.Result)
			}
		}
	}
}

// TestScaleOfOtherOrdinals holds that kubectl scale, whose object has no ordinals, is judged alike whatever
// the first ordinal of the StatefulSet is.
func TestScaleOfOtherOrdinals(t *testing.T) {
	t.Parallel()
	for replicas := range 5 {
		var want admission.Response
		for first := range 4 {
			live := spanningCluster(t, fmt.Sprintf("a/%d", first+3))
			live.objects = slices.DeleteFunc(live.objects, func(o client.Object) bool {
				pod, is := o.(*corev1.Pod)
				return is && pod.Name < fmt.Sprintf("a-%d", first)
			})
			change(live, "a", func(s *appsv1.StatefulSet) {
				s.Spec.Replicas, s.Spec.Ordinals = new(int32(3)), &appsv1.StatefulSetOrdinals{Start: int32(first)}
				list := &s.Spec.Template.Spec.Containers[0].Env[1].Value
				*list = strings.Join(strings.Split(*list, ",")[first:], ",")
			})
			got := replica(t, live, live).handle(t, scaleOf("a", 3, replicas))
			if first == 0 {
				want = got
			}
			if got.Allowed != want.Allowed || reasonOf(got) != reasonOf(want) {
				t.Errorf("3 to %d from ordinal %d: allowed %t %s, want %t %s", replicas, first, got.Allowed, reasonOf(got), want.Allowed, reasonOf(want))
			}
		}
	}
}

// TestCreatedAgain deletes the StatefulSet of three members, with or without its pods, and creates it
// with another number of replicas.
func TestCreatedAgain(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"pods and volumes", "volumes", "nothing"} {
		for replicas := range 5 {
			live, request := createdAgain(t, left, replicas)
			refused := left != "nothing" && (replicas == 1 || replicas == 2) // no budget records three voters
			// Two handlers are called for it.
			got := replica(t, live, live)["/guard-scale"].Handle(t.Context(), admission.Request{AdmissionRequest: request})
			if got.Allowed == refused {
				t.Errorf("%s left, %d replicas: allowed %t: %+v %q", left, replicas, got.Allowed, got.Result, got.Warnings)
			}
		}
	}
}

// createdAgain returns what is left of a cluster of three, and the request that creates it again.
func createdAgain(t *testing.T, left string, replicas int) (*liveObjects, admissionv1.AdmissionRequest) {
	t.Helper()
	live := spanningCluster(t, "a/3")
	kept := &liveObjects{}
	var sts *appsv1.StatefulSet
	for _, o := range live.objects {
		switch o := o.(type) {
		case *appsv1.StatefulSet:
			sts = o
		case *policyv1.PodDisruptionBudget:
		case *corev1.Pod:
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "data-" + o.Name}}
			if left != "nothing" {
				kept.objects = append(kept.objects, claim)
			}
			if o.OwnerReferences = nil; left == "pods and volumes" {
				kept.objects = append(kept.objects, o)
			}
		default:
			kept.objects = append(kept.objects, o)
		}
	}
	sts.Spec.Replicas, sts.UID = new(int32(replicas)), ""
	raw, err := json.Marshal(sts)
	if err != nil {
		t.Fatal(err)
	}
	r := scaleOf("a", 0, replicas)
	r.Operation, r.SubResource, r.Object, r.OldObject = admissionv1.Create, "", runtime.RawExtension{Raw: raw}, runtime.RawExtension{}
	return kept, r
}
