// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// obstacles refuses what a cut would break.
func (t *clientTraffic) obstacles(ctx context.Context) error {
	for i := range t.Services.Chosen {
		obstacle, err := traffic.ServiceObstacle(ctx, t.Reader, t.Owner, &t.Services.Chosen[i])
		if err != nil {
			return err
		}
		if obstacle != "" {
			return app.Refused("%s", obstacle)
		}
	}
	// Who may cut here may not be allowed to see nodes, which count for nothing.
	seen, _, err := t.Reader.Preload(ctx, t.Namespace, false)
	if err != nil {
		return err
	}
	if t.facts, err = seen.Facts(ctx, t.Owner); err != nil {
		return err
	}
	if under := t.facts.Cluster.Operation; under != "" {
		return app.Refused("%s: a change is under way (%s), and a member that joins can need Service %s; wait until it ends", t.Owner, under, t.list())
	}
	if t.unreached == nil {
		if t.survey, err = t.Members.Survey(ctx); err != nil {
			switch {
			case ctx.Err() != nil:
				return err
			case !app.Is[*etcd.SplitBrainError](err): // whose members can be asked
				t.unreached = err
			}
		}
	}
	if obstacle := traffic.PeerObstacle(t.Services.Chosen, t.survey.List); obstacle != "" {
		return app.Refused("%s", obstacle)
	}
	for _, m := range t.survey.List {
		if m.Learner {
			return app.Refused("%s: member %s is a learner, and can need Service %s to be promoted; wait until it is a voter", t.Owner, m.NameAndID(), t.list())
		}
	}
	return nil
}

// probe tries the write, and finds out whether etcd-webhook would keep it.
func (t *clientTraffic) probe(ctx context.Context) error {
	quiet, err := t.env.Quiet()
	if err != nil {
		return err
	}
	t.kept = true
	for i := range t.Services.Chosen {
		var asked time.Time
		var probed traffic.ProbeResult
		err := t.write(ctx, func() (err error) {
			asked = t.env.Clock.Now()
			probed, err = traffic.Probe(ctx, quiet, &t.Services.Chosen[i], asked)
			return err
		})
		if err != nil {
			return err
		}
		t.kept = t.kept && probed.Kept
		if ahead := aheadBy(probed.Now, asked, t.env.Clock.Now()); ahead != 0 {
			t.ahead = ahead
		}
	}
	if t.kept {
		return nil
	}
	if who := t.Product().RevertsServices; who != "" {
		return app.Refused("%s writes Service %s back within seconds, and only etcd-webhook can keep a cut against it; install etcd-webhook first", who, t.list())
	}
	if t.druid() {
		return change.Require(ctx, t.env, t.Cluster, t.suspendNeeds())
	}
	return nil
}

// aheadBy is by how much another clock is ahead that said now between two moments here,
// 0 where it may be the same: a slow answer is no other time. Two seconds are what whole
// seconds and a moment cost.
func aheadBy(now, asked, answered time.Time) time.Duration {
	const same = 2 * time.Second
	switch {
	case asked.Sub(now) > same:
		return now.Sub(asked)
	case now.Sub(answered) > same:
		return now.Sub(answered)
	}
	return 0
}

// cutPlan is what a cut will do.
func (t *clientTraffic) cutPlan(ctx context.Context, o cutOptions) (operate.Plan, error) {
	p := operate.Plan{Title: fmt.Sprintf("cut client traffic of %s for %s, until %s", t.Owner, o.length, clockTime(t.until))}
	ready, size := t.ready(), t.facts.Cluster.Size
	if size == 0 {
		p.Facts = append(p.Facts, "no member is asked for")
	} else {
		p.Facts = append(p.Facts, fmt.Sprintf("%d of %d members are ready, quorum is %d", ready, size, policy.Quorum(size)))
	}
	for _, name := range t.names() {
		endpoints, err := traffic.ReadyEndpoints(ctx, t.Kube, client.ObjectKey{Namespace: t.Namespace, Name: name})
		if err != nil {
			return p, err
		}
		p.Facts = append(p.Facts, fmt.Sprintf("Service %s has %d ready endpoints", name, len(endpoints)))
	}
	p.Facts = append(p.Facts, t.notCut())
	if until, cut := t.cutNow(); cut {
		p.Title = fmt.Sprintf("move the end of the cut of client traffic of %s from %s to %s", t.Owner, clockTime(until), clockTime(t.until))
		p.Facts = append(p.Facts, "client traffic is cut already"+t.whoCut())
	}
	p.Steps = t.steps(o)
	p.Warnings = t.warnings(ready)
	return p, nil
}

