// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reads of the API server on behalf of one namespace. A namespace with a hundred clusters that
// all start at once stays within them.
const (
	readsPerSecond = 50
	readsAtOnce    = 200
	// bytesOfRead is how many bytes count as one read. An object or a page with more counts as several.
	bytesOfRead = 256 << 10
	// inFlight is how many objects are read at the same time. Each may have 1.5 MiB.
	inFlight = 16
)

// Bounded returns a reader that bounds the reads on behalf of each namespace, in number and in size. What a user of a
// namespace writes can make etcd-webhook read the API server: a pod that names an owner which
// the cache doesn't have, for example. Without a bound, such writes would delay the reads and
// writes that other namespaces' members wait for.
//
// A read that is above the bound waits in the queue if its context is OnBehalf of a request, as long
// as the request has time. Any other fails at once, so that it holds no worker of a controller.
//
// The list of a namespace is read in pages. Its objects have what those of the cache have: a namespace can have
// more than the memory of etcd-webhook.
func Bounded(from client.Reader, now clock.PassiveClock) client.Reader {
	return &bounded{Reader: from, clock: now, namespaces: map[string]*share{}, pages: make(chan struct{}, pagesAtOnce)}
}

// bounded is a reader that limits the reads of each namespace, and the pages of lists that it reads at once.
type bounded struct {
	client.Reader
	clock      clock.PassiveClock
	mu         sync.Mutex
	namespaces map[string]*share
	// pages has an element for each page of a list that is being read.
	pages chan struct{}
}

// share is what is read on behalf of one namespace.
type share struct {
	*rate.Limiter
	// gets and lists have an element for each object and each list that is being read.
	gets, lists chan struct{}
}

// idle reports whether nothing is being read, and the share is at its full bound.
func (s *share) idle(now time.Time) bool {
	return len(s.gets)+len(s.lists) == 0 && s.TokensAt(now) >= readsAtOnce
}

// onBehalf is the context's key of a request's namespace.
type onBehalf struct{}

// OnBehalf marks a context as that of a request in a namespace, which has a deadline and waits.
// Reads of objects without a namespace count for it, too.
func OnBehalf(ctx context.Context, namespace string) context.Context {
	return context.WithValue(ctx, onBehalf{}, namespace)
}

// Get implements client.Reader.
func (b *bounded) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := b.wait(ctx, key.Namespace); err != nil {
		return err
	}
	done, err := take(ctx, b.share(ctx, key.Namespace).gets)
	if err != nil {
		return err
	}
	defer done()
	if err := b.Reader.Get(ctx, key, obj, opts...); err != nil {
		return err
	}
	b.charge(ctx, key.Namespace, sizeOf(obj))
	return nil
}

// List implements client.Reader.
func (b *bounded) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	if options.Namespace != "" && options.Limit == 0 {
		return b.listInPages(ctx, options.Namespace, list, opts)
	}
	if err := b.wait(ctx, options.Namespace); err != nil {
		return err
	}
	return b.Reader.List(ctx, list, opts...)
}

// wait takes one read from the namespace's bound.
func (b *bounded) wait(ctx context.Context, namespace string) error {
	_, waits := ctx.Value(onBehalf{}).(string)
	now := b.clock.Now()
	reservation := b.share(ctx, namespace).ReserveN(now, 1)
	delay := reservation.DelayFrom(now)
	if delay == 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); !waits || ok && deadline.Sub(now) < delay {
		reservation.CancelAt(now)
		return fmt.Errorf("more than %d reads a second of the API server for namespace %q: try again in %d ms",
			readsPerSecond, namespace, delay.Milliseconds())
	}
	select {
	case <-ctx.Done():
		reservation.CancelAt(b.clock.Now())
		return ctx.Err()
	case <-time.After(delay):
		return nil
	}
}

// charge takes what a read of so many bytes counts beside the one that it waited for.
func (b *bounded) charge(ctx context.Context, namespace string, bytes int) {
	if reads := min(bytes/bytesOfRead, readsAtOnce); reads > 0 {
		b.share(ctx, namespace).ReserveN(b.clock.Now(), reads)
	}
}

// share returns what is read on behalf of the namespace of the request, or else of this one. It removes namespaces that
// have read nothing for long enough to be at their full bound again.
func (b *bounded) share(ctx context.Context, namespace string) *share {
	if requested, is := ctx.Value(onBehalf{}).(string); is {
		namespace = requested
	}
	now := b.clock.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.namespaces[namespace]
	if ok {
		return known
	}
	for name, s := range b.namespaces {
		if s.idle(now) {
			delete(b.namespaces, name)
		}
	}
	known = &share{Limiter: rate.NewLimiter(readsPerSecond, readsAtOnce), gets: make(chan struct{}, inFlight), lists: make(chan struct{}, 1)}
	b.namespaces[namespace] = known
	return known
}
