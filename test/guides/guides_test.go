// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package guides

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pages are run one after the other on one testbed, as somebody reads them who
// begins with the README. Each leaves the tour's cluster as it found it.
var pages = []string{
	"README.md",
	"docs/guides/spread.md",
	"docs/guides/budgets-and-drains.md",
	"docs/guides/client-traffic.md",
	"docs/guides/snapshots.md",
	"docs/guides/scaling.md",
	"docs/guides/replacing-a-member.md",
	"docs/guides/adopting.md",
	"docs/guides/backups.md",
}

// TestGuides types the commands of the pages as they are written, and compares
// what they print. UPDATE=1 writes what they print into the pages instead; GUIDE
// names one page that is run alone, on a testbed where the ones before it ran.
func TestGuides(t *testing.T) {
	s := newShell(t)
	for _, path := range pages {
		if only := os.Getenv("GUIDE"); only != "" && !strings.Contains(path, only) {
			continue
		}
		if !t.Run(path, func(t *testing.T) { s.play(t, path) }) {
			t.Fatal("the pages after it build on what it leaves")
		}
	}
}

// TestEveryGuideIsRun holds that no guide is forgotten above.
func TestEveryGuideIsRun(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if name := "docs/guides/" + filepath.Base(path); name != "docs/guides/README.md" && !slices.Contains(pages, name) {
			t.Errorf("%s is not among the pages", name)
		}
	}
}

// shell runs commands as somebody does who stands in a checkout.
type shell struct {
	dir  string
	env  []string
	last int // exit code
}

// newShell copies what commands name of the checkout, so that what they write
// stands elsewhere.
func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{dir: t.TempDir()}
	for _, folder := range []string{"manifests", "docs"} {
		if err := os.CopyFS(filepath.Join(s.dir, folder), os.DirFS(filepath.Join("../..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(s.dir, ".bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plugin, filepath.Join(bin, "kubectl-etcd")); err != nil {
		t.Fatal(err)
	}
	s.env = append(os.Environ(), "HOME="+s.dir, "KUBECONFIG="+bed.Kubeconfig(), "NO_COLOR=1", "COLUMNS=",
		"PATH="+strings.Join([]string{bin, bed.Bin(), os.Getenv("PATH")}, ":"))
	return s
}

// play runs a page's commands.
func (s *shell) play(t *testing.T, path string) {
	t.Helper()
	p, err := readPage(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	commands, err := p.commands()
	if err != nil {
		t.Fatal(err)
	}
	if len(commands) == 0 {
		t.Fatal("it has no command to run")
	}
	update := os.Getenv("UPDATE") != ""
	for i := range commands {
		c := &commands[i]
		began := time.Now()
		got := s.until(t, *c, update)
		t.Logf("%s:%d: %s (%s)", path, c.line+1, c.text, time.Since(began).Round(time.Second))
		difference := cmp.Diff(normal(c.output), normal(got))
		switch {
		case difference != "" && update:
			c.output = got
		case difference != "":
			t.Fatalf("%s:%d: $ %s\nprints otherwise (-page +now):\n%s", path, c.line+1, c.text, difference)
		}
		if s.last != 0 && (i+1 == len(commands) || commands[i+1].text != "echo $?") {
			t.Fatalf("%s:%d: $ %s\nexits with %d; a page shows that by \"$ echo $?\"\n%s", path, c.line+1, c.text, s.last, strings.Join(got, "\n"))
		}
	}
	if update {
		if err := p.rewrite(commands); err != nil {
			t.Fatal(err)
		}
	}
}

// looks are commands that a person repeats until they see what they wait for.
var looks = regexp.MustCompile(`^kubectl (get|etcd (list|status|check|member list|webhook status)) `)

// until runs a command; one that only looks, until it prints what the page says.
// Where that is to be found out, until it prints the same twice.
func (s *shell) until(t *testing.T, c command, update bool) []string {
	t.Helper()
	const limit, pause = 3 * time.Minute, 3 * time.Second
	before := ""
	for deadline := time.Now().Add(limit); ; {
		got := s.run(t, c.text)
		same := normal(got) == normal(c.output)
		if !looks.MatchString(c.text) || same || update && normal(got) == before || time.Now().After(deadline) {
			return got
		}
		before = normal(got)
		wait := pause
		if update {
			wait = 20 * time.Second
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(wait):
		}
	}
}

// run returns the lines that a command prints, on both of its streams.
func (s *shell) run(t *testing.T, text string) []string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	// The parentheses give the command the last one's exit code as $?.
	cmd := exec.CommandContext(ctx, "bash", "-c", fmt.Sprintf("(exit %d)\n%s", s.last, text))
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	s.last = 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		s.last = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("$ %s\n%v\n%s", text, err, out)
	}
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(out), "\n"), "\n")
}
