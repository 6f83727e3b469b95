// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package docs contains the tests of the documentation.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page is one Markdown file: the anchors that links can lead to, and its own links.
type page struct {
	anchors map[string]bool
	links   []string
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.+?) *#*$`)
	inCode  = regexp.MustCompile("`[^`]*`")
	// noAnchor matches what GitHub leaves out of a heading's anchor.
	noAnchor = regexp.MustCompile(`[^\pL\pN\pM_\- ]`)
	target   = regexp.MustCompile(`\]\([^()]*\)`)
)

// TestLinks follows every relative link of every page, to its heading.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	followed := 0
	for name, p := range pages {
		for _, l := range p.links {
			if strings.Contains(l, ":") { // a web address
				continue
			}
			followed++
			if err := follow(pages, name, l); err != nil {
				t.Errorf("%s: (%s): %v", name, l, err)
			}
		}
	}
	if followed < 100 {
		t.Errorf("found only %d links: does the pattern still match?", followed)
	}
}

func follow(pages map[string]page, from, link string) error {
	file, anchor, _ := strings.Cut(link, "#")
	to := from
	if file != "" {
		to = filepath.Join(filepath.Dir(from), file)
	}
	if _, err := os.Stat(filepath.Join("..", to)); err != nil {
		return err
	}
	if p, known := pages[to]; anchor != "" && (!known || !p.anchors[anchor]) {
		return fmt.Errorf("%s has no heading #%s", to, anchor)
	}
	return nil
}

// TestEveryPageIsListed verifies that docs/README.md, or the README of the page's own
// folder, has a link to every page.
func TestEveryPageIsListed(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	const top = "docs/README.md"
	for name := range pages {
		if !strings.HasPrefix(name, "docs/") || name == top {
			continue
		}
		if !leadsTo(pages, top, name) && !leadsTo(pages, filepath.Join(filepath.Dir(name), "README.md"), name) {
			t.Errorf("%s has no link to %s", top, name)
		}
	}
}

// leadsTo reports whether a page has a link to another page.
func leadsTo(pages map[string]page, from, name string) bool {
	if from == name {
		return false
	}
	for _, l := range pages[from].links {
		file, _, _ := strings.Cut(l, "#")
		if filepath.Join(filepath.Dir(from), file) == name {
			return true
		}
	}
	return false
}

// TestREADMEIsShort: a newcomer reads the README to its end.
func TestREADMEIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 200 {
		t.Errorf("README.md has %d lines, and may have 200: move a part to a page in docs", n)
	}
}

// readPages reads the headings and links of all Markdown pages, by path from the root.
func readPages(t *testing.T) map[string]page {
	t.Helper()
	pages := map[string]page{}
	for name, text := range files(t, ".md") {
		pages[name] = read(text)
	}
	return pages
}

// files reads all files of the checkout with this extension, by path from the root.
func files(t *testing.T, extension string) map[string]string {
	t.Helper()
	return walk(t, extension, false)
}

// fixtures reads all files in folders with the name testdata with this extension, by path from the root.
func fixtures(t *testing.T, extension string) map[string]string {
	t.Helper()
	return walk(t, extension, true)
}

func walk(t *testing.T, extension string, fixtures bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (name[0] == '.' || name == "testdata" && !fixtures || path == filepath.Join("..", "dist")):
			return filepath.SkipDir
		case fixtures && !strings.Contains(filepath.ToSlash(path), "/testdata/"):
			return nil
		case d.IsDir() || filepath.Ext(name) != extension:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		all[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// read returns the headings and links of a page, except those in blocks of code.
func read(text string) page {
	p := page{anchors: map[string]bool{}}
	inBlock := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			inBlock = !inBlock
			continue
		}
		if inBlock {
			continue
		}
		if h := heading.FindStringSubmatch(line); h != nil {
			p.anchors[p.anchor(h[1])] = true
		}
		for _, m := range link.FindAllStringSubmatch(inCode.ReplaceAllString(line, ""), -1) {
			p.links = append(p.links, m[1])
		}
	}
	return p
}

// anchor returns GitHub's anchor of a heading. A second heading with the same text gets a number.
func (p page) anchor(heading string) string {
	a := strings.ToLower(target.ReplaceAllString(heading, ""))
	a = strings.ReplaceAll(noAnchor.ReplaceAllString(a, ""), " ", "-")
	for n, first := 1, a; p.anchors[a]; n++ {
		a = fmt.Sprintf("%s-%d", first, n)
	}
	return a
}
