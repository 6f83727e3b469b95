// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// counter counts the reads that reach the API server.
type counter struct{ reads int }

func (c *counter) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	c.reads++
	return nil
}

func (c *counter) List(context.Context, client.ObjectList, ...client.ListOption) error {
	c.reads++
	return nil
}

func TestBounded(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	api := &counter{}
	reader := Bounded(api, now)
	get := func(ctx context.Context, namespace string) error {
		return reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "a"}, &corev1.Pod{})
	}
	for i := range readsAtOnce {
		if err := get(t.Context(), "hostile"); err != nil {
			t.Fatalf("read %d: %v", i, err)
		}
	}
	if err := get(t.Context(), "hostile"); err == nil {
		t.Error("a read above the bound reaches the API server")
	}
	if err := reader.List(t.Context(), &corev1.PodList{}, client.InNamespace("hostile")); err == nil {
		t.Error("a list above the bound reaches the API server")
	}
	if err := get(t.Context(), "quiet"); err != nil {
		t.Errorf("another namespace has no reads left: %v", err)
	}
	short, cancel := context.WithDeadline(OnBehalf(t.Context(), "hostile"), now.Now().Add(time.Millisecond))
	defer cancel()
	if err := reader.Get(short, client.ObjectKey{Name: "a"}, &corev1.PersistentVolume{}); err == nil {
		t.Error("a read of an object without a namespace isn't counted for the request's namespace")
	}
	if err := get(OnBehalf(t.Context(), "hostile"), "hostile"); err != nil {
		t.Errorf("a request that has time doesn't wait: %v", err)
	}
	if want := readsAtOnce + 2; api.reads != want {
		t.Errorf("%d reads reached the API server, want %d", api.reads, want)
	}
	now.SetTime(now.Now().Add(time.Second))
	if err := get(t.Context(), "hostile"); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// TestBoundedRemoves checks that namespaces which read nothing any more take no memory.
func TestBoundedRemoves(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	reader := Bounded(&counter{}, now)
	for i := range 1000 {
		now.SetTime(now.Now().Add(time.Second))
		if err := reader.Get(t.Context(), client.ObjectKey{Namespace: fmt.Sprint("ns", i)}, &corev1.Pod{}); err != nil {
			t.Fatal(err)
		}
	}
	if kept := len(reader.(*bounded).namespaces); kept > 2 {
		t.Errorf("%d namespaces are remembered", kept)
	}
}
