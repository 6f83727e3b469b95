// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hostileServer is an API server with namespaces of so many pods or budgets, each of which has a text of a mebibyte. It makes
// the objects of a page when it is asked for them.
type hostileServer struct {
	client.Reader
	objects int
	// text is how long the text of each object is.
	text int
	// inside is called while a page is read.
	inside func()

	pages, reading, most atomic.Int64
	mostObjects          atomic.Int64
	whole                atomic.Bool
}

func (h *hostileServer) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	h.pages.Add(1)
	raise(&h.most, h.reading.Add(1))
	defer h.reading.Add(-1)
	var by client.ListOptions
	by.ApplyOptions(opts)
	if by.Limit == 0 {
		h.whole.Store(true)
		by.Limit = int64(h.objects)
	}
	from, _ := strconv.Atoi(by.Continue)
	to := min(h.objects, from+int(by.Limit))
	raise(&h.mostObjects, int64(to-from))
	for i := from; i < to; i++ {
		meta := metav1.ObjectMeta{Name: fmt.Sprint("o-", i), Namespace: by.Namespace}
		text := strings.Repeat("x", h.text)
		switch list := list.(type) {
		case *corev1.PodList:
			pod := corev1.Pod{ObjectMeta: meta}
			pod.Spec.Containers = []corev1.Container{{Name: "c", Args: []string{text}}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error"}}}}
			list.Items = append(list.Items, pod)
		case *policyv1.PodDisruptionBudgetList:
			meta.Annotations = map[string]string{"kubectl-etcd.dev/evictions": text}
			list.Items = append(list.Items, policyv1.PodDisruptionBudget{ObjectMeta: meta})
		}
	}
	if to < h.objects {
		list.SetContinue(strconv.Itoa(to))
	}
	if h.inside != nil {
		h.inside()
	}
	return nil
}

func raise(most *atomic.Int64, n int64) {
	for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
	}
}

// patient returns a reader of a server, and a context of a request that may wait.
func patient(tb testing.TB, h client.Reader) (client.Reader, context.Context) {
	tb.Helper()
	return Bounded(h, clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))), tb.Context()
}

// TestLiveListIsSmall has namespaces of 40 objects of a mebibyte. At no time are more than some of them in memory, and of
// all of them less than that of one remains.
func TestLiveListIsSmall(t *testing.T) {
	t.Parallel()
	for _, list := range []client.ObjectList{&corev1.PodList{}, &policyv1.PodDisruptionBudgetList{}} {
		h := &hostileServer{objects: 40, text: 1 << 20}
		reader, ctx := patient(t, h)
		if err := reader.List(ctx, list, client.InNamespace("hostile")); err != nil {
			t.Fatalf("%T: %v", list, err)
		}
		items, err := itemsOf(list)
		if err != nil || items.Len() != h.objects {
			t.Errorf("%T: %d objects, %v", list, items.Len(), err)
		}
		if h.whole.Load() || h.mostObjects.Load() > firstPage {
			t.Errorf("%T: pages of up to %d objects", list, h.mostObjects.Load())
		}
		if size := sizeOf(list); size > mostCached {
			t.Errorf("%T: %d bytes are kept", list, size)
		}
		if err := reader.List(ctx, list, client.InNamespace("hostile")); err != nil {
			continue
		}
		for range 4 {
			err = reader.List(ctx, list, client.InNamespace("hostile"))
		}
		if err == nil {
			t.Errorf("%T: 240 MiB were read in a moment", list)
		}
	}
}

// TestLiveListOfOrdinaryObjects: few pages are read of a namespace with many objects that are as large as usual, and pods keep
// what shows whether a container was started.
func TestLiveListOfOrdinaryObjects(t *testing.T) {
	t.Parallel()
	h := &hostileServer{objects: 400, text: 8 << 10}
	reader, ctx := patient(t, h)
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace("shoot")); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != h.objects || h.pages.Load() > 3 {
		t.Errorf("%d pods in %d pages", len(pods.Items), h.pages.Load())
	}
	if s := pods.Items[399].Status.ContainerStatuses; len(s) != 1 || s[0].State.Terminated == nil || s[0].State.Terminated.Reason != "Error" {
		t.Errorf("statuses %+v", s)
	}
	few := &hostileServer{objects: firstPage, text: 10}
	reader, ctx = patient(t, few)
	if err := reader.List(ctx, &policyv1.PodDisruptionBudgetList{}, client.InNamespace("shoot")); err != nil || few.pages.Load() != 1 {
		t.Errorf("%d budgets in %d pages, %v", firstPage, few.pages.Load(), err)
	}
}

// TestLiveListHasAnEnd: of a namespace with so many small objects that a list would fill the memory, none is kept.
func TestLiveListHasAnEnd(t *testing.T) {
	t.Parallel()
	h := &hostileServer{objects: 500_000}
	reader, ctx := patient(t, h)
	err := reader.List(ctx, &corev1.PodList{}, client.InNamespace("hostile"))
	if err == nil || !strings.Contains(err.Error(), "too many objects") {
		t.Errorf("%v", err)
	}
}

// TestLiveListsAtOnce: one list of a namespace is read at a time, and few pages of all.
func TestLiveListsAtOnce(t *testing.T) {
	t.Parallel()
	for _, namespaces := range []int{1, 3 * pagesAtOnce} {
		h := &hostileServer{objects: 2 * firstPage, text: 10, inside: func() { time.Sleep(time.Millisecond) }}
		reader, ctx := patient(t, h)
		failed := make(chan error)
		for i := range 30 {
			go func() {
				failed <- reader.List(ctx, &corev1.PodList{}, client.InNamespace(fmt.Sprint(i%namespaces)))
			}()
		}
		for range 30 {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		if got := h.most.Load(); got > int64(min(namespaces, pagesAtOnce)) {
			t.Errorf("%d namespaces: %d pages at once", namespaces, got)
		}
	}
	full, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	slots := make(chan struct{}, 1)
	slots <- struct{}{}
	if _, err := take(full, slots); err == nil {
		t.Error("a slot was taken that is not free")
	}
}

// BenchmarkLiveList measures how much memory a list of a namespace with 400 pods of a mebibyte takes at most, and how much it
// keeps.
func BenchmarkLiveList(b *testing.B) {
	before, most := heap(), int64(0)
	now := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	h := &hostileServer{objects: 400, text: 1 << 20, inside: func() {
		most = max(most, heap()-before)
		now.SetTime(now.Now().Add(10 * time.Second)) // else the bound of the namespace ends the list
	}}
	reader := Bounded(h, now)
	for b.Loop() {
		var pods corev1.PodList
		if err := reader.List(b.Context(), &pods, client.InNamespace("hostile")); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before), "kept-B/list")
		runtime.KeepAlive(pods)
	}
	b.ReportMetric(float64(most), "peak-B")
}
