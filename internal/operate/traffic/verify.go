// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
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

// ResidualError means that clients still have open streams or make requests, or that this could
// not be counted.
type ResidualError struct{ message string }

func (e *ResidualError) Error() string { return e.message }

// Residual returns an error if streams or requests are left. What is known of some members counts
// even if other members can't be read.
func (e Effect) Residual() error {
	streams, requests, perSecond, unknown := 0, 0, 0.0, e.OpenStreams == nil
	for _, m := range e.Members {
		unknown = unknown || m.Err != nil
		for _, s := range m.Open {
			streams += s.AtLeast
		}
		for _, r := range m.Requests {
			requests += r.AtLeast
			perSecond += float64(r.AtLeast) / float64(max(r.Seconds, 1))
		}
	}
	var left []string
	if streams > 0 {
		left = append(left, fmt.Sprintf("clients still hold at least %d streams open", streams))
	}
	if requests > 0 {
		left = append(left, fmt.Sprintf("clients still make requests, at least %.1f per second", perSecond))
	}
	switch {
	case len(left) > 0:
		return &ResidualError{"client traffic is cut, but " + strings.Join(left, ", and ") +
			": stop or restart them, including those that use the members' own names, or use --allow-residual"}
	case unknown:
		return &ResidualError{"client traffic is cut, but the traffic of some members couldn't be counted: see the reasons above, or use --allow-residual"}
	}
	return nil
}

// AwaitCut waits until no endpoint is ready, and counts the traffic that is left.
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
	c.Logf("No endpoint of Service %s is ready: new connections through it fail", c.list())
	if c.Unreached == nil {
		c.Logf("Counting streams and requests for %s", policy.Duration(measureTime))
		e.Members = addUnreached(measure(ctx, c.Members, c.Clock, c.own(ctx)), c.survey.List)
		e.OpenStreams = sum(e.Members)
	}
	// Without Detach, the command continues to hold the cut, whatever could be counted in time.
	if err := context.Cause(ctx); err != nil && r.Detach {
		return e, fmt.Errorf("count streams and requests: %w", err)
	}
	return e, nil
}

// addUnreached adds the members that etcd lists and that no pod runs. They may serve clients elsewhere, so
// their traffic is not known.
func addUnreached(measured []MemberStreams, listed []etcd.Listed) []MemberStreams {
	for _, l := range listed {
		if !slices.ContainsFunc(measured, func(m MemberStreams) bool { return m.Pod == l.Pod }) {
			measured = append(measured, MemberStreams{Pod: l.NameAndID(), Err: errNoPod})
		}
	}
	return measured
}

var errNoPod = errors.New("no pod of the cluster runs it, so its metrics can't be read")

// AwaitRestored waits until clients of each Service find a member. Without members it
// doesn't wait.
func (c *Cluster) AwaitRestored(ctx context.Context) (Effect, error) {
	c.left = fmt.Sprintf("client traffic is not cut any more. kubectl etcd check %s -n %s shows why no endpoint is ready", c.Target, c.Namespace)
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
			return nil, fmt.Errorf("the cut ended automatically at %s, before all endpoints were gone: clients can connect again; cut for longer (--for)", format.Time(ends))
		}
		if err := operate.Pause(ctx, c.Clock, endpointPeriod); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(unwanted, "; "), err)
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
