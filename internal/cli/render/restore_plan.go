// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// RestorePlan returns the text of a plan: comments and commands for a shell.
func RestorePlan(c *ui.Console, p *v1alpha1.RestorePlan) Text {
	return func(w io.Writer, _ bool) error {
		for _, line := range restoreLines(p) {
			if err := c.Line(w, line...); err != nil {
				return err
			}
		}
		return nil
	}
}

// restoreLines returns the lines of a plan.
func restoreLines(p *v1alpha1.RestorePlan) [][]ui.Cell {
	lines := [][]ui.Cell{
		comment(ui.NoColor, fmt.Sprintf("# Restore %s (revision %d, %d keys) into %s %s/%s", p.Snapshot.File, p.Snapshot.Revision, p.Snapshot.Keys, p.Cluster.Kind, p.Cluster.Namespace, p.Cluster.Name)),
		comment(ui.NoColor, "# This is a plan. No step has been executed."),
	}
	for _, warning := range p.Warnings {
		lines = append(lines, append(comment(ui.Yellow, "# Warning:"), comment(ui.NoColor, " "+warning+".")...))
	}
	for i, s := range p.Steps {
		lines = append(lines, nil, comment(ui.Bold, fmt.Sprintf("# %d. %s", i+1, s.Title)))
		if s.Why != "" {
			lines = append(lines, comment(ui.NoColor, "#    "+s.Why))
		}
		for _, c := range s.Commands {
			lines = append(lines, ui.Plain(strings.TrimRight(c, "\n")))
		}
	}
	return lines
}

// comment returns a text of a comment. A newline in it would make a command of the rest.
func comment(color ui.Color, text string) []ui.Cell {
	return []ui.Cell{{Text: strings.ReplaceAll(text, "\n", " "), Color: color}}
}
