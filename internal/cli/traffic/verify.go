// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// settle waits for the endpoints to go, counts what clients still hold open, and
// prints it. The error says when that is not nothing.
func (t *clientTraffic) settle(ctx context.Context, cmd *cobra.Command, o cutOptions) error {
	t.sayWhoRestores(o)
	out := t.outcome()
	out.Cut, out.Until, out.RestoredBy, out.Reason = true, &metav1.Time{Time: t.until}, t.restorer(o), o.Reason
	if o.Wait {
		ctx, cancel := app.Within(ctx, o.Timeout, "client traffic is cut, but endpoints are still ready")
		defer cancel()
		gone := func(n int) bool { return n == 0 }
		if err := t.awaitEndpoints(ctx, out, gone, "no endpoint to be ready"); err != nil {
			return err
		}
		t.env.Step("No endpoint of Service %s is ready: new connections fail", t.list())
		t.count(ctx, out)
	}
	if err := t.env.Print(cmd, out, func(w io.Writer, wide bool) error { return t.streamTable(w, wide, out) }); err != nil {
		return err
	}
	if !o.Wait || o.allowResidual {
		return nil
	}
	return residual(out)
}

// residual is the verdict on the streams that are left.
func residual(out *output.ClientTrafficReport) error {
	switch n := out.OpenStreams; {
	case n == nil:
		return app.Unhealthy("client traffic is cut, but the open streams of some members couldn't be counted: look why above, or give --allow-residual")
	case *n > 0:
		return app.Unhealthy("client traffic is cut, but clients still hold at least %d streams open: stop or restart them, or give --allow-residual", *n)
	}
	return nil
}

// restoredByNobody is who ends a cut that nobody keeps: not even its time does.
const restoredByNobody = "nobody"

func (t *clientTraffic) restorer(o cutOptions) string {
	switch {
	case t.kept:
		return "etcd-webhook"
	case o.detach:
		return restoredByNobody
	}
	return "kubectl-etcd"
}

func (t *clientTraffic) sayWhoRestores(o cutOptions) {
	switch {
	case t.kept:
		t.env.Step("etcd-webhook keeps the cut and restores it at %s; before: %s", clockTime(t.until), t.restoreCommand())
	case o.detach:
		t.env.Warn("Nothing restores client traffic, not even at %s; do it: %s", clockTime(t.until), t.restoreCommand())
	default:
		t.env.Warn("This command restores client traffic when it ends. If it is killed, nothing does; then: %s", t.restoreCommand())
	}
}

// outcome is what there is to print of the cluster.
func (t *clientTraffic) outcome() *output.ClientTrafficReport {
	out := &output.ClientTrafficReport{Namespace: t.Namespace, Cluster: t.Ref()}
	for _, name := range t.names() {
		out.Services = append(out.Services, output.ClientService{Name: name})
	}
	return out
}

// awaitEndpoints looks until the number of each Service's ready endpoints is as wanted.
func (t *clientTraffic) awaitEndpoints(ctx context.Context, out *output.ClientTrafficReport, wanted func(int) bool, what string) error {
	var seen []string
	for {
		seen = nil
		for i := range out.Services {
			s := &out.Services[i]
			ready, err := traffic.ReadyEndpoints(ctx, t.Kube, client.ObjectKey{Namespace: t.Namespace, Name: s.Name})
			switch {
			case ctx.Err() != nil:
				return fmt.Errorf("waited for %s: %w", what, context.Cause(ctx))
			case err != nil:
				return err
			}
			if s.ReadyEndpoints = len(ready); !wanted(len(ready)) {
				seen = append(seen, strings.TrimSuffix(fmt.Sprintf("Service %s has %d ready endpoints: %s", s.Name, len(ready), strings.Join(ready, ", ")), ": "))
			}
		}
		switch {
		case len(seen) == 0:
			return nil
		case out.Cut && out.RestoredBy != restoredByNobody && t.now().After(t.until):
			return fmt.Errorf("the cut ended at %s, before no endpoint was ready: clients are let in again; cut for longer (--for)", clockTime(t.until))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", strings.Join(seen, "; "), context.Cause(ctx))
		case <-t.env.Clock.After(300 * time.Millisecond):
		}
	}
}

// count asks the members which streams clients hold open.
func (t *clientTraffic) count(ctx context.Context, out *output.ClientTrafficReport) {
	if t.unreached != nil {
		return
	}
	total, known := 0, true
	for _, m := range traffic.CountStreams(ctx, t.Members, t.ownStreams()) {
		member := output.MemberStreams{Pod: m.Pod}
		if m.Err != nil {
			member.Error, known = m.Err.Error(), false
		}
		for _, s := range m.Open {
			member.Streams = append(member.Streams, output.OpenStreams{Method: s.Method, AtLeast: s.AtLeast})
			total += s.AtLeast
		}
		out.Members = append(out.Members, member)
	}
	if known {
		out.OpenStreams = &total
	}
}

// ownStreams are those of the flavour itself: druid's backup-restore beside the
// leader watches etcd for its delta snapshots.
func (t *clientTraffic) ownStreams() map[string]map[string]int {
	own := map[string]map[string]int{}
	if !t.druid() || t.facts.Cluster.BackupReady.Status == policy.Absent {
		return own
	}
	if leader, ok := t.survey.Leader(); ok {
		own[leader.Pod] = map[string]int{"Watch/Watch": 1}
	}
	return own
}

// streamTable is the streams for people.
func (t *clientTraffic) streamTable(w io.Writer, wide bool, out *output.ClientTrafficReport) error {
	if len(out.Members) == 0 {
		return nil
	}
	table := ui.Table{Columns: []ui.Column{{Name: "MEMBER"}, {Name: "METHOD", Shrink: 20}, {Name: "OPEN STREAMS"}}}
	for _, m := range out.Members {
		switch {
		case m.Error != "":
			table.Rows = append(table.Rows, []ui.Cell{{Text: m.Pod}, {}, {Text: "not known: " + m.Error, Color: ui.Yellow}})
		case len(m.Streams) == 0:
			table.Rows = append(table.Rows, ui.Plain(m.Pod, "", "0"))
		}
		for _, s := range m.Streams {
			table.Rows = append(table.Rows, []ui.Cell{{Text: m.Pod}, {Text: s.Method}, {Text: "at least " + strconv.Itoa(s.AtLeast), Color: ui.Yellow}})
		}
	}
	return table.Write(t.env.Console, w, wide)
}
