// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cutclienttraffic

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// verify waits for the effect of a cut and prints it. The error reports open streams.
func verify(ctx context.Context, limit app.Limit, a *app.App, cmd *cobra.Command, t *traffic.Cluster, o options) error {
	restoredBy := warnOfEnd(a, t, o)
	var effect traffic.Effect
	if o.Wait {
		ctx, cancel := limit.Context(ctx)
		defer cancel()
		var err error
		if effect, err = t.AwaitCut(ctx, o.request()); err != nil {
			return err
		}
	}
	out := change.TrafficReport(t, effect)
	out.Cut, out.Until, out.RestoredBy, out.Reason = true, &metav1.Time{Time: t.Until()}, restoredBy, o.Reason
	if err := a.Print(cmd, out, render.ClientTraffic(a.Console, out)); err != nil {
		return err
	}
	if !o.Wait || o.allowResidual {
		return nil
	}
	return effect.Residual()
}

// warnOfEnd reports how the cut ends, and returns what ends it.
func warnOfEnd(a *app.App, t *traffic.Cluster, o options) string {
	end := format.Time(t.Until())
	switch {
	case t.MustHold(o.request()):
		a.Warn("This command restores client traffic when it ends. If it is killed, nothing does; then: %s", t.RestoreCommand())
		return output.RestoredByCommand
	case t.Maintained():
		a.Step("etcd-webhook maintains the cut and restores at %s; to restore before: %s", end, t.RestoreCommand())
		return output.RestoredByWebhook
	}
	a.Warn("Nothing restores client traffic, not even at %s. To restore it: %s", end, t.RestoreCommand())
	return output.RestoredByNothing
}
