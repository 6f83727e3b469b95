// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Request is a cut that a user wants.
type Request struct {
	// Length is how long the cut lasts. Reason is the user's own.
	Length time.Duration
	Reason string
	// Service is the one to cut, empty for all that lead clients to the members.
	Service string
	// Count means that open streams are counted, which needs access to the members.
	Count bool
	// Wait means that the command waits until the cut has its effect.
	Wait bool
	// Detach means that the command doesn't stay to restore where etcd-webhook doesn't.
	Detach bool
	// AllStop means that all members stop under the cut and start again, so that a rollout or scale in progress
	// is no obstacle, such as the stop itself if the command was interrupted then.
	AllStop bool
	// PlanOnly means that nothing is written, not even as a dry run.
	PlanOnly bool
}

// LongestCut is how long a cut lasts at most. For a longer one, a user extends it while it
// lasts, which shows that it is still wanted.
const LongestCut = observe.LongestCut

// Judge returns the plan of a cut, or an error if something forbids it. The first call sets
// the end of the cut.
func (c *Cluster) Judge(ctx context.Context, r Request) (operate.Plan, error) {
	if err := c.find(ctx, r.Service); err != nil {
		return operate.Plan{}, err
	}
	if !r.PlanOnly { // before the dry runs of probe, which would name one permission only
		if err := c.Require(ctx, c.cutNeeds(r.Count)); err != nil {
			return operate.Plan{}, err
		}
	}
	if err := c.obstacles(ctx, r); err != nil {
		return operate.Plan{}, err
	}
	if !r.PlanOnly {
		if err := c.probe(ctx); err != nil {
			return operate.Plan{}, err
		}
	}
	if c.until.IsZero() {
		c.until = c.endOf(r)
	}
	return c.cutPlan(ctx, r)
}

// endOf returns the end of a cut that begins now.
func (c *Cluster) endOf(r Request) time.Time { return c.now().Add(r.Length).Truncate(time.Second) }

// obstacles returns an error if a cut would break something.
func (c *Cluster) obstacles(ctx context.Context, r Request) error {
	for i := range c.Services.Chosen {
		obstacle, err := ServiceObstacle(ctx, c.Reader, c.Owner, &c.Services.Chosen[i])
		if err != nil {
			return err
		}
		if obstacle != "" {
			return c.refuse("%s", obstacle)
		}
	}
	if err := c.observe(ctx, r); err != nil {
		return err
	}
	if change := c.facts.Cluster.Operation; change != "" && !r.AllStop {
		return c.refuse("a change is under way (%s), and a member that joins can need Service %s; wait until it ends", change, c.list())
	}
	peers, unknown := c.peers(ctx)
	if obstacle := PeerObstacle(c.Services.Chosen, peers); obstacle != "" {
		return c.refuse("%s", obstacle)
	}
	c.peersUnknown = unknown
	for _, m := range c.survey.List {
		if m.Learner {
			return c.refuse("member %s is a learner, and can need Service %s to be promoted; wait until it is a voter", m.NameAndID(), c.list())
		}
	}
	return nil
}

// observe reads the facts, and asks the members if they can be reached.
func (c *Cluster) observe(ctx context.Context, r Request) error {
	// A user who may cut may lack the right to read nodes, which don't matter here.
	seen, _, err := c.Reader.Preload(ctx, c.Namespace, false)
	if err != nil {
		return err
	}
	if c.facts, err = seen.Facts(ctx, c.Owner); err != nil || c.Unreached != nil || c.facts.Cluster.Operation != "" && !r.AllStop {
		return err
	}
	if c.survey, err = c.Members.Survey(ctx); err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	if _, split := errors.AsType[*etcd.SplitBrainError](err); !split { // whose members answer
		c.Unreached = err
	}
	return nil
}

// probe tries the writes as a dry run, and finds out whether etcd-webhook would maintain
// the cut.
func (c *Cluster) probe(ctx context.Context) error {
	quiet, err := c.Quiet()
	if err != nil {
		return err
	}
	c.maintained = true
	for i := range c.Services.Chosen {
		var asked time.Time
		var probed probeResult
		err := c.write(ctx, func() (err error) {
			asked = c.Clock.Now()
			probed, err = probeCut(ctx, quiet, &c.Services.Chosen[i], asked)
			return err
		})
		if err != nil {
			return err
		}
		c.maintained = c.maintained && probed.maintained
		if ahead := clockOffset(probed.now, asked, c.Clock.Now()); ahead != 0 {
			c.ahead = ahead
		}
	}
	if c.maintained {
		return nil
	}
	if who := c.Product().RevertsServices; who != "" {
		return c.refuse("%s writes Service %s back within seconds, and only etcd-webhook can maintain a cut against it; install etcd-webhook first", who, c.list())
	}
	if c.suspends() {
		return c.Require(ctx, c.suspendNeeds())
	}
	return nil
}

// clockOffset returns by how much another clock is ahead of this machine's. The other clock
// showed now between asked and answered. The result is 0 if the clocks may be the same: a
// slow answer is no difference. Whole seconds and the time of a request cost two seconds.
func clockOffset(now, asked, answered time.Time) time.Duration {
	const same = 2 * time.Second
	switch {
	case asked.Sub(now) > same:
		return now.Sub(asked)
	case now.Sub(answered) > same:
		return now.Sub(answered)
	}
	return 0
}
