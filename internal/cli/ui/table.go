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

// Table is a table for people. On a narrow terminal it shortens columns that have Shrink, the
// last one first. If that is not enough, it drops columns that have Spare. A file or a pipe gets
// the complete table.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	// Gap is the text between two columns. The default is three spaces, or two on a terminal
	// that is too narrow.
	Gap string
}

// Column describes a column of a table.
type Column struct {
	Name string
	// Wide columns are only shown with -o wide.
	Wide bool
	// Shrink is the minimum width of a column that may be shortened. 0 means never.
	Shrink int
	// Right aligns the column to the right.
	Right bool
	// Spare is the order in which columns are dropped: 1 is the first. 0 means never.
	Spare int
}

// Cell is a text with its color. A table shows an empty text as "-".
type Cell struct {
	Text  string
	Color Color
}

// Plain returns a cell without color for each text.
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

// Write prints the table. A row may have fewer cells than the table has columns.
func (t *Table) Write(c *Console, w io.Writer, wide bool) error {
	t = t.printable(c)
	var shown []int
	for i := range t.Columns {
		if wide || !t.Columns[i].Wide {
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
	for i := range t.Columns {
		header[i] = Cell{Text: t.Columns[i].Name, Color: Bold}
	}
	for _, row := range append([][]Cell{header}, t.Rows...) {
		if _, err := fmt.Fprintln(w, t.line(c, w, row, shown, widths)); err != nil {
			return err
		}
	}
	return nil
}

// printable returns the table with texts that are safe to print, one line each.
func (t *Table) printable(c *Console) *Table {
	safe := *t
	safe.Rows = make([][]Cell, len(t.Rows))
	for i, row := range t.Rows {
		safe.Rows[i] = slices.Clone(row)
		for j := range row {
			safe.Rows[i][j].Text = oneLine(c.text(row[j].Text))
		}
	}
	return &safe
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
		switch text = c.paint(w, paint, text); {
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

// fit returns the widths of the shown columns. Together they are at most limit wide, if that is
// possible. 0 means no limit.
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

// dropSpare drops columns that have Spare until the others fit.
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

// total returns the length of a line with columns of these widths.
func (t *Table) total(widths []int) int {
	total := len(t.between()) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// Shorten shortens a text to width characters. A shortened text ends with "…".
func Shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, width-1)]) + "…"
}
