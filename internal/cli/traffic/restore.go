// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// NewRestoreCommand returns the command restore-client-traffic.
func NewRestoreCommand(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: 2 * time.Minute}
	cmd := &cobra.Command{
		Use:   "restore-client-traffic TARGET",
		Short: "Let clients reach an etcd cluster again",
		Long: ui.Paragraphs(`
			Let clients reach an etcd cluster again, before a cut's time is over. The key of
			cut-client-traffic is taken out of the client Service's selector and nothing else, and
			etcd-druid's reconciliation goes on if that command had suspended it. On a cluster that isn't
			cut nothing happens.`),
		Example: ui.Examples(`
			# Before the cut's time is over
			kubectl etcd restore-client-traffic etcd-main

			# In a script, with a word for the others
			kubectl etcd restore-client-traffic etcd-main -y --reason "the restore is done"`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return restoreClientTraffic(cmd.Context(), e, cmd, args[0], ch)
		},
	}
	change.AddFlags(cmd, &ch)
	ui.AddOutputFlags(cmd)
	return cmd
}

// restoreClientTraffic is the verb.
func restoreClientTraffic(ctx context.Context, e *app.App, cmd *cobra.Command, target string, ch change.Flags) error {
	t, err := restorable(ctx, e, target)
	if err != nil {
		return err
	}
	t.Change = ch
	suspended := t.druid() && traffic.SuspendedByCut(t.Owner)
	if len(t.Services.Chosen) == 0 && !suspended {
		return t.nothingToRestore(ctx, cmd)
	}
	return change.Do(ctx, e, t.Cluster, ch, change.Operation{
		Verb: traffic.RestoreOperation, Needs: t.restoreNeeds(suspended), AllowsUnfinished: true, Detaches: true,
		// Restoring what is restored does nothing, so no facts can stand against it.
		Judge: func(context.Context) (operate.Plan, error) { return t.restorePlan(suspended), nil },
		Act:   func(ctx context.Context, run *change.Run) error { return run.RestoreLocked(ctx, t.names()) },
		After: func(ctx context.Context) error {
			out := t.outcome()
			if ch.Wait && len(out.Services) > 0 {
				if err := t.awaitReady(ctx, out); err != nil {
					return err
				}
			}
			return e.Print(cmd, out, nothing)
		},
	})
}

// nothingToRestore says so, and forgets a cut that is over.
func (t *clientTraffic) nothingToRestore(ctx context.Context, cmd *cobra.Command) error {
	t.env.Step("Client traffic of %s is not cut", t.Owner)
	if t.record != nil && t.Change.DryRun == change.DryRunNone {
		t.forget(ctx)
	}
	return t.env.Print(cmd, t.outcome(), nothing)
}

// restoreNeeds are the permissions that restoring uses.
func (t *clientTraffic) restoreNeeds(suspended bool) []operate.Need {
	needs := t.needs()
	if suspended {
		needs = append(needs, t.suspendNeeds()...)
	}
	return needs
}

// awaitReady waits until clients of each Service find a member again.
func (t *clientTraffic) awaitReady(ctx context.Context, out *output.ClientTrafficReport) error {
	pods, err := t.Reader.MemberPods(ctx, t.Owner)
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		t.env.Step("No member runs: clients find those that start")
		return nil
	}
	ctx, cancel := app.Within(ctx, t.Change.Timeout, "client traffic is restored, but its Service has no ready endpoint yet")
	defer cancel()
	if err := t.awaitEndpoints(ctx, out, func(n int) bool { return n > 0 }, "endpoints to be ready"); err != nil {
		return err
	}
	for _, s := range out.Services {
		t.env.Step("Service %s has %d ready endpoints", s.Name, s.ReadyEndpoints)
	}
	return nil
}

// nothing is the table of what was all said already.
func nothing(io.Writer, bool) error { return nil }

// restorable finds the Services of a cluster that are cut.
func restorable(ctx context.Context, e *app.App, target string) (*clientTraffic, error) {
	c, err := e.Owner(ctx, target)
	if err != nil {
		return nil, err
	}
	t := &clientTraffic{env: e, target: target, Cluster: c}
	if t.Services.Chosen, err = change.CutServices(ctx, c); err != nil {
		return nil, err
	}
	if t.record, err = traffic.ReadRecord(ctx, t.Kube, t.Owner); err != nil && !apierrors.IsForbidden(err) {
		e.Warn("%v.", err)
	}
	return t, nil
}

func (t *clientTraffic) restorePlan(suspended bool) operate.Plan {
	p := operate.Plan{Title: fmt.Sprintf("restore client traffic of %s", t.Owner)}
	if until, cut := t.cutNow(); cut {
		p.Facts = append(p.Facts, fmt.Sprintf("client traffic is cut until %s%s", clockTime(until), t.whoCut()))
	}
	if len(t.Services.Chosen) > 0 {
		p.Steps = append(p.Steps, fmt.Sprintf("take the key of the cut out of the selector of Service %s", t.list()))
	}
	if suspended {
		p.Steps = append(p.Steps, "let etcd-druid reconcile again, which was suspended for the cut")
	}
	return p
}
