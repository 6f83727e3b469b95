// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// DrainPlan returns the text of a plan: the nodes with their waves, and why nodes are blocked or in a
// later wave.
func DrainPlan(c *ui.Console, p *v1alpha1.DrainPlan) Text {
	return func(w io.Writer, wide bool) error {
		t := &ui.Table{Columns: []ui.Column{{Name: "WAVE"}, {Name: "NODE", Shrink: 10}, {Name: "MEMBERS", Shrink: 12}, {Name: "OTHER PODS", Spare: 1}, {Name: "CORDONED", Wide: true}}}
		for _, n := range drainOrder(p) {
			t.Rows = append(t.Rows, drainRow(n))
		}
		if err := t.Write(c, w, wide); err != nil {
			return err
		}
		for i := range p.Nodes {
			for _, text := range p.Nodes[i].Warnings {
				c.Warn("%s: %s.", p.Nodes[i].Name, text)
			}
		}
		if err := writeSections(c, w, drainSections(p)); err != nil {
			return err
		}
		return errors.Join(c.Line(w), c.Linef(w, "%s", drainSummary(p)))
	}
}

// drainOrder returns the nodes by wave and name, the blocked ones last.
func drainOrder(p *v1alpha1.DrainPlan) []v1alpha1.DrainNode {
	nodes := slices.Clone(p.Nodes)
	last := len(p.Waves) + 1
	wave := func(n v1alpha1.DrainNode) int { return cmp.Or(n.Wave, last) }
	slices.SortFunc(nodes, func(x, y v1alpha1.DrainNode) int {
		return cmp.Or(cmp.Compare(wave(x), wave(y)), cmp.Compare(x.Name, y.Name))
	})
	return nodes
}

func drainRow(n v1alpha1.DrainNode) []ui.Cell {
	wave := ui.Cell{Text: strconv.Itoa(n.Wave)}
	if n.Wave == 0 {
		wave = ui.Cell{Text: "blocked", Color: ui.Red}
	}
	var members []string
	for _, m := range n.Members {
		name := m.Namespace + "/" + m.Pod
		if m.Stays {
			name += " (stays)"
		}
		members = append(members, name)
	}
	cordoned := ""
	if n.Cordoned {
		cordoned = "yes"
	}
	return []ui.Cell{wave, {Text: n.Name}, {Text: strings.Join(members, ", ")}, {Text: strconv.Itoa(n.OtherPods)}, {Text: cordoned}}
}

// writeSections prints each title with its list.
func writeSections(c *ui.Console, w io.Writer, parts []section) error {
	for _, part := range parts {
		if err := errors.Join(c.Line(w), c.Linef(w, "%s", part.title)); err != nil {
			return err
		}
		for _, line := range part.lines {
			if err := c.Labelled(w, ui.Cell{Text: "  -"}, 4, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// drainSummary returns the plan in one sentence. It claims nothing about what was not seen.
func drainSummary(p *v1alpha1.DrainPlan) string {
	if len(p.Unseen) > 0 {
		return "This plan is not complete: it is not known what else blocks these nodes."
	}
	all, blocked, waves := len(p.Nodes), 0, policy.Count(len(p.Waves), "wave")
	for i := range p.Nodes {
		if p.Nodes[i].Wave == 0 {
			blocked++
		}
	}
	switch {
	case blocked == all:
		return fmt.Sprintf("None of %s can be drained now.", policy.Count(all, "node"))
	case blocked > 0:
		return fmt.Sprintf("%d of %s can be drained now, in %s.", all-blocked, policy.Count(all, "node"), waves)
	case all == 1:
		return "The node can be drained now."
	}
	return fmt.Sprintf("All %d nodes can be drained, in %s.", all, waves)
}
