// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// liveObjects are the objects that the API server has. Budgets and StatefulSets can be patched.
type liveObjects struct {
	mu      sync.Mutex
	objects observetest.Objects
	patches int
	// denied is the error of every patch, nil for none. before is called before a patch.
	denied error
	before func()
}

func (l *liveObjects) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.objects.Get(ctx, key, obj, opts...)
}

func (l *liveObjects) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.objects.List(ctx, list, opts...)
}

// Patch implements RecordPatcher as the API server does: a version that is not the stored one is
// a conflict.
func (l *liveObjects) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	if l.before != nil {
		l.before()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.denied != nil {
		return l.denied
	}
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	var wrote metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &wrote); err != nil {
		return err
	}
	for _, o := range l.objects {
		if reflect.TypeOf(o) != reflect.TypeOf(obj) || client.ObjectKeyFromObject(o) != client.ObjectKeyFromObject(obj) {
			continue
		}
		if o.GetUID() != wrote.UID || wrote.ResourceVersion != "" && o.GetResourceVersion() != wrote.ResourceVersion {
			return apierrors.NewConflict(policyv1.Resource("objects"), o.GetName(), nil)
		}
		l.patches++
		merged := map[string]string{}
		maps.Copy(merged, o.GetAnnotations())
		maps.Copy(merged, wrote.Annotations)
		o.SetAnnotations(merged)
		o.SetResourceVersion(o.GetResourceVersion() + "1")
		return nil
	}
	return apierrors.NewNotFound(policyv1.Resource("objects"), obj.GetName())
}

// change applies a change to a stored object of a name.
func change[T client.Object](l *liveObjects, name string, f func(T)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.objects {
		if found, ok := o.(T); ok && o.GetName() == name {
			f(found)
		}
	}
}

// guarded returns the objects of a healthy cluster of three with a budget, and the request to
// evict a member.
func guarded(tb testing.TB) (*liveObjects, func(pod string) admissionv1.AdmissionRequest) {
	tb.Helper()
	objects, request := readRequest(tb, "testdata/eviction-allowed.request.yaml")
	live := &liveObjects{objects: objects}
	change(live, "budget", func(b *policyv1.PodDisruptionBudget) { b.ResourceVersion = "1" })
	return live, func(pod string) admissionv1.AdmissionRequest {
		r := *request
		r.Name, r.Object = pod, runtime.RawExtension{Raw: []byte(`{"metadata":{"name":"` + pod + `"}}`)}
		return r
	}
}

// replica returns a server with a cache and the live objects.
func replica(tb testing.TB, cache client.Reader, live *liveObjects) testServer {
	tb.Helper()
	r := readerOf(nil)
	r.Reader, r.Live = cache, live
	return register(tb, r, live)
}

func reasonOf(r admission.Response) string { return r.AuditAnnotations[auditReason] }

// TestRefusedEvictionIsRetried holds what kubectl drain checks: the API server hands on code
// and reason of a refusal, and the client's error must count as too many requests.
func TestRefusedEvictionIsRetried(t *testing.T) {
	t.Parallel()
	objects, request := readRequest(t, "testdata/eviction-refused.request.yaml")
	got := serve(t, objects).handle(t, *request)
	err := &apierrors.StatusError{ErrStatus: *got.Result}
	if got.Allowed || got.Result.Code != http.StatusTooManyRequests || !apierrors.IsTooManyRequests(err) {
		t.Errorf("%+v", got.Result)
	}
	if _, silent := apierrors.SuggestsClientDelay(err); silent {
		t.Error("client-go would retry by itself, and the user would not see the message")
	}
}

// TestTieKeepsTheGuards adds a second policy with the same priority, which is off. Neither applies
// then, and the guards go by the strictest.
func TestTieKeepsTheGuards(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"eviction-refused", "scale-to-one"} {
		objects, request := readRequest(t, "testdata/"+file+".request.yaml")
		second := &v1alpha1.EtcdTopologyPolicy{Spec: v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeOff}}
		second.Name = "another"
		if got := serve(t, append(objects, second)).handle(t, *request); got.Allowed {
			t.Errorf("%s: allowed, %s", file, reasonOf(got))
		}
	}
}

// TestTwoReplicas evicts all members at once through replicas with caches of different age: one
// has the old pods, and one has none. One eviction is admitted.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	for range 50 {
		live, evict := guarded(t)
		old, _ := readRequest(t, "testdata/eviction-allowed.request.yaml")
		var withoutPods observetest.Objects
		for _, o := range old {
			switch o.(type) {
			case *corev1.Pod, *policyv1.PodDisruptionBudget:
			default:
				withoutPods = append(withoutPods, o)
			}
		}
		servers := []testServer{replica(t, old, live), replica(t, withoutPods, live), replica(t, live, live)}
		var wg sync.WaitGroup
		var admitted [3]bool
		for i, s := range servers {
			wg.Go(func() { admitted[i] = s.handle(t, evict("plain-"+strconv.Itoa(i))).Allowed })
		}
		wg.Wait()
		if n := len(slices.DeleteFunc(admitted[:], func(b bool) bool { return !b })); n != 1 || live.patches != 1 {
			t.Fatalf("admitted %d with %d records", n, live.patches)
		}
	}
}

