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
	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// pages run one after the other on one testbed, in the order in which a user reads them. The
// README comes first. Each page leaves the tour's cluster as it was.
var pages = []string{
	"README.md",
	"docs/guides/inspecting.md",
	"docs/guides/spread.md",
	"docs/guides/budgets-and-drains.md",
	"docs/guides/planning-drains.md",
	"docs/guides/client-traffic.md",
	"docs/guides/snapshots.md",
	"docs/guides/scaling.md",
	"docs/guides/replacing-a-member.md",
	"docs/guides/adopting.md",
	"docs/guides/backups.md",
	"docs/guides/diagnosing.md",
	"docs/guides/restarting.md",
	"docs/guides/restoring.md",
	"docs/guides/recovering-quorum.md",
	"docs/guides/sweeping.md",
}

// notRun is the guide whose commands need a bucket, which the testbed doesn't have.
const notRun = "docs/guides/scheduled-snapshots.md"

// TestGuides types the commands of the pages as they are written, and compares their output.
// UPDATE=1 writes the output into the pages instead. GUIDE names one page that runs alone, on a
// testbed on which the pages before it have run.
func TestGuides(t *testing.T) {
	s := newShell(t)
	for _, path := range pages {
		if only := os.Getenv("GUIDE"); only != "" && !strings.Contains(path, only) {
			continue
		}
		if !t.Run(path, func(t *testing.T) { s.play(t, path) }) {
			t.Fatal("the pages after it need its result")
		}
	}
	if os.Getenv("GUIDE") == "" {
		s.clearsUp(t)
	}
}

// clearsUp runs the README's commands that remove everything.
func (s *shell) clearsUp(t *testing.T) {
	t.Helper()
	block, err := install.ShellBlock("../../README.md", "this removes all of it:")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", block)
	cmd.Dir, cmd.Env = s.dir, s.env
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s%v", block, printed, err)
	}
}

// TestEveryGuideIsRun checks that the list above contains every guide.
func TestEveryGuideIsRun(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if name := "docs/guides/" + filepath.Base(path); name != "docs/guides/README.md" && name != notRun && !slices.Contains(pages, name) {
			t.Errorf("%s is not among the pages", name)
		}
	}
}

// shell runs commands as a user does in a checkout.
type shell struct {
	dir  string
	env  []string
	last int // exit code
}

// newShell copies the files that commands use from the checkout. Commands then write to the
// copy.
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
	for name, path := range installed {
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(os.Environ(), "HOME="+s.dir, "KUBECONFIG="+bed.Kubeconfig(), "NO_COLOR=1", "COLUMNS=",
		"PATH="+strings.Join([]string{bin, bed.Bin(), scripttest.PathWithout("kubectl-etcd")}, ":"))
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
		t.Fatal("the page has no command to run")
	}
	update := os.Getenv("UPDATE") != ""
	for i := range commands {
		c := &commands[i]
		began := time.Now()
		fails := i+1 < len(commands) && commands[i+1].text == "echo $?"
		got := s.until(t, *c, fails, update)
		t.Logf("%s:%d: %s (%s)", path, c.line+1, c.text, time.Since(began).Round(time.Second))
		difference := cmp.Diff(normal(c.output), normal(got))
		switch {
		case difference != "" && update:
			c.output = got
		case difference != "":
			t.Fatalf("%s:%d: $ %s\nprints another output (-page +now):\n%s", path, c.line+1, c.text, difference)
		}
		if s.last != 0 && !fails {
			t.Fatalf("%s:%d: $ %s\nexits with %d, which a page must show with \"$ echo $?\"\n%s", path, c.line+1, c.text, s.last, strings.Join(got, "\n"))
		}
	}
	if update {
		if err := p.rewrite(commands); err != nil {
			t.Fatal(err)
		}
	}
}

// limit is the time in which a command must print what the page shows, because a machine may be
// slow.
const limit = 10 * time.Minute

// readOnly matches commands that a user repeats until they see the expected output. These
// commands change nothing, or time out before they change anything.
var readOnly = regexp.MustCompile(`^kubectl (get|describe|etcd (list|status|check|diagnose|drain-plan|sweep|member list|webhook status)) |--dry-run|^kubectl drain .*--timeout \d+s`)

// acts matches the flags with which drain-plan and sweep change something.
var acts = regexp.MustCompile(` --(run|remove)\b`)

// repeats reports whether the test may repeat a command with an unexpected output. It may repeat
// a command that changes nothing, a command that must be refused, and a failed command that
// reports a timeout.
func (s *shell) repeats(c command, fails bool, got []string) bool {
	refused := len(c.output) > 0 && strings.HasPrefix(c.output[0], "refused: ") && s.last != 0
	return readOnly.MatchString(c.text) && !acts.MatchString(c.text) || refused || s.last != 0 && !fails && clusters.Transient(strings.Join(got, "\n"))
}

// until runs a command until it prints what the page shows, if it may be repeated. With update,
// it runs the command until it prints the same output twice. fails is whether the command must
// fail.
func (s *shell) until(t *testing.T, c command, fails, update bool) []string {
	t.Helper()
	const pause = 3 * time.Second
	s.calm(t, c)
	before, last := "", s.last
	for deadline := time.Now().Add(limit); ; {
		s.last = last
		got := s.run(t, c.text)
		same := normal(got) == normal(c.output)
		if !s.repeats(c, fails, got) || same || update && normal(got) == before || time.Now().After(deadline) {
			return got
		}
		before = normal(got)
		wait := pause
		if update {
			wait = 20 * time.Second
		}
		rest(t, wait)
	}
}

// changes matches commands that are refused or print other numbers while a member is slow, and
// commands after which etcd-webhook needs a moment to observe a policy.
var changes = regexp.MustCompile(`^kubectl (etcd (move-leader|restart|drain-plan|snapshot (save|restore)|cut-client-traffic|restore-client-traffic|scale|member (remove|replace))|drain|apply -f docs/guides/etcd) ?`)

// calm waits before such a command until etcd-webhook and the tour's cluster, if it exists, are
// healthy. A user also waits, because they read the previous output first.
func (s *shell) calm(t *testing.T, c command) {
	t.Helper()
	if !changes.MatchString(c.text) || strings.Contains(c.text, "--timeout") {
		return
	}
	last := s.last
	defer func() { s.last = last }()
	for deadline := time.Now().Add(limit / 4); time.Now().Before(deadline); rest(t, 2*time.Second) {
		s.run(t, "kubectl etcd webhook status >/dev/null 2>&1 && "+
			"if kubectl get statefulset etcd-main -n team-a >/dev/null 2>&1; then kubectl etcd status etcd-main -n team-a >/dev/null 2>&1; fi")
		if s.last == 0 {
			return
		}
	}
}

func rest(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	case <-time.After(d):
	}
}

// run returns the lines that a command prints on both of its streams.
func (s *shell) run(t *testing.T, text string) []string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Minute)
	defer stop()
	// The parentheses set $? of the command to the exit code of the previous command.
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
