// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cutclienttraffic

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
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
	if err := a.Print(cmd, out, func(w io.Writer, wide bool) error { return streamTable(a, w, wide, out) }); err != nil {
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

// streamTable prints the open streams and the requests.
func streamTable(a *app.App, w io.Writer, wide bool, out *output.ClientTrafficReport) error {
	if len(out.Members) == 0 {
		return nil
	}
	table := ui.Table{Columns: []ui.Column{{Name: "MEMBER"}, {Name: "METHOD", Shrink: 20}, {Name: "OPEN STREAMS"}, {Name: "REQUESTS"}}}
	for _, m := range out.Members {
		switch {
		case m.Error != "":
			table.Rows = append(table.Rows, []ui.Cell{{Text: m.Pod}, {}, {Text: "not known: " + m.Error, Color: ui.Yellow}, {Text: "not known", Color: ui.Yellow}})
		case len(m.Streams)+len(m.Requests) == 0:
			table.Rows = append(table.Rows, ui.Plain(m.Pod, "", "0", "0"))
		}
		for _, s := range m.Streams {
			table.Rows = append(table.Rows, []ui.Cell{{Text: m.Pod}, {Text: s.Method}, {Text: "at least " + strconv.Itoa(s.AtLeast), Color: ui.Yellow}, {}})
		}
		for _, r := range m.Requests {
			table.Rows = append(table.Rows, []ui.Cell{{Text: m.Pod}, {Text: r.Method}, {}, {Text: rate(r), Color: ui.Yellow}})
		}
	}
	return table.Write(a.Console, w, wide)
}

// rate returns how often requests came.
func rate(r output.UnaryRequests) string {
	if perSecond := r.AtLeast / max(r.Seconds, 1); perSecond > 0 {
		return fmt.Sprintf("at least %d per second", perSecond)
	}
	return fmt.Sprintf("at least %d in %ds", r.AtLeast, r.Seconds)
}
