// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Effect is what a cut or a restore has brought about.
type Effect struct {
	// Ready is the number of ready endpoints of each Service, in the order of Names. Nil
	// means that they were not awaited.
	Ready []int
	// Members are the open streams of each member. OpenStreams is their sum, nil if those
	// of any member are not known.
	Members     []MemberStreams
	OpenStreams *int
}

// ResidualError means that clients still have open streams, or that they could not be counted.
type ResidualError struct{ message string }

func (e *ResidualError) Error() string { return e.message }

// Residual returns an error if streams are left.
func (e Effect) Residual() error {
	switch n := e.OpenStreams; {
	case n == nil:
		return &ResidualError{"client traffic is cut, but the open streams of some members couldn't be counted: see the reasons above, or use --allow-residual"}
	case *n > 0:
		return &ResidualError{fmt.Sprintf("client traffic is cut, but clients still hold at least %d streams open: stop or restart them, or use --allow-residual", *n)}
	}
	return nil
}

// AwaitCut waits until no endpoint is ready, and counts the streams that are still open.
func (c *Cluster) AwaitCut(ctx context.Context, r Request) (Effect, error) {
	ends := time.Time{}
	if c.maintained || !r.Detach {
		ends = c.until
	}
	var e Effect
	var err error
	if e.Ready, err = c.awaitEndpoints(ctx, ends, func(n int) bool { return n == 0 }, "no endpoint to be ready"); err != nil {
		return e, err
	}
	c.Logf("No endpoint of Service %s is ready: new connections fail", c.list())
	if c.Unreached == nil {
		e.Members = CountStreams(ctx, c.Members, c.ownStreams())
		e.OpenStreams = sum(e.Members)
	}
	return e, nil
}

// AwaitRestored waits until clients of each Service find a member. Without members it
// doesn't wait.
func (c *Cluster) AwaitRestored(ctx context.Context) (Effect, error) {
	pods, err := c.Reader.MemberPods(ctx, c.Owner)
	if err != nil {
		return Effect{}, err
	}
	if len(pods) == 0 {
		c.Logf("No member runs. Clients reach members when they start")
		return Effect{}, nil
	}
	ready, err := c.awaitEndpoints(ctx, time.Time{}, func(n int) bool { return n > 0 }, "endpoints to be ready")
	if err != nil {
		return Effect{}, err
	}
	for i, name := range c.Names() {
		c.Logf("Service %s has %d ready endpoints", name, ready[i])
	}
	return Effect{Ready: ready}, nil
}

// endpointPeriod is the time between two reads of the EndpointSlices.
const endpointPeriod = 300 * time.Millisecond

// awaitEndpoints waits until the number of each Service's ready endpoints is as wanted. ends
// is the end of a cut that ends automatically, or zero.
func (c *Cluster) awaitEndpoints(ctx context.Context, ends time.Time, wanted func(int) bool, what string) ([]int, error) {
	for {
		counts, unwanted, err := c.countEndpoints(ctx, wanted)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("waited for %s: %w", what, context.Cause(ctx))
		case err != nil:
			return nil, err
		case len(unwanted) == 0:
			return counts, nil
		case !ends.IsZero() && c.now().After(ends):
			return nil, fmt.Errorf("the cut ended automatically at %s, before all endpoints were gone: clients can connect again; cut for longer (--for)", clockTime(ends))
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", strings.Join(unwanted, "; "), context.Cause(ctx))
		case <-c.Clock.After(endpointPeriod):
		}
	}
}

// countEndpoints returns the number of ready endpoints of each Service, and a sentence for
// each that isn't as wanted.
func (c *Cluster) countEndpoints(ctx context.Context, wanted func(int) bool) (counts []int, unwanted []string, err error) {
	for _, name := range c.Names() {
		ready, err := ReadyEndpoints(ctx, c.Kube, client.ObjectKey{Namespace: c.Namespace, Name: name})
		if err != nil {
			return nil, nil, err
		}
		counts = append(counts, len(ready))
		if !wanted(len(ready)) {
			unwanted = append(unwanted, strings.TrimSuffix(fmt.Sprintf("Service %s has %d ready endpoints: %s", name, len(ready), strings.Join(ready, ", ")), ": "))
		}
	}
	return counts, unwanted, nil
}

// sum returns the number of open streams, nil if those of any member are not known.
func sum(members []MemberStreams) *int {
	total := 0
	for _, m := range members {
		if m.Err != nil {
			return nil
		}
		for _, s := range m.Open {
			total += s.AtLeast
		}
	}
	return &total
}

// ownStreams are those of the product itself: druid's backup-restore beside the leader
// watches etcd for its delta snapshots.
func (c *Cluster) ownStreams() map[string]map[string]int {
	own := map[string]map[string]int{}
	if !c.druid() || c.facts.Cluster.BackupReady.Status == policy.Absent {
		return own
	}
	if leader, ok := c.survey.Leader(); ok {
		own[leader.Pod] = map[string]int{"Watch/Watch": 1}
	}
	return own
}
