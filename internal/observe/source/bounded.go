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
)

// Bounded returns a reader that bounds the reads on behalf of each namespace. What a user of a
// namespace writes can make etcd-webhook read the API server: a pod that names an owner which
// the cache doesn't have, for example. Without a bound, such writes would delay the reads and
// writes that other namespaces' members wait for.
//
// A read that is above the bound waits in the queue if its context is OnBehalf of a request, as long
// as the request has time. Any other fails at once, so that it holds no worker of a controller.
func Bounded(from client.Reader, now clock.PassiveClock) client.Reader {
	return &bounded{Reader: from, clock: now, namespaces: map[string]*rate.Limiter{}}
}

type bounded struct {
	client.Reader
	clock      clock.PassiveClock
	mu         sync.Mutex
	namespaces map[string]*rate.Limiter
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
	return b.Reader.Get(ctx, key, obj, opts...)
}

// List implements client.Reader.
func (b *bounded) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	if err := b.wait(ctx, options.Namespace); err != nil {
		return err
	}
	return b.Reader.List(ctx, list, opts...)
}

// wait takes one read from the namespace's bound.
func (b *bounded) wait(ctx context.Context, namespace string) error {
	requested, waits := ctx.Value(onBehalf{}).(string)
	if waits {
		namespace = requested
	}
	now := b.clock.Now()
	reservation := b.of(namespace, now).ReserveN(now, 1)
	delay := reservation.DelayFrom(now)
	if delay == 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); !waits || ok && deadline.Sub(now) < delay {
		reservation.CancelAt(now)
		return fmt.Errorf("more than %d reads a second of the API server for namespace %q: try again in %s",
			readsPerSecond, namespace, delay.Round(time.Millisecond))
	}
	select {
	case <-ctx.Done():
		reservation.CancelAt(b.clock.Now())
		return ctx.Err()
	case <-time.After(delay):
		return nil
	}
}

// of returns the limiter of a namespace. It removes namespaces that have read nothing for long
// enough to be at their full bound again.
func (b *bounded) of(namespace string, now time.Time) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	limiter, ok := b.namespaces[namespace]
	if ok {
		return limiter
	}
	for name, l := range b.namespaces {
		if l.TokensAt(now) >= readsAtOnce {
			delete(b.namespaces, name)
		}
	}
	limiter = rate.NewLimiter(readsPerSecond, readsAtOnce)
	b.namespaces[namespace] = limiter
	return limiter
}
