// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// stage is a cluster of three members, and an API server that evicts.
type stage struct {
	*controllertest.Store
	t       *testing.T
	events  *events.FakeRecorder
	evicted []string
	refuse  error
	key     owner.Key
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Store: &controllertest.Store{Objects: controllertest.Cluster(t, "plain-3", "store", "{}")}, t: t, key: owner.Key{Kind: "StatefulSet", Namespace: "store", Name: "etcd"}}
	for i := range 3 {
		s.pod(i, func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + p.Name}}}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
		})
		s.Put(&corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "store", Name: fmt.Sprintf("data-etcd-%d", i), UID: types.UID(fmt.Sprintf("claim-%d", i)), CreationTimestamp: metav1.NewTime(controllertest.Now.Add(-2 * 24 * time.Hour))},
			Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
		})
	}
	s.set(func(sts *appsv1.StatefulSet) {
		sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	})
	return s
}

// claim edits the volume claim of a member.
func (s *stage) claim(i int, edit func(*corev1.PersistentVolumeClaim)) {
	s.t.Helper()
	edit(controllertest.Find[*corev1.PersistentVolumeClaim](s.t, s.Objects, fmt.Sprintf("data-etcd-%d", i)))
}

// stopHook has the pods execute a command before they stop.
func (s *stage) stopHook(command string) {
	s.t.Helper()
	hook := &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", command}}}}
	s.set(func(sts *appsv1.StatefulSet) { sts.Spec.Template.Spec.Containers[0].Lifecycle = hook })
}

// SubResource returns what evicts.
func (s *stage) SubResource(string) client.SubResourceClient { return evictor{stage: s} }

type evictor struct {
	client.SubResourceClient
	*stage
}

// Create evicts a pod.
func (e evictor) Create(_ context.Context, obj, sub client.Object, _ ...client.SubResourceCreateOption) error {
	if e.refuse != nil {
		return e.refuse
	}
	if uid := sub.(*policyv1.Eviction).DeleteOptions.Preconditions.UID; *uid != obj.GetUID() {
		return apierrors.NewConflict(corev1.Resource("pods"), obj.GetName(), fmt.Errorf("another UID"))
	}
	e.evicted = append(e.evicted, obj.GetName())
	return nil
}

func (s *stage) pod(i int, edit func(*corev1.Pod)) {
	s.t.Helper()
	edit(controllertest.Find[*corev1.Pod](s.t, s.Objects, fmt.Sprintf("etcd-%d", i)))
}

func (s *stage) set(edit func(*appsv1.StatefulSet)) {
	s.t.Helper()
	edit(controllertest.Find[*appsv1.StatefulSet](s.t, s.Objects, "etcd"))
}

func (s *stage) request(text string) {
	s.set(func(sts *appsv1.StatefulSet) {
		if sts.Annotations == nil {
			sts.Annotations = map[string]string{}
		}
		sts.Annotations[v1alpha1.RestartRequestAnnotation] = text
	})
}

func (s *stage) ready(i int, status corev1.ConditionStatus) {
	s.pod(i, func(p *corev1.Pod) {
		for j := range p.Status.Conditions {
			if p.Status.Conditions[j].Type == corev1.PodReady {
				p.Status.Conditions[j].Status = status
			}
		}
	})
}

// missing deletes a pod.
func (s *stage) missing(i int) {
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool {
		_, is := o.(*corev1.Pod)
		return is && o.GetName() == fmt.Sprintf("etcd-%d", i)
	})
}

// again creates a pod again, with another UID.
func (s *stage) again(i int) { s.pod(i, func(p *corev1.Pod) { p.UID += "-new" }) }

// controller returns one without memory.
func (s *stage) controller() *Reconciler {
	clock := clocktesting.NewFakePassiveClock(controllertest.Now)
	c := &Reconciler{Client: s, Recorder: s.events, Clock: clock}
	c.Reader = &observe.Reader{Reader: s.Cached(), Live: s.Store, Leases: &leaseclock.Clock{Clock: clock}}
	return c
}

// step reconciles by a controller without memory, as after a change of leader, until no write is due but an
// eviction. It returns the pods that were evicted, and the reasons of the Events.
func (s *stage) step() string {
	s.t.Helper()
	s.evicted = nil
	s.events = events.NewFakeRecorder(100)
	for range 2 {
		c := s.controller()
		if _, err := c.Reconcile(s.t.Context(), s.key); err != nil {
			s.t.Fatal(err)
		}
		if len(s.evicted) > 0 {
			break
		}
	}
	out := strings.Join(s.evicted, " ")
	seen := map[string]bool{}
	for _, e := range controllertest.Recorded(s.t, s.events) {
		if reason := strings.Fields(e)[1]; !seen[reason] {
			seen[reason], out = true, out+" "+reason
		}
	}
	return strings.TrimSpace(out)
}

func (s *stage) expect(want string) {
	s.t.Helper()
	if got := s.step(); got != want {
		s.t.Errorf("%q, want %q", got, want)
	}
}

// TestRolling restarts all members, each by a controller that knows nothing of the one before.
func TestRolling(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.expect("")
	s.request("rolling for the new certificate")
	s.expect("etcd-2 AllReady RestartRequestBegun")
	s.pod(2, func(p *corev1.Pod) { now := controllertest.Now; p.DeletionTimestamp = &metav1.Time{Time: now} })
	s.expect("MemberRestarting")
	s.pod(2, func(p *corev1.Pod) { p.DeletionTimestamp = nil })
	s.again(2)
	s.ready(2, corev1.ConditionFalse)
	s.expect("MemberRestarting")
	s.ready(2, corev1.ConditionTrue)
	s.expect("etcd-1 AllReady")
	s.again(1)
	s.expect("etcd-0 AllReady")
	s.again(0)
	s.expect("RestartComplete")
	s.expect("")
	s.request("rolling again")
	s.expect("etcd-2 AllReady RestartRequestBegun")
}

