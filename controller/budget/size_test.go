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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// scale sets the replicas of the plain StatefulSet, and brings its pods to that number.
func scale(s *stage, replicas int) {
	change(s, "etcd", func(o *appsv1.StatefulSet) {
		o.Spec.Replicas = new(int32(replicas))
		o.Status.Replicas = *o.Spec.Replicas
		o.Generation++
		o.Status.ObservedGeneration = o.Generation
	})
	if s.template == nil {
		s.template = find[*corev1.Pod](s, "etcd-0").DeepCopy()
	}
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
		_, is := o.(*corev1.Pod)
		return is
	})
	for i := range replicas {
		pod := s.template.DeepCopy()
		pod.Name = fmt.Sprintf("etcd-%d", i)
		pod.UID, pod.Labels["statefulset.kubernetes.io/pod-name"] = types.UID(pod.Name), pod.Name
		s.Put(pod)
	}
}

func annotateSize(s *stage, text string) {
	change(s, "etcd", func(o *appsv1.StatefulSet) {
		o.Annotations = map[string]string{v1alpha1.SizeAnnotation: text}
	})
}

// TestSizeIsRemembered checks that a StatefulSet that was scaled in keeps the quorum of the
// voters that etcd may still have, until someone reports how many there are.
func TestSizeIsRemembered(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	scale(s, 5)
	s.expect("etcd-quorum minAvailable=3 AllReady")
	settled := func(when, want string) {
		t.Helper()
		s.reconcile()
		s.advance(time.Hour)
		s.expect(want)
		if t.Failed() {
			t.Fatal(when)
		}
	}
	scale(s, 3)
	settled("scaled in past etcd", "etcd-quorum minAvailable=3 MemberDown")
	if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); !strings.Contains(got, "VotersWithoutPods") || !strings.Contains(got, "5 voters, of which 3 have pods") {
		t.Errorf("recorded %q", got)
	}
	removeBudget(s, "etcd-quorum")
	settled("another client deleted the budget", "etcd-quorum minAvailable=3 MemberDown")
	s.restart()
	settled("after a restart", "etcd-quorum minAvailable=3 MemberDown")
	annotateSize(s, "0")
	settled("nonsense", "etcd-quorum minAvailable=3 MemberDown")
	annotateSize(s, "3")
	settled("etcd has three voters", "etcd-quorum minAvailable=2 AllReady")
	scale(s, 5)
	settled("scaled out again", "etcd-quorum minAvailable=3 AllReady")
	scale(s, 3)
	settled("scaled in past etcd, beside the old annotation", "etcd-quorum minAvailable=3 MemberDown")
	annotateSize(s, "3 at another time")
	settled("etcd has three voters again", "etcd-quorum minAvailable=2 AllReady")
}

// TestDeclaredWhilePodsStop checks that the number that the printed command declares counts once the pods
// beyond it have stopped, and not if they are there for longer than an hour.
func TestDeclaredWhilePodsStop(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		2 * time.Minute: "etcd-quorum minAvailable=2 AllReady", 2 * time.Hour: "etcd-quorum minAvailable=3 MemberDown",
	} {
		s := plainCreated(t)
		scale(s, 5)
		s.expect("etcd-quorum minAvailable=3 AllReady")
		annotateSize(s, "3 at "+s.clock.Now().UTC().Format(time.RFC3339))
		change(s, "etcd", func(o *appsv1.StatefulSet) { o.Spec.Replicas = new(int32(3)) })
		s.reconcile() // with the pods of all five
		s.advance(wait)
		s.reconcile()
		scale(s, 3)
		s.reconcile()
		s.restart()
		s.advance(time.Hour)
		s.expect(want)
	}
}

// TestSizeIsHandedOver checks that the budget that is adopted in place of ours keeps the
// size that ours had.
func TestSizeIsHandedOver(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	scale(s, 5)
	s.expect("etcd-quorum minAvailable=3 AllReady")
	scale(s, 3)
	s.reconcile()
	foreign(s, "theirs", "minAvailable: 1, selector: {"+byApp+"}")
	s.restart()
	s.reconcile()
	s.advance(time.Hour)
	s.expect("theirs minAvailable=3 MemberDown")
}

// TestSizeOfSleeper checks that a cluster that was scaled to 0 and then to a part of what it
// was is none of one member.
func TestSizeOfSleeper(t *testing.T) {
	t.Parallel()
	s := plainCreated(t)
	scale(s, 0)
	s.reconcile()
	s.advance(time.Hour)
	s.expect("etcd-quorum minAvailable=2 ScaledToZero")
	s.restart()
	s.expect("etcd-quorum minAvailable=2 ScaledToZero")
	scale(s, 1)
	s.expect("etcd-quorum minAvailable=3 QuorumAtRisk")
	scale(s, 3)
	s.reconcile()
	s.advance(time.Hour)
	s.expect("etcd-quorum minAvailable=2 AllReady")
}
