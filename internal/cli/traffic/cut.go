// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// longestCut is what --for takes at most. Whoever needs more extends the cut
// while it lasts, and shows that somebody still cares.
const longestCut = observe.LongestCut

// cutOptions are the flags of cut-client-traffic.
type cutOptions struct {
	change.Flags

	length        time.Duration
	service       string
	allowResidual bool
	detach        bool
}

// NewCutCommand returns the command cut-client-traffic.
func NewCutCommand(e *app.App) *cobra.Command {
	o := cutOptions{Flags: change.Flags{Timeout: 2 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "cut-client-traffic TARGET --for DURATION --reason TEXT",
		Short: "Keep clients away from an etcd cluster for a while",
		Long: ui.Paragraphs(`
			Keep clients away from an etcd cluster for a while. The client Service gets one more key
			in its selector, kubectl-etcd.dev/client-traffic, that no pod has: its endpoints empty and
			new connections fail. The members go on, their own Service is not touched. The key's value
			says when the cut ends, at most 24h later; run the command again to move the end.

			Where etcd-webhook is installed it keeps the cut against whoever else writes the Service, and
			restores it at its end, whatever becomes of this command. Elsewhere this command stays and
			restores when the time is over or at Ctrl-C, and etcd-druid's reconciliation is suspended
			meanwhile; with --detach nothing restores it.

			A cut ends no connection that is open. When the endpoints are empty, the streams that clients
			still hold open, watches and lease keep-alives, are counted from the members' own metrics and
			told as "at least": idle connections have no stream and are not seen, a stream can carry many
			watches, and etcd doesn't tell whose they are. Clients that dial members by their own names
			or through another Service are not cut.

			Exit code 0 says that no endpoint is ready and no stream is open, or --allow-residual; 3 that
			streams are left or couldn't be counted.`),
		Example: ui.Examples(`
			# Cut for a quarter of an hour
			kubectl etcd cut-client-traffic etcd-main --for 15m --reason "restore of last night's backup"

			# Only one of the Services that lead to the cluster, and never mind who is still connected
			kubectl etcd cut-client-traffic service/etcd-main-client --for 15m --reason drill --allow-residual

			# What would be done
			kubectl etcd cut-client-traffic etcd-main --for 15m --reason drill --dry-run=server`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cutClientTraffic(cmd.Context(), e, cmd, args[0], o)
		},
	}
	change.AddFlags(cmd, &o.Flags)
	ui.AddOutputFlags(cmd)
	cmd.Flags().DurationVar(&o.length, "for", 0, "How long, from now")
	cmd.Flags().StringVar(&o.service, "service", "", "Cut this Service alone, not every one that leads to the members' client port")
	cmd.Flags().BoolVar(&o.allowResidual, "allow-residual", false, "Succeed although streams of clients are still open, or couldn't be counted")
	cmd.Flags().BoolVar(&o.detach, "detach", false, "Don't stay where etcd-webhook is not installed: nothing restores the traffic then")
	for _, name := range []string{"for", "reason"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was added above
		}
	}
	return cmd
}

// cutClientTraffic is the verb.
func cutClientTraffic(ctx context.Context, e *app.App, cmd *cobra.Command, target string, o cutOptions) error {
	if o.length < time.Second || o.length > longestCut {
		return fmt.Errorf("--for %s: a cut lasts from 1s to %s", o.length, longestCut)
	}
	if o.Reason == "" {
		return errors.New("--reason is empty: say why, for those who find their clients cut off")
	}
	t, err := newTraffic(ctx, e, target, o.service)
	if err != nil {
		return err
	}
	defer t.close()
	t.Change = o.Flags
	return change.Do(ctx, e, t.Cluster, o.Flags, change.Operation{
		Verb: traffic.CutOperation, Needs: t.cutNeeds(o), Detaches: true,
		Judge: func(ctx context.Context) (operate.Plan, error) { return t.judgeCut(ctx, o) },
		Act: func(ctx context.Context, run *change.Run) error {
			if end := t.now().Add(o.length).Truncate(time.Second); end.Sub(t.until) > 2*time.Second {
				t.until = end // the user agreed to a length; the answer took its time
			}
			return t.cut(ctx, run)
		},
		After: func(ctx context.Context) error { return t.keep(ctx, cmd, o) },
	})
}

