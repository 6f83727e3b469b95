// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newExplainCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [REASON]",
		Short: "Say what a reason in an Event, a condition or a metric means",
		Long: paragraphs(`
			Say what a reason means and what to do about it: those in Events, in the status of an
			EtcdTopologyPolicy, in the annotation kubectl-etcd.dev/budget-reason, in audit
			annotations, and in the reason label of metrics. Without an argument, list them all. No
			cluster is asked.`),
		Example: examples(`
			# Why does the budget not let a drain go on
			kubectl etcd explain BackupFailing

			# All reasons
			kubectl etcd explain`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeReason,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listReasons(e)
			}
			return explain(e, args[0])
		},
	}
}

func explain(e *env, name string) error {
	r, ok := findReason(name)
	if !ok {
		var names []string
		for _, r := range allReasons() {
			names = append(names, r.name)
		}
		return fmt.Errorf("there is no reason %q%s; kubectl etcd explain lists them", name, didYouMean(nearest(name, names)))
	}
	_, err := fmt.Fprintf(e.Out, "%s  (%s)\n\n%s\n\n%s\n",
		e.paint(e.Out, bold, r.name), r.from, reflow(r.doc, columns(e.Out)), reflow("What to do: "+r.do, columns(e.Out)))
	return err
}

func listReasons(e *env) error {
	from := ""
	for _, r := range allReasons() {
		if r.from != from {
			if from != "" {
				fmt.Fprintln(e.Out)
			}
			fmt.Fprintln(e.Out, e.paint(e.Out, bold, r.from))
			from = r.from
		}
		first, _, _ := strings.Cut(r.doc, ". ")
		line := fmt.Sprintf("  %-27s %s", r.name, strings.TrimSuffix(first, "."))
		if w := width(e.Out); w > 0 {
			line = shorten(line, w)
		}
		if _, err := fmt.Fprintln(e.Out, line); err != nil {
			return err
		}
	}
	return nil
}

func completeReason(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	if len(args) == 0 {
		for _, r := range allReasons() {
			if strings.HasPrefix(strings.ToLower(r.name), strings.ToLower(typed)) {
				out = append(out, cobra.CompletionWithDesc(r.name, r.from))
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