// TestRequests: what else may be requested, and what stops a restart.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, request string
		before, then  func(s *stage)
		first, second string
	}{
		{"one pod", "etcd-0", nil, func(s *stage) { s.again(0) }, "etcd-0 AllReady RestartRequestBegun", "RestartComplete"},
		{"a pod that is none of its", "other-0", nil, nil, "RestartRequestInvalid", ""},
		{"all at once", "coordinated", nil, nil, "RestartRequestInvalid", ""},
		{"withdrawn", "rolling", nil, func(s *stage) { s.again(2); s.request("") }, "etcd-2 AllReady RestartRequestBegun", "RestartRequestWithdrawn"},
		{"another member is down, and two are a quorum", "etcd-0", func(s *stage) { s.ready(1, corev1.ConditionFalse) }, nil, "RestartRequestBegun QuorumNeedsAll", "QuorumNeedsAll"},
		{"the member that is down is the first", "rolling", func(s *stage) { s.ready(0, corev1.ConditionFalse) }, func(s *stage) { s.again(0); s.ready(0, corev1.ConditionTrue) }, "etcd-0 CuresMember RestartRequestBegun", "etcd-2 AllReady"},
		{"without a quorum", "rolling", func(s *stage) { s.ready(0, corev1.ConditionFalse); s.ready(1, corev1.ConditionFalse) }, nil, "RestartRequestBegun QuorumNeedsAll", "QuorumNeedsAll"},
		{"a budget refuses", "rolling", func(s *stage) { s.refuse = apierrors.NewTooManyRequests("the budget needs 3 pods", 0) }, func(s *stage) { s.refuse = nil }, "RestartRequestBegun RestartRequestDenied", "etcd-2 AllReady"},
		{"data that ends with the pod", "rolling", func(s *stage) {
			s.pod(2, func(p *corev1.Pod) {
				p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
			})
		}, nil, "RestartRequestBegun RestartDataEnds", "RestartDataEnds"},
		{"a claim that has lost its volume", "rolling", func(s *stage) {
			s.claim(2, func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })
		}, nil, "RestartRequestBegun RestartDataEnds", "RestartDataEnds"},
		{"a claim that is missing", "rolling", func(s *stage) {
			s.claim(2, func(c *corev1.PersistentVolumeClaim) { c.Name = "another" })
		}, nil, "RestartRequestBegun RestartDataEnds", "RestartDataEnds"},
		{"a hook removes the member", "rolling", func(s *stage) { s.stopHook("etcdctl member remove $(cat /data/id)") },
			func(s *stage) { s.stopHook("sync") }, "RestartRequestBegun RestartCostsMember", "etcd-2 AllReady"},
		{"a broken member has an older volume than the others", "rolling", func(s *stage) {
			s.ready(0, corev1.ConditionFalse)
			for i := 1; i < 3; i++ {
				s.claim(i, func(c *corev1.PersistentVolumeClaim) { c.CreationTimestamp.Time = c.CreationTimestamp.Add(time.Hour) })
			}
		}, func(s *stage) {
			s.claim(1, func(c *corev1.PersistentVolumeClaim) { c.CreationTimestamp.Time = c.CreationTimestamp.Add(-time.Hour) })
		}, "RestartRequestBegun RestartOlderVolume", "etcd-0 CuresMember"},
		{"a pod is missing, and another is down", "etcd-0", func(s *stage) { s.missing(1); s.ready(0, corev1.ConditionFalse) }, nil, "RestartRequestBegun QuorumNeedsAll", "QuorumNeedsAll"},
		{"a replacement has not ended", "rolling", func(s *stage) {
			s.set(func(sts *appsv1.StatefulSet) { sts.Annotations[v1alpha1.MemberChangeAnnotation] = "{}" })
		}, nil, "RestartRequestBegun OperationUnderWay", "OperationUnderWay"},
		{"scaled to none", "etcd-2", nil, func(s *stage) {
			s.set(func(sts *appsv1.StatefulSet) { sts.Spec.Replicas = new(int32(1)) })
			s.missing(2)
		}, "etcd-2 AllReady RestartRequestBegun", "RestartComplete"},
		{"a restore has stopped members", "rolling", func(s *stage) {
			s.set(func(sts *appsv1.StatefulSet) { sts.Annotations[v1alpha1.RestoreAnnotation] = "2026-11-20T10:00:00Z 3" })
		}, nil, "RestartRequestBegun OperationUnderWay", "OperationUnderWay"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.request(row.request)
			if row.before != nil {
				row.before(s)
			}
			s.expect(row.first)
			if row.then != nil {
				row.then(s)
			}
			s.expect(row.second)
		})
	}
}

// TestEditedRecord: a record that a user writes evicts no pod but those of the request, and a broken one begins
// again.
func TestEditedRecord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"nonsense", "kube-dns-0=u,etcd-9=u;rolling", ";other"} {
		s := newStage(t)
		s.request("rolling")
		s.set(func(sts *appsv1.StatefulSet) { sts.Annotations[v1alpha1.RestartedPodsAnnotation] = text })
		if got := s.step(); strings.Contains(got, "kube-dns") || strings.Contains(got, "etcd-9") {
			t.Errorf("%s: %s", text, got)
		}
	}
}
