// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package guides

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// page is a Markdown file. Blocks in the language console show a session. A line that starts
// with "$ " is a command, and "> " continues the command. The lines after it are the command's
// output. The test doesn't run blocks in other languages.
type page struct {
	path  string
	lines []string
}

// command is one command of a page, with the output that the page shows.
type command struct {
	line   int // of its first line, from 0
	text   string
	output []string
	// from and to delimit the output in the page's lines.
	from, to int
}

const (
	fence  = "```"
	opened = fence + "console"
)

func readPage(path string) (*page, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &page{path: path, lines: strings.Split(string(text), "\n")}, nil
}

// commands returns the commands of all blocks in order.
func (p *page) commands() ([]command, error) {
	var all []command
	inside := false
	for i, line := range p.lines {
		switch {
		case !inside:
			inside = line == opened
		case line == fence:
			inside = false
		case strings.HasPrefix(line, "$ "):
			all = append(all, command{line: i, text: line[2:], from: i + 1, to: i + 1})
		case len(all) == 0 || p.lines[i-1] == opened:
			return nil, fmt.Errorf("%s:%d: output without a command before it", p.path, i+1)
		case strings.HasPrefix(line, "> ") && len(all[len(all)-1].output) == 0:
			last := &all[len(all)-1]
			last.text += "\n" + line[2:]
			last.from, last.to = i+1, i+1
		default:
			last := &all[len(all)-1]
			last.output = append(last.output, line)
			last.to = i + 1
		}
	}
	if inside {
		return nil, fmt.Errorf("%s: a block doesn't end", p.path)
	}
	return all, nil
}

// rewrite replaces the outputs in the page. The argument must be the result of commands, with
// changed outputs.
func (p *page) rewrite(commands []command) error {
	for _, c := range slices.Backward(commands) {
		p.lines = slices.Replace(p.lines, c.from, c.to, c.output...)
	}
	return os.WriteFile(p.path, []byte(strings.Join(p.lines, "\n")), 0o644)
}

func TestCommands(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"# A page", "",
		opened, "$ kubectl get pods", "NAME  READY", "a     1/1", "$ cat <<EOF", "> one", "> EOF", "one", fence,
		"text", "", fence + "sh", "$ not run", fence, "",
		opened, "$ true", fence, "",
	}, "\n")
	p := &page{path: t.TempDir() + "/page.md", lines: strings.Split(text, "\n")}
	got, err := p.commands()
	if err != nil {
		t.Fatal(err)
	}
	want := []command{
		{line: 3, text: "kubectl get pods", output: []string{"NAME  READY", "a     1/1"}, from: 4, to: 6},
		{line: 6, text: "cat <<EOF\none\nEOF", output: []string{"one"}, from: 9, to: 10},
		{line: 18, text: "true", from: 19, to: 19},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %+v\nwant %+v", got, want)
	}
	if err := p.rewrite(got); err != nil {
		t.Fatal(err)
	}
	if same, err := os.ReadFile(p.path); err != nil || string(same) != text {
		t.Errorf("the same output changed the page: %v\n%s", err, same)
	}
	got[1].output, got[2].output = nil, []string{"something"}
	if err := p.rewrite(got); err != nil {
		t.Fatal(err)
	}
	if after, err := p.commands(); err != nil || len(after[1].output) != 0 || !slices.Equal(after[2].output, []string{"something"}) {
		t.Errorf("after a change of the output: %+v, %v", after, err)
	}
}
