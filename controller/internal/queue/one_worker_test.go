// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestFloodHoldsOneWorker has as many workers as a controller. Those that reconcile the objects of one namespace
// never come to an end, and another namespace is served.
func TestFloodHoldsOneWorker(t *testing.T) {
	t.Parallel()
	queue := OfRequests("held", Backoff[reconcile.Request]())
	for i := range 1000 {
		queue.Add(requestFor("hostile", fmt.Sprint(i)))
	}
	served := make(chan reconcile.Request)
	end := make(chan struct{})
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() { serve(queue, served, end) })
	}
	if first := <-served; first.Namespace != "hostile" {
		t.Errorf("first %s", first)
	}
	for i := range 100 {
		queue.Add(requestFor("quiet", fmt.Sprint(i)))
		select {
		case request := <-served:
			if request != requestFor("quiet", fmt.Sprint(i)) {
				t.Fatalf("%s is served while another one of its namespace is", request)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("item %d of the other namespace waits", i)
		}
	}
	queue.ShutDown()
	close(end)
	workers.Wait()
}

// serve reconciles what a queue has. A request of the hostile namespace ends with the test.
func serve(queue workqueue.TypedRateLimitingInterface[reconcile.Request], served chan<- reconcile.Request, end <-chan struct{}) {
	for {
		request, shutdown := queue.Get()
		if shutdown {
			return
		}
		select {
		case served <- request:
		case <-end:
		}
		if request.Namespace == "hostile" {
			<-end
		}
		queue.Done(request)
	}
}

// TestEveryItemIsServedOnce has several workers serve items of several namespaces. Each comes out as often as it
// was added while it was not waiting, and no two of one namespace at the same time.
func TestEveryItemIsServedOnce(t *testing.T) {
	t.Parallel()
	queue := OfRequests("once", Backoff[reconcile.Request]())
	const namespaces, items = 5, 200
	var (
		mu      sync.Mutex
		working = map[string]bool{}
		counts  = map[reconcile.Request]int{}
		workers sync.WaitGroup
		all     sync.WaitGroup
	)
	all.Add(namespaces * items)
	for range 4 {
		workers.Go(func() {
			for {
				request, shutdown := queue.Get()
				if shutdown {
					return
				}
				mu.Lock()
				if working[request.Namespace] || request.Namespace == "" {
					t.Errorf("%s is served while another one of its namespace is", request)
				}
				working[request.Namespace] = true
				counts[request]++
				again := counts[request] == 1 && len(request.Name)%2 == 0
				mu.Unlock()
				if again {
					queue.Add(request) // it has changed meanwhile
				} else {
					all.Done()
				}
				mu.Lock()
				working[request.Namespace] = false
				mu.Unlock()
				queue.Done(request)
			}
		})
	}
	for i := range items {
		for n := range namespaces {
			queue.Add(requestFor(fmt.Sprint("ns", n), fmt.Sprint(i)))
		}
	}
	all.Wait()
	queue.ShutDown()
	workers.Wait()
	for request, n := range counts {
		if want := 2 - len(request.Name)%2; n != want {
			t.Errorf("%s was served %d times, want %d", request, n, want)
		}
	}
}
