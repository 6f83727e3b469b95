// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package cutclienttraffic implements kubectl etcd cut-client-traffic.
package cutclienttraffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// options are the flags of cut-client-traffic.
type options struct {
	change.Flags

	length        time.Duration
	service       string
	allowResidual bool
	detach        bool
}

// NewCommand returns the command cut-client-traffic.
func NewCommand(a *app.App) *cobra.Command {
	o := options{Flags: change.Flags{Timeout: 2 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "cut-client-traffic TARGET --for DURATION --reason TEXT",
		Short: "Keep clients away from an etcd cluster for a while",
		Long: ui.Paragraphs(`
			Keep clients away from an etcd cluster for a while. The command adds the key
			kubectl-etcd.dev/client-traffic to the selector of the client Service. No pod has this key,
			so the Service has no endpoints, and new connections fail. The members keep their quorum,
			because they use another Service. The value of the key is the end of the cut, at most 24h
			later. To move the end, run the command again.

			If etcd-webhook is installed, it maintains the cut against other writers of the Service, and
			restores the traffic at the end of the cut, even if this command is gone. Otherwise this
			command keeps running. It restores the traffic at the end of the cut or at Ctrl-C. Until then
			it suspends the reconciliation of etcd-druid. With --detach nothing restores the traffic.

			A cut doesn't end open connections, and clients that dial members by their own names or
			through another Service are not cut. When the endpoints are gone, the command reads from the
			metrics of the members how many streams clients still hold open (watches and lease
			keep-alives). For five seconds it counts all requests that still arrive. The numbers
			are minimums. An idle connection has no stream and makes no request, one stream can have many
			watches, and etcd doesn't report which client it is. What the probes of the pods and the
			sidecars of etcd-druid do is subtracted.

			Exit codes: 0 no endpoint is ready, no stream is open and no request comes, or
			--allow-residual; 3 clients' traffic is left or couldn't be counted.`),
		Example: ui.Examples(`
			# Cut for a quarter of an hour
			kubectl etcd cut-client-traffic etcd-main --for 15m --reason "restore of last night's backup"

			# Only one of the Services that lead to the cluster, and accept open streams
			kubectl etcd cut-client-traffic service/etcd-main-client --for 15m --reason drill --allow-residual

			# Show what the command would do
			kubectl etcd cut-client-traffic etcd-main --for 15m --reason drill --dry-run=server`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd, a, args[0], o)
		},
	}
	change.AddFlags(cmd, &o.Flags)
	ui.AddOutputFlags(cmd)
	cmd.Flags().DurationVar(&o.length, "for", 0, "Length of the cut, from now")
	cmd.Flags().StringVar(&o.service, "service", "", "Cut only this Service. The default is every Service that leads to the client port of the members")
	cmd.Flags().BoolVar(&o.allowResidual, "allow-residual", false, "Succeed even if traffic of clients is left or couldn't be counted")
	cmd.Flags().BoolVar(&o.detach, "detach", false, "Don't keep running if etcd-webhook is not installed. Then nothing restores the traffic")
	for _, name := range []string{"for", "reason"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was added above
		}
	}
	return cmd
}

// run cuts client traffic, and stays until the end of the cut if nothing else restores.
func run(cmd *cobra.Command, a *app.App, target string, o options) error {
	ctx := cmd.Context()
	if o.length < time.Second || o.length > traffic.LongestCut {
		return fmt.Errorf("--for %s: a cut lasts from 1s to %s", policy.Duration(o.length), policy.Duration(traffic.LongestCut))
	}
	if o.Reason == "" {
		return errors.New("--reason is empty: enter a reason for the users whose clients are cut off")
	}
	c, unreached, err := a.ClusterBestEffort(ctx, target)
	if err != nil {
		return err
	}
	defer func() {
		if err := c.Close(); err != nil {
			a.Warn("%v.", err)
		}
	}()
	t := change.Traffic(a, c, target, o.Flags)
	t.Unreached = unreached
	r := o.request()
	return change.Do(ctx, a, c, o.Flags, change.Operation{
		Verb: traffic.CutOperation, Detaches: true,
		Judge: func(ctx context.Context) (operate.Plan, error) {
			t.Owner, t.Members = c.Owner, c.Members
			return t.Judge(ctx, r)
		},
		Act: func(ctx context.Context, run *change.Run) error {
			t.Holder = app.Identity(a.User)
			return t.Cut(ctx, run.Lock, r)
		},
		After: func(ctx context.Context, limit app.Limit) error { return exitCode(after(ctx, limit, a, cmd, t, o)) },
		Next:  func(error) string { return t.Left() },
	})
}

func (o options) request() traffic.Request {
	return traffic.Request{
		Length: o.length, Reason: o.Reason, Wait: o.Wait, Detach: o.detach, PlanOnly: o.DryRun == change.DryRunClient,
		Service: o.service, Count: !o.allowResidual,
	}
}

// after waits for the effect of the cut and prints it. If nothing else restores the traffic,
// it also waits for the end of the cut.
func after(ctx context.Context, limit app.Limit, a *app.App, cmd *cobra.Command, t *traffic.Cluster, o options) error {
	if !t.MustHold(o.request()) {
		return verify(ctx, limit, a, cmd, t, o)
	}
	return t.Hold(ctx, func(ctx context.Context) error {
		err := verify(ctx, limit, a, cmd, t, o)
		if err == nil || app.Is[*traffic.ResidualError](err) {
			a.Notef("Staying until %s; Ctrl-C restores now.", format.Time(t.Until()))
		}
		return err
	})
}

// exitCode returns an error with the exit code for an unhealthy cluster where the cut is
// lost or has not its full effect.
func exitCode(err error) error {
	if app.Is[*traffic.ResidualError](err) || app.Is[*traffic.LostError](err) {
		return app.Unhealthy("%v", err)
	}
	return err
}
