// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// Page writes sections, each with its heading before the first line.
type Page struct {
	Console *Console
	Out     *Screen
	Now     time.Time

	heading string
}

// headingWidth is the width of the column of headingWidth.
const headingWidth = 12

// Section writes a text under a heading that is only repeated when it changes,
// in as many lines as it takes.
func (p *Page) Section(heading string, c Color, text string) {
	if text == "" {
		return
	}
	for i, line := range Wrap(text, p.Out.Columns-headingWidth) {
		p.line(heading, p.Console.Paint(p.Out, c, line), i > 0)
	}
}

// Verbatim writes a line that is to be copied, and so never broken.
func (p *Page) Verbatim(heading, text string) { p.line(heading, text, false) }

func (p *Page) line(heading, text string, continued bool) {
	if continued || heading == p.heading {
		heading = ""
	} else {
		p.heading = heading
	}
	pad := strings.Repeat(" ", headingWidth-len(heading))
	fmt.Fprintln(p.Out, p.Console.Paint(p.Out, Bold, heading)+pad+text)
}

var HealthColors = map[string]Color{
	v1alpha1.Healthy: Green, v1alpha1.Degraded: Yellow, v1alpha1.Down: Red, v1alpha1.Unknown: Yellow,
}

// Narrow is the width below which the table is closer and says less.
const Narrow = 110

// TrimSharedPrefix cuts names that are longer than so many characters at the front, as far
// as they begin alike.
func TrimSharedPrefix(names []string, most int) []string {
	shared := sharedPrefix(names)
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		if cut := min(len(shared), len(n)-most+1); len(n) > most && cut > 1 {
			out[i] = "…" + n[cut:]
		}
	}
	return out
}

// sharedPrefix is what all texts that aren't empty begin with.
func sharedPrefix(texts []string) string {
	texts = slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" })
	if len(texts) < 2 {
		return ""
	}
	shared := texts[0]
	for _, t := range texts[1:] {
		for !strings.HasPrefix(t, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	return shared
}
