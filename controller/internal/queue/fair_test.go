// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestFloodDelaysNoNamespace adds many objects of one namespace before one of another.
func TestFloodDelaysNoNamespace(t *testing.T) {
	t.Parallel()
	queue := OfRequests("flood", Backoff[reconcile.Request]())
	defer queue.ShutDown()
	for i := range 20_000 {
		queue.Add(requestFor("hostile", fmt.Sprint(i)))
	}
	queue.Add(requestFor("quiet", "main"))
	for i := range 2 {
		request, _ := queue.Get()
		if request.Namespace == "quiet" {
			return
		}
		if i == 1 {
			t.Errorf("item %d is %s", i+1, request)
		}
		queue.Done(request)
	}
}

// TestFairQueue holds for random pushes and pops that every item comes out once, that items of
// one namespace keep their order, and that no namespace is served twice while another one waits
// that was there before.
func TestFairQueue(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	queue := &fair[reconcile.Request]{namespaceOf: namespaceOfRequest, waiting: map[string][]reconcile.Request{}, busy: map[string]bool{}}
	inside := map[string][]string{}
	// passed counts how often others were served since a waiting namespace was.
	passed := map[string]map[string]int{}
	for i := range 10_000 {
		if random.IntN(2) == 0 || queue.Len() == 0 {
			request := requestFor(fmt.Sprint("ns", random.IntN(5)), fmt.Sprint(i))
			queue.Push(request)
			inside[request.Namespace] = append(inside[request.Namespace], request.Name)
			continue
		}
		request := queue.Pop()
		queue.release(request)
		if want := inside[request.Namespace][0]; request.Name != want {
			t.Fatalf("step %d: %s came before %s", i, request, want)
		}
		inside[request.Namespace] = inside[request.Namespace][1:]
		delete(passed, request.Namespace)
		for namespace, items := range inside {
			if namespace == request.Namespace || len(items) == 0 {
				continue
			}
			if passed[namespace] == nil {
				passed[namespace] = map[string]int{}
			}
			if passed[namespace][request.Namespace]++; passed[namespace][request.Namespace] > 1 {
				t.Fatalf("step %d: %s was served twice while %s waited", i, request.Namespace, namespace)
			}
		}
	}
}

func requestFor(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}
