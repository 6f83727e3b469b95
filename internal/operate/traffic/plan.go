// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// cutPlan describes what a cut will do.
func (c *Cluster) cutPlan(ctx context.Context, r Request) (operate.Plan, error) {
	p := operate.Plan{Title: fmt.Sprintf("cut client traffic of %s for %s, until %s", c.Owner, policy.Duration(r.Length), format.Time(c.until)), Subject: c.list()}
	ready, voters := c.ready(), c.voters()
	if voters == 0 {
		p.Facts = append(p.Facts, "the cluster should have no member")
	} else {
		p.Facts = append(p.Facts, fmt.Sprintf("%d of %d members are ready, quorum is %d", ready, voters, policy.Quorum(voters)))
	}
	for _, name := range c.Names() {
		endpoints, err := ReadyEndpoints(ctx, c.Kube, client.ObjectKey{Namespace: c.Namespace, Name: name})
		if err != nil {
			return p, err
		}
		p.Facts = append(p.Facts, fmt.Sprintf("Service %s has %d ready endpoints", name, len(endpoints)))
	}
	p.Facts = append(p.Facts, c.notCut())
	if until, cut := c.cutUntil(); cut {
		p.Title = fmt.Sprintf("move the end of the cut of client traffic of %s from %s to %s", c.Owner, format.Time(until), format.Time(c.until))
		p.Facts = append(p.Facts, "client traffic is cut already"+c.whoCut())
	}
	p.Steps = c.steps(r)
	p.Warnings, p.Passing = c.warnings(ready), c.unread()
	return p, nil
}

// ready returns the number of voters that answer. If the members can't be asked, it is the
// number that Kubernetes has as ready.
func (c *Cluster) ready() int {
	n := 0
	for _, m := range c.survey.Answers() {
		if !m.Learner {
			n++
		}
	}
	for _, m := range c.facts.Cluster.Members {
		if c.Unreached != nil && m.Ready {
			n++
		}
	}
	return n
}

// voters returns how many voters etcd lists, also without a pod. If its list is not known, it is the size of the cluster
// by its objects.
func (c *Cluster) voters() int {
	if c.Unreached != nil || c.survey.ListErr != nil || len(c.survey.List) == 0 {
		return c.facts.Cluster.Size
	}
	n := 0
	for _, l := range c.survey.List {
		if !l.Learner {
			n++
		}
	}
	return n
}

// whoCut returns who made the present cut, and why, from its record.
func (c *Cluster) whoCut() string {
	if c.Record == nil {
		return ""
	}
	text := ", by " + c.Record.Holder
	if c.Record.Reason != "" {
		text += ": " + c.Record.Reason
	}
	return text
}

func (c *Cluster) steps(r Request) []string {
	var steps []string
	suspends, operator := c.suspends() && !Suspended(c.Owner), c.Membership().ManagerName
	if !c.maintained && suspends && !r.PlanOnly {
		steps = append(steps, "suspend "+operator+"'s reconciliation, which would write the Service back")
	}
	if _, cut := c.cutUntil(); cut {
		steps = append(steps, fmt.Sprintf("write the new end into the selector of Service %s", c.list()))
	} else {
		steps = append(steps, fmt.Sprintf("write a key that no pod has into the selector of Service %s", c.list()))
	}
	if r.Wait {
		steps = append(steps, "wait until no endpoint is ready, and count the streams that clients still hold open and their requests")
	}
	switch {
	case r.PlanOnly:
		return append(steps, "it is not checked whether etcd-webhook maintains and ends the cut: use --dry-run=server")
	case c.maintained:
		return append(steps, fmt.Sprintf("etcd-webhook maintains the cut against other writers of the Service, and restores at %s", format.Time(c.until)))
	case r.Detach:
		return append(steps, "NOTHING restores it: etcd-webhook doesn't answer for this Service, and --detach was given")
	}
	last := fmt.Sprintf("stay here until %s or Ctrl-C, then restore: etcd-webhook doesn't answer for this Service", format.Time(c.until))
	if suspends {
		last += "; then resume " + operator + "'s reconciliation"
	}
	return append(steps, last)
}

// notCut returns what a cut doesn't affect.
func (c *Cluster) notCut() string {
	text := "not cut: open connections"
	if c.Services.Peer != "" {
		text += ", and clients that dial members by name, through the headless Service " + c.Services.Peer
	}
	return text
}

// warnings returns what a cut breaks, and what to do before.
func (c *Cluster) warnings(ready int) []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if len(c.Services.Left) > 0 {
		warn("Clients can still use Service %s.", strings.Join(c.Services.Left, ", "))
	}
	if c.Product().BackupRestore {
		warn("etcd-backup-restore uses Service %s, too: until it is restored, no member can join or rejoin, and EtcdOpsTasks for snapshots fail. Scheduled snapshots go on.", c.list())
	}
	if voters := c.voters(); ready < voters {
		warn("Only %d of %d members are ready. A member that is down may not come back while client traffic is cut.", ready, voters)
	}
	if _, cut := c.cutUntil(); !cut {
		warn("No snapshot is taken for this. To take one: kubectl etcd snapshot save %s -n %s", c.Target, c.Namespace)
	}
	return out
}

// unread returns what is not known of a cut, with the errors.
func (c *Cluster) unread() []operate.Passing {
	var out []operate.Passing
	if err := c.survey.ListErr; c.Unreached == nil && err != nil {
		out = append(out, operate.Passingf("It is not known whether there is a learner: %v", err))
	}
	if err := c.peersUnknown; err != nil {
		out = append(out, operate.Passingf("It is not known whether members reach each other by Service %s: %v. If they do, the cut separates them.", c.list(), err))
	}
	if c.Unreached != nil {
		out = append(out, operate.Passingf("The members can't be asked, so neither learners nor the clients' traffic are known: %v", c.Unreached))
	}
	return out
}