// judgeCut returns the plan of a cut, or an error where something stands against it. The
// end of the cut is set when the user is asked.
func (t *clientTraffic) judgeCut(ctx context.Context, o cutOptions) (operate.Plan, error) {
	if err := t.obstacles(ctx); err != nil {
		return operate.Plan{}, err
	}
	if o.DryRun != change.DryRunClient {
		if err := t.probe(ctx); err != nil {
			return operate.Plan{}, err
		}
	}
	if t.until.IsZero() {
		t.until = t.now().Add(o.length).Truncate(time.Second)
	}
	return t.cutPlan(ctx, o)
}

// keep waits until the cut is in force and prints what is left. Where nothing else restores
// the traffic, it stays until the end of the cut.
func (t *clientTraffic) keep(ctx context.Context, cmd *cobra.Command, o cutOptions) (err error) {
	if !t.stays(o) {
		return t.settle(ctx, cmd, o)
	}
	// From here on, only this command restores the traffic.
	defer func() { err = t.end(ctx, err) }()
	verdict := t.settle(ctx, cmd, o)
	if verdict != nil && !app.Is[*app.UnhealthyError](verdict) {
		return verdict
	}
	return cmp.Or(t.stay(ctx), verdict)
}

// stays says whether this command must be there to restore.
func (t *clientTraffic) stays(o cutOptions) bool { return !t.kept && !o.detach }

// cut writes the cut, under the cluster's lock, into every Service or none.
func (t *clientTraffic) cut(ctx context.Context, run *change.Run) error {
	user, err := t.env.Whoami(ctx)
	if err != nil {
		return err
	}
	record := traffic.Record{Services: t.names(), Until: t.until, Holder: app.Identity(user), Reason: t.Change.Reason}
	if err := traffic.WriteRecord(ctx, run.Lock, &record); err != nil {
		return err
	}
	_, before := t.cutNow()
	if written, err := t.writeCut(ctx, run.Lock); err != nil {
		if !before {
			t.undo(ctx, run.Lock, err, written)
		}
		return err
	}
	run.Done(ctx, "ClientTrafficCut", fmt.Sprintf("client traffic through Service %s cut until %s", t.list(), clockTime(t.until)), "")
	return nil
}

// writeCut suspends etcd-druid where that is needed and writes the cut. It says to how many
// Services it has been sent, the one that failed among them: of a write that was
// interrupted nobody knows whether it was taken.
func (t *clientTraffic) writeCut(ctx context.Context, held *lock.Lock) (sent int, err error) {
	if !t.kept && t.druid() {
		if err := traffic.Suspend(ctx, t.Kube, t.Owner); err != nil {
			return 0, err
		}
	}
	for i := range t.Services.Chosen {
		s := &t.Services.Chosen[i]
		err := held.StillHeld()
		if err == nil {
			err = t.write(ctx, func() error { return traffic.Cut(ctx, t.Kube, s, t.until) })
		}
		if err != nil {
			return i + 1, err
		}
		t.env.Step("Service %s is cut until %s", s.Name, clockTime(t.until))
	}
	return len(t.Services.Chosen), nil
}

// undo takes the cut out of the Services to which it was sent, since one couldn't be cut.
func (t *clientTraffic) undo(ctx context.Context, held *lock.Lock, err error, sent int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreLimit)
	defer cancel()
	t.Services.Chosen = t.Services.Chosen[:sent]
	failed := change.RestoreTraffic(ctx, t.env, t.Cluster, t.names())
	if uncertain(err) {
		// The API server may still be about to take it.
		<-t.env.Clock.After(lateWrite)
		failed = change.RestoreTraffic(ctx, t.env, t.Cluster, t.names())
	}
	if failed != nil {
		t.env.Warn("%v; try again: %s.", failed, t.restoreCommand())
		return
	}
	if err := traffic.WriteRecord(ctx, held, nil); err != nil {
		t.env.Warn("%v.", err)
	}
}

// lateWrite is how long a write may take that nobody waits for any more.
const lateWrite = 2 * time.Second

// uncertain says that a write's error leaves open whether it was taken.
func uncertain(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err)
}
