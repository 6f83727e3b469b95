// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// table is rows under headings for people, in as many columns as the terminal
// has: there, columns that may shrink are cut, the last first, and where that is
// not enough those that matter least are left away. A file or pipe gets everything.
type table struct {
	columns []column
	rows    [][]cell
	// gap is what stands between two columns. When it is empty that is three spaces,
	// or two where the terminal is too narrow for all.
	gap string
}

// column is one heading.
type column struct {
	name string
	// wide columns are shown with -o wide only.
	wide bool
	// shrink is the least width that a column may be cut to, 0 for never.
	shrink int
	// right aligns numbers.
	right bool
	// spare is the order in which columns are left away where a terminal is too
	// narrow for all: 1 goes first, 0 never.
	spare int
}

// cell is a text with its colour, noColor for none. An empty text is shown as "-".
type cell struct {
	text  string
	color color
}

// plain is a cell for each text, without colour.
func plain(texts ...string) []cell {
	cells := make([]cell, len(texts))
	for i, t := range texts {
		cells[i].text = t
	}
	return cells
}

const (
	wideGap   = "   "
	narrowGap = "  "
)

// write prints the table. A row may be shorter than the headings.
func (t *table) write(e *console, w io.Writer, wide bool) error {
	var shown []int
	for i, c := range t.columns {
		if wide || !c.wide {
			shown = append(shown, i)
		}
	}
	if limit := width(w); t.gap == "" && limit > 0 && t.total(t.fit(shown, 0)) > limit {
		t.gap = narrowGap
	}
	if !wide {
		shown = t.leave(shown, width(w))
	}
	widths := t.fit(shown, width(w))
	header := make([]cell, len(t.columns))
	for i, c := range t.columns {
		header[i] = cell{text: c.name, color: bold}
	}
	for _, row := range append([][]cell{header}, t.rows...) {
		if _, err := fmt.Fprintln(w, t.line(e, w, row, shown, widths)); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) line(e *console, w io.Writer, row []cell, shown, widths []int) string {
	var b strings.Builder
	for n, i := range shown {
		text, paint := "-", noColor
		if i < len(row) && row[i].text != "" {
			text, paint = row[i].text, row[i].color
		}
		text = shorten(text, widths[n])
		pad := strings.Repeat(" ", widths[n]-utf8.RuneCountInString(text))
		last := n == len(shown)-1
		switch text = e.paint(w, paint, text); {
		case t.columns[i].right:
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

func (t *table) between() string { return cmp.Or(t.gap, wideGap) }

// fit is the width of each shown column, within limit where that can be; 0 for no limit.
func (t *table) fit(shown []int, limit int) []int {
	widths := make([]int, len(shown))
	for n, i := range shown {
		widths[n] = max(1, utf8.RuneCountInString(t.columns[i].name))
		for _, row := range t.rows {
			if i < len(row) {
				widths[n] = max(widths[n], utf8.RuneCountInString(row[i].text))
			}
		}
	}
	if limit == 0 {
		return widths
	}
	total := t.total(widths)
	for n := len(shown) - 1; n >= 0 && total > limit; n-- {
		least := t.columns[shown[n]].shrink
		if least == 0 || widths[n] <= least {
			continue
		}
		cut := min(total-limit, widths[n]-least)
		widths[n] -= cut
		total -= cut
	}
	return widths
}

// leave takes columns away that can be spared, until the others have room.
func (t *table) leave(shown []int, limit int) []int {
	for limit > 0 && t.total(t.fit(shown, limit)) > limit {
		least := -1
		for n, i := range shown {
			if s := t.columns[i].spare; s > 0 && (least < 0 || s < t.columns[shown[least]].spare) {
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
func (t *table) total(widths []int) int {
	total := len(t.between()) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// shorten cuts a text to so many characters and shows that it did.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, width-1)]) + "…"
}