// TestEvictionsOneAfterAnother holds when the next member may go: not while the pod is there, is
// being deleted, is gone, or is back and not Ready.
func TestEvictionsOneAfterAnother(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	server := replica(t, live, live)
	expect := func(pod string, allowed bool, reason string) {
		t.Helper()
		if got := server.handle(t, evict(pod)); got.Allowed != allowed || reasonOf(got) != reason {
			t.Errorf("%s: allowed %t, %s, want %t, %s", pod, got.Allowed, reasonOf(got), allowed, reason)
		}
	}
	expect("plain-0", true, "QuorumKept")
	expect("plain-1", false, "EvictionUnderWay")
	expect("plain-0", true, "QuorumKept")
	change(live, "plain-0", func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(testNow)) })
	expect("plain-1", false, "QuorumNeedsMember")
	expect("plain-0", true, "NotMember")
	change(live, "plain-0", func(p *corev1.Pod) {
		p.DeletionTimestamp, p.UID, p.Status.Conditions = nil, "new", []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	})
	expect("plain-1", false, "QuorumNeedsMember")
	change(live, "plain-0", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionTrue })
	expect("plain-1", true, "QuorumKept")
	change(live, "budget", func(b *policyv1.PodDisruptionBudget) {
		if text := b.Annotations[v1alpha1.EvictionsAnnotation]; text != "plain-1=plain-1-uid@2026-11-20T10:00:00Z,plain-0=plain-0-uid@2026-11-20T10:00:00Z" {
			t.Errorf("records: %q", text)
		}
	})
}

// TestEvictionConflicts holds that an eviction is decided again if the budget was written
// meanwhile, and refused if that goes on.
func TestEvictionConflicts(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	server := replica(t, live, live)
	writes := 0
	live.before = func() {
		if writes++; writes == 1 {
			change(live, "budget", func(b *policyv1.PodDisruptionBudget) {
				b.ResourceVersion = "2"
				b.Annotations = map[string]string{v1alpha1.EvictionsAnnotation: "plain-2=plain-2-uid@2026-11-20T10:00:00Z"}
			})
		}
	}
	if got := server.handle(t, evict("plain-0")); got.Allowed || reasonOf(got) != eviction.EvictionUnderWay.Name() {
		t.Errorf("what another replica recorded meanwhile doesn't count: %+v", got)
	}
	change(live, "budget", func(b *policyv1.PodDisruptionBudget) { b.Annotations = nil })
	live.before = func() {
		change(live, "budget", func(b *policyv1.PodDisruptionBudget) { b.ResourceVersion += "x" })
	}
	if got := server.handle(t, evict("plain-0")); got.Allowed || reasonOf(got) != reasons.BudgetBusy.Name() || got.Result.Code != http.StatusTooManyRequests {
		t.Errorf("%+v", got)
	}
}

// budgetsUnread reads everything but budgets, once they were listed.
type budgetsUnread struct{ client.Reader }

func (b budgetsUnread) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, budget := obj.(*policyv1.PodDisruptionBudget); budget {
		return apierrors.NewForbidden(policyv1.Resource("poddisruptionbudgets"), key.Name, nil)
	}
	return b.Reader.Get(ctx, key, obj, opts...)
}

// TestEvictionConflictUnread holds that an eviction is refused if another client wrote the budget, and
// what it wrote can't be read.
func TestEvictionConflictUnread(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	reader := readerOf(nil)
	reader.Reader, reader.Live = live, budgetsUnread{live}
	server := register(t, reader, live)
	live.before = func() {
		change(live, "budget", func(b *policyv1.PodDisruptionBudget) { b.ResourceVersion += "x" })
	}
	if got := server.handle(t, evict("plain-0")); got.Allowed || reasonOf(got) != reasons.BudgetBusy.Name() || !strings.Contains(got.Result.Message, "forbidden") {
		t.Errorf("%+v", got)
	}
}

// TestEvictionFailsOpen holds that evictions go on if the record is denied, or the time is over.
// A refusal doesn't need a record.
func TestEvictionFailsOpen(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	server := replica(t, live, live)
	live.denied = apierrors.NewForbidden(policyv1.Resource("poddisruptionbudgets"), "budget", nil)
	if got := server.handle(t, evict("plain-0")); !got.Allowed || reasonOf(got) != reasons.EvictionNotRecorded.Name() || len(got.Warnings) == 0 {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := handlerOf(t, evict("plain-0"))
	got := server[h.Path].Handle(ctx, admission.Request{AdmissionRequest: evict("plain-0")})
	if !got.Allowed || reasonOf(got) != reasons.Unobserved.Name() {
		t.Errorf("%+v", got)
	}
	change(live, "plain-2", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })
	if got := server.handle(t, evict("plain-0")); got.Allowed {
		t.Errorf("%+v", got)
	}
}

