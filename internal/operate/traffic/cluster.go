// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Cluster is a cluster whose client traffic is cut or restored.
type Cluster struct {
	owner.Owner

	Kube   client.Client
	Reader *observe.Reader
	// Members is nil if the members can't be reached. Unreached is then the reason.
	Members   *etcd.Cluster
	Unreached error
	Clock     clock.Clock
	// Target is how the user named the cluster.
	Target string
	// Holder is user, host and process, for the record of a cut.
	Holder string

	// Quiet returns a client that drops the API server's warnings. Probe uses it.
	Quiet func() (client.Client, error)
	// Require returns an error if the user lacks a permission.
	Require func(ctx context.Context, needs []operate.Need) error
	// Announce records what was done as an Event on the owner.
	Announce func(ctx context.Context, reason policy.Reason, what string)
	// Logf reports a completed step, and Warnf a warning.
	Logf, Warnf func(format string, args ...any)

	// Services are those by which clients reach the cluster.
	Services Services
	// Record is the record of the last cut, nil if there is none.
	Record *Record

	facts  observe.Facts
	survey etcd.Survey
	// peersUnknown is why it isn't known by which hosts all members reach each other.
	peersUnknown error
	// maintained means that etcd-webhook maintains the cut and ends it.
	maintained bool
	// ahead is by how much the API server's clock is ahead of this machine's.
	ahead time.Duration
	// until is the end of the cut by the API server's clock.
	until time.Time
	// toRestore is the plan to restore that the user was shown, and cutsShown are the cuts that it ends. They are nil before.
	toRestore *operate.Plan
	cutsShown cuts
	// left is what Left returns.
	left string
}

// find finds the Services to cut: the one with a name, or all that lead clients to the
// members. It doesn't matter whether the members can be reached: that may be why a user
// cuts the traffic.
func (c *Cluster) find(ctx context.Context, service string) error {
	if named, err := owner.ParseTarget(c.Target); service == "" && err == nil && named.Kind == "service" {
		service = named.Name
	}
	var err error
	if c.Services, err = FindServices(ctx, c.Reader, c.Owner, service, c.clientPort()); err != nil {
		return err
	}
	if len(c.Services.Chosen) == 0 {
		return c.noService(service)
	}
	c.readRecord(ctx)
	return nil
}

// findCut finds the Services that are cut.
func (c *Cluster) findCut(ctx context.Context) (err error) {
	if c.Services.Chosen, err = CutServices(ctx, c.Reader, c.Owner); err == nil {
		c.readRecord(ctx)
	}
	return err
}

// readRecord reads the record of a cut, which only informs: a failure is a warning.
func (c *Cluster) readRecord(ctx context.Context) {
	var err error
	if c.Record, err = recordOf(ctx, c.Kube, c.Owner); err != nil && !apierrors.IsForbidden(err) {
		c.Warnf("%v.", err)
	}
}

// noService returns why there is no Service to cut.
func (c *Cluster) noService(service string) error {
	switch {
	case service != "" && service == c.Services.Peer:
		return c.refuse("%s", headless(service))
	case service != "" && len(c.Services.Left) > 0:
		return c.refuse("Service %s doesn't lead clients to it; Service %s does", service, strings.Join(c.Services.Left, ", "))
	case service != "":
		return c.refuse("Service %s doesn't lead clients to it", service)
	}
	return c.refuse("no Service leads clients to it: they dial the members themselves, and no selector can keep them away")
}

func (c *Cluster) refuse(format string, args ...any) error {
	return operate.RefuseTo("cut client traffic of "+c.String(), format, args...)
}

// clientPort returns where members listen for clients, 0 if it isn't known.
func (c *Cluster) clientPort() int {
	if c.Members == nil {
		return 0
	}
	for _, e := range c.Members.Endpoints {
		if e.Port != 0 {
			return e.Port
		}
	}
	return 0
}

// suspends reports whether the operator writes the Services back and can be suspended.
func (c *Cluster) suspends() bool { return c.Product().SuspendBy != "" }

// Names returns the names of the Services to cut or to restore.
func (c *Cluster) Names() []string {
	var names []string
	for i := range c.Services.Chosen {
		names = append(names, c.Services.Chosen[i].Name)
	}
	return names
}

// list names the Services in a sentence.
func (c *Cluster) list() string { return strings.Join(c.Names(), ", ") }

// now returns the API server's clock, as far as it is known.
func (c *Cluster) now() time.Time { return c.Clock.Now().Add(c.ahead) }

// cutUntil returns until when any of the Services is cut, as they were last read.
func (c *Cluster) cutUntil() (last time.Time, cut bool) {
	for i := range c.Services.Chosen {
		if until, has := observe.CutUntil(&c.Services.Chosen[i], c.now()); has && until.After(c.now()) && until.After(last) {
			last, cut = until, true
		}
	}
	return last, cut
}

// Left returns what is left of a cut or a restore that has not had its full effect, and how to go
// on. It is empty if the same command continues.
func (c *Cluster) Left() string { return c.left }

// Until returns the end of the cut.
func (c *Cluster) Until() time.Time { return c.until }

// RestoreCommand returns the command that ends the cut.
func (c *Cluster) RestoreCommand() string {
	return fmt.Sprintf("kubectl etcd restore-client-traffic %s -n %s", c.Target, c.Namespace)
}

// write calls a function that writes a Service, with retries while etcd-druid denies it.
func (c *Cluster) write(ctx context.Context, change func() error) error {
	return writeUnderProtection(ctx, c.Kube, c.Owner, c.Clock, change)
}
