// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
)

// apart has each member run by a StatefulSet of its own, whose rollout is held.
func (s *stage) apart() {
	s.t.Helper()
	sts := controllertest.Find[*appsv1.StatefulSet](s.t, s.Objects, "etcd").DeepCopy()
	pod := controllertest.Find[*corev1.Pod](s.t, s.Objects, "etcd-0").DeepCopy()
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
		switch o.(type) {
		case *appsv1.StatefulSet, *corev1.Pod:
			return true
		}
		return false
	})
	for _, name := range []string{"a", "b", "c"} {
		sts, pod, labels := sts.DeepCopy(), pod.DeepCopy(), map[string]string{"member": name}
		sts.Name, sts.UID, sts.Spec.Replicas = name, types.UID(name), new(int32(1))
		sts.Status.Replicas = 1
		sts.Spec.Selector, sts.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
		sts.Spec.Template.Spec.Containers[0].Args = []string{
			"--name=" + name, fmt.Sprintf("--initial-advertise-peer-urls=http://%s:2380", name), "--initial-cluster=a=http://a:2380,b=http://b:2380,c=http://c:2380",
		}
		pod.Name, pod.UID = name+"-0", types.UID(name+"-0")
		pod.Labels = map[string]string{"member": name, appsv1.StatefulSetPodNameLabel: pod.Name, appsv1.StatefulSetRevisionLabel: "old"}
		pod.OwnerReferences[0].Name, pod.OwnerReferences[0].UID = name, sts.UID
		s.Put(sts)
		s.Put(pod)
	}
	s.key.Name = "a"
}

// releasedSets reconciles, and returns how many StatefulSets are not held any more.
func (s *stage) releasedSets() int {
	s.t.Helper()
	s.restart()
	if _, err := s.reconciler.Reconcile(s.t.Context(), s.key); err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for _, o := range s.Objects {
		if sts, is := o.(*appsv1.StatefulSet); is {
			sts.Status.ObservedGeneration = sts.Generation
			if sts.Annotations[v1alpha1.RolloutValueAnnotation] == "" {
				n++
			}
		}
	}
	return n
}

// TestReleasedByHandOneByOne releases a rollout of three StatefulSets that has been held for an hour. The second one
// waits for the member of the first, for two minutes since that was released.
func TestReleasedByHandOneByOne(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.apart()
	s.advance(time.Hour)
	for _, name := range []string{"a", "b", "c"} {
		change(s, name, func(o *appsv1.StatefulSet) { o.Annotations[v1alpha1.RolloutAnnotation] = "release: it is safe" })
	}
	for _, row := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {queue.Recheck, 1}, {time.Minute, 1}, {time.Minute, 2}, {queue.Recheck, 2}} {
		s.advance(row.after)
		if n := s.releasedSets(); n != row.want {
			t.Fatalf("%d are released, want %d", n, row.want)
		}
	}
}

// TestRefusedReleaseKeepsTheWait refuses the release of the second of three StatefulSets, or the mark of the third one,
// after the wait for the first one is over. The refusal is reported, and after it ends no new wait begins.
func TestRefusedReleaseKeepsTheWait(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]error{
		"another webhook":      apierrors.NewForbidden(appsv1.Resource("statefulsets"), "b", errors.New("protected")),
		"a webhook that fails": apierrors.NewInternalError(errors.New("failed calling webhook")),
		"a conflict":           apierrors.NewConflict(appsv1.Resource("statefulsets"), "b", errors.New("changed")),
		"too many requests":    apierrors.NewTooManyRequests("later", 1),
	} {
		for _, set := range []string{"b", "c"} {
			t.Run(name+" of "+set, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				s.apart()
				for _, name := range []string{"a", "b", "c"} {
					change(s, name, func(o *appsv1.StatefulSet) { o.Annotations[v1alpha1.RolloutAnnotation] = "release: it is safe" })
				}
				if n := s.releasedSets(); n != 1 {
					t.Fatalf("%d are released, want 1", n)
				}
				s.releasedSets()
				s.refuse, s.refuseSet = refuse, set
				for range 3 {
					s.advance(2 * time.Minute)
					if n := s.releasedSets(); n != 1 {
						t.Errorf("%d are released, want 1", n)
					}
					if got := strings.Join(controllertest.Recorded(t, s.events), "; "); strings.Contains(got, "RolloutWriteDenied") == apierrors.IsConflict(refuse) {
						t.Errorf("the Events are: %s", got)
					}
				}
				s.refuse = nil
				s.advance(queue.Recheck)
				if n := s.releasedSets(); n != 2 {
					t.Errorf("%d are released when nothing is refused any more, want 2", n)
				}
				s.advance(queue.Recheck)
				if n := s.releasedSets(); n != 2 {
					t.Errorf("%d are released at once, want 2", n)
				}
			})
		}
	}
}