// TestDryRunRecordsNothing covers both fields in which a client may request a dry run.
func TestDryRunRecordsNothing(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	server := replica(t, live, live)
	inBody, inRequest := evict("plain-0"), evict("plain-0")
	inBody.Object.Raw = []byte(`{"metadata":{"name":"plain-0"},"deleteOptions":{"dryRun":["All"]}}`)
	inRequest.DryRun = new(true)
	for _, request := range []admissionv1.AdmissionRequest{inBody, inRequest} {
		if got := server.handle(t, request); !got.Allowed || live.patches != 0 {
			t.Errorf("%d records, %+v", live.patches, got)
		}
	}
}

// TestNothingIsRecordedThatBudgetRefuses holds that an eviction that the API server refuses next
// doesn't keep other members from being evicted.
func TestNothingIsRecordedThatBudgetRefuses(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	change(live, "budget", func(b *policyv1.PodDisruptionBudget) { b.Status.DisruptionsAllowed = 0 })
	if got := replica(t, live, live).handle(t, evict("plain-0")); !got.Allowed || live.patches != 0 {
		t.Errorf("%d records, %+v", live.patches, got)
	}
}

// TestOtherPodsNeedNoRequest holds that the pods of other workloads are decided from memory.
func TestOtherPodsNeedNoRequest(t *testing.T) {
	t.Parallel()
	live, evict := guarded(t)
	cache := append(observetest.Objects{&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "web"}}}, live.objects...)
	for _, pod := range []string{"web-0", "web-7d4b9c6f5-x2x4z", "web", "-0", "gone-3", "plain-0-1", "plain-99999999999999999999"} {
		server := replica(t, cache, nil)
		if got := server.handle(t, evict(pod)); !got.Allowed || len(got.AuditAnnotations) > 0 {
			t.Errorf("%s: %+v", pod, got)
		}
	}
}

// TestKubernetesMayDelete holds that no deletion by Kubernetes itself is refused.
func TestKubernetesMayDelete(t *testing.T) {
	t.Parallel()
	objects, request := readRequest(t, "testdata/deletion-refused.request.yaml")
	server := serve(t, objects)
	for user, allowed := range map[string]bool{
		"system:serviceaccount:kube-system:statefulset-controller":    true,
		"system:serviceaccount:kube-system:node-controller":           true,
		"system:serviceaccount:kube-system:taint-eviction-controller": true,
		"system:serviceaccount:kube-system:pod-garbage-collector":     true,
		"system:serviceaccount:kube-system:generic-garbage-collector": true,
		"system:serviceaccount:kube-system:namespace-controller":      true,
		"system:kube-controller-manager":                              true,
		"system:kube-scheduler":                                       true,
		"system:node:a1":                                              true,
		testSelf:                                                      true,
		"alice":                                                       false,
		"system:serviceaccount:db:statefulset-controller":             false,
		"system:serviceaccount:kube-system:other":                     false,
	} {
		r := *request
		r.UserInfo.Username = user
		if got := server.handle(t, r); got.Allowed != allowed {
			t.Errorf("%s: %+v", user, got.Result)
		}
	}
}

// FuzzEviction sends objects, names and records that no API server would send. The guard never
// panics, and admits no healthy member beside one that is down.
func FuzzEviction(f *testing.F) {
	for _, request := range recordedRequests(f, "eviction-*") {
		f.Add(request.Object.Raw, request.Name, "plain-1=plain-1-uid@2026-11-20T09:59:55Z", false)
	}
	f.Add([]byte("null"), "", "=@,,", true)
	objects, _ := readRequest(f, "testdata/eviction-refused.request.yaml")
	f.Fuzz(func(t *testing.T, raw []byte, name, records string, deletes bool) {
		live := &liveObjects{objects: objects}
		change(live, "budget", func(b *policyv1.PodDisruptionBudget) {
			b.Annotations = map[string]string{v1alpha1.EvictionsAnnotation: records}
		})
		request := admissionv1.AdmissionRequest{
			UID: "u", Namespace: "db", Name: name, Operation: admissionv1.Create, Resource: podResource,
			SubResource: "eviction", Object: runtime.RawExtension{Raw: raw},
		}
		if deletes {
			request.Operation, request.SubResource, request.OldObject = admissionv1.Delete, "", request.Object
		}
		got := replica(t, live, live).handle(t, request)
		if (name == "plain-0" || name == "plain-1") && !deletes && got.Allowed && reasonOf(got) != reasons.Unreadable.Name() {
			t.Fatalf("%+v", got)
		}
	})
}