// ready counts the members that answer; where they can't be asked, those that
// Kubernetes takes for ready.
func (t *clientTraffic) ready() int {
	n := 0
	for _, m := range t.survey.Members {
		if m.Err == nil && !m.Learner {
			n++
		}
	}
	for _, m := range t.facts.Cluster.Members {
		if t.unreached != nil && m.Ready {
			n++
		}
	}
	return n
}

// whoCut tells what the record says of the cut that is there.
func (t *clientTraffic) whoCut() string {
	if t.record == nil {
		return ""
	}
	text := ", by " + t.record.Holder
	if t.record.Reason != "" {
		text += ": " + t.record.Reason
	}
	return text
}

func (t *clientTraffic) steps(o cutOptions) []string {
	var steps []string
	druid := t.druid() && !traffic.Suspended(t.Owner)
	if !t.kept && druid && o.DryRun != change.DryRunClient {
		steps = append(steps, "suspend etcd-druid's reconciliation, which would write the Service back")
	}
	if _, cut := t.cutNow(); cut {
		steps = append(steps, fmt.Sprintf("write the new end into the selector of Service %s", t.list()))
	} else {
		steps = append(steps, fmt.Sprintf("write a key that no pod has into the selector of Service %s", t.list()))
	}
	if o.Wait {
		steps = append(steps, "wait until no endpoint is ready, and count the streams that clients still hold open")
	}
	switch {
	case o.DryRun == change.DryRunClient:
		return append(steps, "whether etcd-webhook keeps and ends the cut is not asked: see --dry-run=server")
	case t.kept:
		return append(steps, fmt.Sprintf("etcd-webhook keeps the cut whoever writes the Service, and restores at %s", clockTime(t.until)))
	case o.detach:
		return append(steps, "NOTHING restores it: etcd-webhook doesn't answer for this Service, and --detach was given")
	}
	last := fmt.Sprintf("stay here until %s or Ctrl-C, then restore: etcd-webhook doesn't answer for this Service", clockTime(t.until))
	if druid {
		last += "; let etcd-druid go on"
	}
	return append(steps, last)
}

// notCut is what a cut leaves as it is.
func (t *clientTraffic) notCut() string {
	text := "not cut: connections that are open"
	if t.Services.Peer != "" {
		text += ", and clients that dial members by name, through the headless Service " + t.Services.Peer
	}
	return text
}

// warnings are what a cut breaks, and what to do before.
func (t *clientTraffic) warnings(ready int) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if len(t.Services.Left) > 0 {
		say("Clients still come in through Service %s.", strings.Join(t.Services.Left, ", "))
	}
	if t.druid() {
		say("etcd-backup-restore uses Service %s, too: until it is restored no member can join or join again, and EtcdOpsTasks for snapshots fail. Scheduled snapshots go on.", t.list())
	}
	if ready < t.facts.Cluster.Size {
		say("Only %d of %d members are ready; what is down may not come back while client traffic is cut.", ready, t.facts.Cluster.Size)
	}
	if err := t.survey.ListErr; t.unreached == nil && err != nil {
		say("Whether there is a learner is not known: %v", err)
	}
	if t.unreached != nil {
		say("The members can't be asked, so neither learners nor open streams are known: %v", t.unreached)
	}
	if _, cut := t.cutNow(); !cut {
		say("No snapshot is taken for this. For one: kubectl etcd snapshot save %s -n %s", t.target, t.Namespace)
	}
	return out
}
