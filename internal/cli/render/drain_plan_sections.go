// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// section is a title with its list.
type section struct {
	title string
	lines []string
}

// drainSections returns those that have lines.
func drainSections(p *v1alpha1.DrainPlan) []section {
	var out []section
	for _, n := range drainOrder(p) {
		out = append(out, section{"Node " + n.Name + " can't be drained now:", causes(n.Blocked)})
	}
	for i, wave := range p.Waves {
		if i == len(p.Waves)-1 {
			out = append(out, section{"After the last wave:", uncordons(wave)})
			break
		}
		out = append(out, section{fmt.Sprintf("After wave %d and before wave %d:", i+1, i+2), awaited(wave)})
	}
	for _, n := range drainOrder(p) {
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

// awaited returns what must happen after a wave before the next one.
func awaited(w v1alpha1.DrainWave) []string {
	var out []string
	for _, a := range w.Await {
		out = append(out, a.Message)
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
