// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package explain implements kubectl etcd explain.
package explain

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// NewCommand returns the command kubectl etcd explain.
func NewCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [REASON]",
		Short: "Explain a reason from an Event, a condition or a metric",
		Long: ui.Paragraphs(`
			Explain what a reason means and what to do about it. Reasons are in Events, in the status
			of an EtcdTopologyPolicy, in the annotation kubectl-etcd.dev/budget-reason, in audit
			annotations, and in the reason label of metrics.

			Without REASON, the command lists all reasons. It does not connect to a cluster.`),
		Example: ui.Examples(`
			# Explain why the disruption budget blocks a drain
			kubectl etcd explain BackupFailing

			# List all reasons
			kubectl etcd explain`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeReason,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listReasons(a)
			}
			return explain(a, args[0])
		},
	}
}

func explain(a *app.App, name string) error {
	e, ok := find(name)
	if !ok {
		var names []string
		for _, e := range entries() {
			names = append(names, e.name)
		}
		return fmt.Errorf("there is no reason %q%s; kubectl etcd explain lists all reasons", name, ui.DidYouMean(ui.Nearest(name, names)))
	}
	text := fmt.Sprintf("  (%s)\n\n%s\n\n%s", e.topic, ui.Reflow(e.doc, ui.Columns(a.Out)), ui.Reflow("What to do: "+e.cure, ui.Columns(a.Out)))
	return a.Line(a.Out, ui.Cell{Text: e.name, Color: ui.Bold}, ui.Cell{Text: text})
}

func listReasons(a *app.App) error {
	topic := ""
	for _, e := range entries() {
		if e.topic != topic {
			if topic != "" {
				fmt.Fprintln(a.Out)
			}
			if err := a.Line(a.Out, ui.Cell{Text: e.topic, Color: ui.Bold}); err != nil {
				return err
			}
			topic = e.topic
		}
		first, _, _ := strings.Cut(e.doc, ". ")
		line := fmt.Sprintf("  %-27s %s", e.name, strings.TrimSuffix(first, "."))
		if w := ui.Width(a.Out); w > 0 {
			line = ui.Shorten(line, w)
		}
		if err := a.Line(a.Out, ui.Cell{Text: line}); err != nil {
			return err
		}
	}
	return nil
}

func completeReason(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	if len(args) == 0 {
		for _, e := range entries() {
			if strings.HasPrefix(strings.ToLower(e.name), strings.ToLower(typed)) {
				out = append(out, cobra.CompletionWithDesc(e.name, e.topic))
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
