// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is rows under headings for people, in as many columns as the terminal
// has: there, columns that may shrink are cut, the last first, and where that is
// not enough those that matter least are left away. A file or pipe gets everything.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	// Gap is what stands between two columns. When it is empty that is three spaces,
	// or two where the terminal is too narrow for all.
	Gap string
}

// Column is one heading.
type Column struct {
	Name string
	// Wide columns are shown with -o Wide only.
	Wide bool
	// Shrink is the least width that a column may be cut to, 0 for never.
	Shrink int
	// Right aligns numbers.
	Right bool
	// Spare is the order in which columns are left away where a terminal is too
	// narrow for all: 1 goes first, 0 never.
	Spare int
}

// Cell is a text with its colour, NoColor for none. An empty text is shown as "-".
type Cell struct {
	Text  string
	Color Color
}

// Plain is a cell for each text, without colour.
func Plain(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

const (
	wideGap   = "   "
	narrowGap = "  "
)

// Write prints the table. A row may be shorter than the headings.
func (t *Table) Write(c *Console, w io.Writer, wide bool) error {
	var shown []int
	for i, c := range t.Columns {
		if wide || !c.Wide {
			shown = append(shown, i)
		}
	}
	if limit := Width(w); t.Gap == "" && limit > 0 && t.total(t.fit(shown, 0)) > limit {
		t.Gap = narrowGap
	}
	if !wide {
		shown = t.dropSpare(shown, Width(w))
	}
	widths := t.fit(shown, Width(w))
	header := make([]Cell, len(t.Columns))
	for i, c := range t.Columns {
		header[i] = Cell{Text: c.Name, Color: Bold}
	}
	for _, row := range append([][]Cell{header}, t.Rows...) {
		if _, err := fmt.Fprintln(w, t.line(c, w, row, shown, widths)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) line(c *Console, w io.Writer, row []Cell, shown, widths []int) string {
	var b strings.Builder
	for n, i := range shown {
		text, paint := "-", NoColor
		if i < len(row) && row[i].Text != "" {
			text, paint = row[i].Text, row[i].Color
		}
		text = Shorten(text, widths[n])
		pad := strings.Repeat(" ", widths[n]-utf8.RuneCountInString(text))
		last := n == len(shown)-1
		switch text = c.Paint(w, paint, text); {
		case t.Columns[i].Right:
			text = pad + text
		case !last:
			text += pad
		}
		b.WriteString(text)
		if !last {
			b.WriteString(t.between())
		}
	}
	return b.String()
}

func (t *Table) between() string { return cmp.Or(t.Gap, wideGap) }

// fit is the width of each shown column, within limit where that can be; 0 for no limit.
func (t *Table) fit(shown []int, limit int) []int {
	widths := make([]int, len(shown))
	for n, i := range shown {
		widths[n] = max(1, utf8.RuneCountInString(t.Columns[i].Name))
		for _, row := range t.Rows {
			if i < len(row) {
				widths[n] = max(widths[n], utf8.RuneCountInString(row[i].Text))
			}
		}
	}
	if limit == 0 {
		return widths
	}
	total := t.total(widths)
	for n := len(shown) - 1; n >= 0 && total > limit; n-- {
		least := t.Columns[shown[n]].Shrink
		if least == 0 || widths[n] <= least {
			continue
		}
		cut := min(total-limit, widths[n]-least)
		widths[n] -= cut
		total -= cut
	}
	return widths
}

// dropSpare takes columns away that can be spared, until the others have room.
func (t *Table) dropSpare(shown []int, limit int) []int {
	for limit > 0 && t.total(t.fit(shown, limit)) > limit {
		least := -1
		for n, i := range shown {
			if s := t.Columns[i].Spare; s > 0 && (least < 0 || s < t.Columns[shown[least]].Spare) {
				least = n
			}
		}
		if least < 0 {
			break
		}
		shown = slices.Delete(slices.Clone(shown), least, least+1)
	}
	return shown
}

// total is how long lines of such columns are.
func (t *Table) total(widths []int) int {
	total := len(t.between()) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// Shorten cuts a text to so many characters and shows that it did.
func Shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, width-1)]) + "…"
}
