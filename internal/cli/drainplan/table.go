// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drainplan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// table returns a function that prints a plan for people.
func table(a *app.App, s *drain.State, p *v1alpha1.DrainPlan) func(w io.Writer, wide bool) error {
	return func(w io.Writer, wide bool) error {
		t := &ui.Table{Columns: []ui.Column{{Name: "WAVE"}, {Name: "NODE", Shrink: 10}, {Name: "MEMBERS", Shrink: 12}, {Name: "OTHER PODS", Spare: 1}, {Name: "CORDONED", Wide: true}}}
		for _, n := range inOrder(p) {
			t.Rows = append(t.Rows, row(n))
		}
		if err := t.Write(a.Console, w, wide); err != nil {
			return err
		}
		for i := range p.Nodes {
			for _, text := range p.Nodes[i].Warnings {
				a.Warn("%s: %s.", p.Nodes[i].Name, text)
			}
		}
		return explain(a, w, s, p)
	}
}

// inOrder returns the nodes by wave and name, the blocked ones last.
func inOrder(p *v1alpha1.DrainPlan) []v1alpha1.DrainNode {
	nodes := slices.Clone(p.Nodes)
	last := len(p.Waves) + 1
	wave := func(n v1alpha1.DrainNode) int { return cmp.Or(n.Wave, last) }
	slices.SortFunc(nodes, func(x, y v1alpha1.DrainNode) int {
		return cmp.Or(cmp.Compare(wave(x), wave(y)), cmp.Compare(x.Name, y.Name))
	})
	return nodes
}

func row(n v1alpha1.DrainNode) []ui.Cell {
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

// explain prints why nodes are blocked or in a later wave, and what is between the waves.
func explain(a *app.App, w io.Writer, s *drain.State, p *v1alpha1.DrainPlan) error {
	for _, part := range sections(s, p) {
		if err := errors.Join(a.Line(w), a.Linef(w, "%s", part.title)); err != nil {
			return err
		}
		for _, line := range part.lines {
			if err := a.Labelled(w, ui.Cell{Text: "  -"}, 4, line); err != nil {
				return err
			}
		}
	}
	return errors.Join(a.Line(w), a.Linef(w, "%s", summary(s)))
}

// section is a title with its list.
type section struct {
	title string
	lines []string
}

// sections returns those that have lines.
func sections(s *drain.State, p *v1alpha1.DrainPlan) []section {
	var out []section
	for _, n := range inOrder(p) {
		out = append(out, section{"Node " + n.Name + " can't be drained now:", causes(n.Blocked)})
	}
	for i, wave := range s.Plan.Waves {
		if i == len(s.Plan.Waves)-1 {
			out = append(out, section{"After the last wave:", uncordons(p.Waves[i])})
			break
		}
		out = append(out, section{fmt.Sprintf("After wave %d and before wave %d:", i+1, i+2), drain.Between(wave)})
	}
	for _, n := range inOrder(p) {
		out = append(out, section{"Node " + n.Name + " is not drained earlier:", notBefore(n)})
	}
	for _, wave := range p.Waves {
		out = append(out, section{fmt.Sprintf("Wave %d stops these clusters until their only member is back:", wave.Wave), wave.Interrupted})
		if batches := len(wave.Evictions); batches > 1 {
			out = append(out, section{fmt.Sprintf("Wave %d evicts its members in %d batches. Each batch is ready elsewhere before the next one:", wave.Wave, batches), batchTexts(wave)})
		}
	}
	return slices.DeleteFunc(out, func(part section) bool { return len(part.lines) == 0 })
}

func causes(all []v1alpha1.DrainCause) []string {
	var out []string
	for _, c := range all {
		out = append(out, fmt.Sprintf("%s (%s)", c.Message, c.Reason))
	}
	return out
}

// notBefore returns why a node is not in the wave before its own. The other waves are in the object.
func notBefore(n v1alpha1.DrainNode) []string {
	var out []string
	for _, c := range n.NotBefore {
		if c.Wave == n.Wave-1 {
			out = append(out, fmt.Sprintf("wave %d: %s (%s)", c.Wave, c.Message, c.Reason))
		}
	}
	return out
}

// uncordons returns the members that can't come back by themselves.
func uncordons(w v1alpha1.DrainWave) []string {
	var out []string
	for _, a := range w.Await {
		if a.Uncordon != "" {
			out = append(out, a.Message)
		}
	}
	return out
}

func batchTexts(w v1alpha1.DrainWave) []string {
	var out []string
	for _, t := range w.Evictions {
		out = append(out, strings.Join(t.Pods, ", "))
	}
	return out
}

// summary returns the plan in one sentence. It claims nothing about what was not seen.
func summary(s *drain.State) string {
	all, blocked, waves := len(s.Nodes), len(s.Plan.Blocked), policy.Count(len(s.Plan.Waves), "wave")
	if s.Incomplete() != nil {
		return "This plan is not complete: it is not known what else blocks these nodes."
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
