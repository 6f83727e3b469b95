// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestHanging(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text    string
		width, indent int
		want          string
	}{
		{"a pipe gets one line", "one two three", 0, 4, "one two three"},
		{"it fits", "one two", 40, 4, "one two"},
		{"the last column is used", "one two three four five", 30, 7, "one two three four five"},
		{"broken and indented", "one two three four five six", 30, 7, "one two three four five\n       six"},
		{"a long word stands alone", strings.Repeat("x", 40) + " y", 30, 2, strings.Repeat("x", 40) + "\n  y"},
		{"a terminal too narrow to help", "one two", 10, 4, "one two"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, hanging(row.text, row.width, row.indent, row.indent)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReflow(t *testing.T) {
	t.Parallel()
	const text = "one two three four\nfive six.\n\n  kept as it is, however long it may be\nseven"
	const want = "one two three\nfour five six.\n\n  kept as it is, however long it may be\nseven"
	if diff := cmp.Diff(want, Reflow(text, 14)); diff != "" {
		t.Error(diff)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	tab := Table{
		Columns: []Column{{Name: "NAME"}, {Name: "SIZE", Right: true}, {Name: "NODE", Wide: true}, {Name: "WHY", Shrink: 4}},
		Rows:    [][]Cell{Plain("a", "1.0 GiB", "n1", "a long story"), Plain("longer", "", "n2")},
	}
	const narrow = "NAME        SIZE   WHY\na        1.0 GiB   a long story\nlonger         -   -\n"
	const wide = "NAME        SIZE   NODE   WHY\na        1.0 GiB   n1     a long story\nlonger         -   n2     -\n"
	for want, isWide := range map[string]bool{narrow: false, wide: true} {
		var b bytes.Buffer
		c := NewConsole(genericiooptions.IOStreams{})
		if err := tab.Write(c, &b, isWide); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff([]int{6, 7, 4}, tab.fit([]int{0, 1, 3}, 20)); diff != "" {
		t.Errorf("the last column shrinks, not below its least: %s", diff)
	}
	if diff := cmp.Diff([]int{6, 7, 12}, tab.fit([]int{0, 1, 3}, 31)); diff != "" {
		t.Errorf("nothing shrinks where there is room: %s", diff)
	}
}

func TestProgressText(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, row := range []struct {
		name        string
		done, total int64
		columns     int
		after       time.Duration
		want        string
	}{
		{"a line elsewhere", 256 * mib, 1024 * mib, 0, 4 * time.Second, "save  256.0 MiB of 1.0 GiB, 25%, 64.0 MiB/s, 12s left"},
		{"no total", 256 * mib, 0, 0, 4 * time.Second, "save  256.0 MiB, 64.0 MiB/s"},
		{"a bar on a terminal", 256 * mib, 1024 * mib, 80, 4 * time.Second, "save  [=====                 ]  256.0 MiB of 1.0 GiB, 25%, 64.0 MiB/s, 12s left"},
		{"nothing yet", 0, 1024 * mib, 0, time.Second, "save  0 B of 1.0 GiB,  0%, 0 B/s, ? left"},
		{"more than was announced", 3 * mib, 2 * mib, 0, time.Second, "save  3.0 MiB of 2.0 MiB, 100%, 3.0 MiB/s, 0s left"},
		{"no room for a bar", 256 * mib, 1024 * mib, 40, 4 * time.Second, "save  256.0 MiB of 1.0 GiB, 25%, 64.0 …"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := &Progress{what: "save", done: row.done, total: row.total, columns: row.columns}
			got := p.text(row.after)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
			if row.columns > 0 && len([]rune(got)) >= row.columns {
				t.Errorf("%d characters wrap on a terminal of %d", len([]rune(got)), row.columns)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"list", "status", "scale", "snapshot", "restore-client-traffic"}
	for word, want := range map[string]string{"lst": "list", "scael": "scale", "snap": "snapshot", "statsu": "status", "xyzzy": "", "restore": "restore-client-traffic"} {
		if got := strings.Join(Nearest(word, names), " "); got != want {
			t.Errorf("nearest to %s is %q, want %q", word, got, want)
		}
	}
}
