// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package etcdconf

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestScriptsInAShell compares the judgement of random scripts with what a real shell runs.
func TestScriptsInAShell(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	shell := newSandbox(t)
	random := rand.New(rand.NewPCG(seed, 0))
	const count = 200 // each that is shown runs up to 8 times
	shown := 0
	for range count {
		if shell.judge(t, random.Uint64()) {
			shown++
		}
	}
	if shown < count/10 {
		t.Errorf("only %d of %d scripts are shown to run etcd, which tests little", shown, count)
	}
}

// FuzzScriptsInAShell is the same for as many scripts as there is time for.
func FuzzScriptsInAShell(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Add(uint64(205493864300321446)) // a loop that only an unknown command leaves
	f.Fuzz(func(t *testing.T, seed uint64) { newSandbox(t).judge(t, seed) })
}

// sandbox is a folder with the programs that a random script may run. They record that they ran.
type sandbox struct{ dir string }

// maxConditions is how many conditions a script has. Each of them is asked once at most, except
// in loops.
const maxConditions = 3

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	s := sandbox{t.TempDir()}
	// A member never ends. So etcd ends the whole process group, and the test sees nothing of
	// what follows.
	s.program(t, "etcd", `case "$1" in --version|-h) exit 0 ;; esac; echo etcd >> "$LOG"; kill -KILL 0`)
	// Another program runs instead of etcd if it replaces the script, or if it is the last command.
	s.program(t, "server", `[ "$$" != "$MAIN" ] || echo server >> "$LOG"`)
	s.program(t, "last", `echo server >> "$LOG"`)
	s.program(t, "tool", `:`)
	for i := range maxConditions {
		s.program(t, fmt.Sprintf("c%d", i), fmt.Sprintf(`[ "$C%d" = 1 ]`, i))
		// A loop's condition holds once.
		s.program(t, fmt.Sprintf("w%d", i), fmt.Sprintf(`[ "$C%d" = 1 ] && [ ! -e "$LOG.w%d" ] && : > "$LOG.w%d"`, i, i, i))
	}
	return s
}

func (s sandbox) program(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// judge makes the script of a seed. If it is shown to run etcd, judge runs it with each outcome of
// its conditions: at least one of them must run etcd, and none may run another program instead.
func (s sandbox) judge(t *testing.T, seed uint64) (shown bool) {
	t.Helper()
	g := generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	text := g.script()
	parsed := parseScript(text, surroundings{})
	if parsed.err != nil {
		t.Fatalf("seed %d: %v:\n%s", seed, parsed.err, text)
	}
	if !parsed.surelyRunsEtcd() {
		return false
	}
	etcd := false
	for outcomes := range 1 << g.conditions {
		ran := s.run(t, text, outcomes)
		etcd = etcd || strings.Contains(ran, "etcd")
		if strings.Contains(ran, "server") && !strings.Contains(ran, "etcd") {
			t.Errorf("seed %d: the script is shown to run etcd, but with outcomes %03b it runs another program:\n%s", seed, outcomes, text)
		}
	}
	if !etcd {
		t.Errorf("seed %d: the script is shown to run etcd, but never does:\n%s", seed, text)
	}
	return true
}

// run executes a script, and returns the programs that ran.
func (s sandbox) run(t *testing.T, text string, outcomes int) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", text)
	cmd.Dir, cmd.SysProcAttr = filepath.Dir(log), &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = []string{"PATH=" + s.dir + ":/usr/bin:/bin", "LOG=" + log}
	for i := range maxConditions {
		cmd.Env = append(cmd.Env, fmt.Sprintf("C%d=%d", i, outcomes>>i&1))
	}
	// CombinedOutput also waits for what the script leaves in the background. How the script ends
	// doesn't matter.
	_, _ = cmd.CombinedOutput()
	ran, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(ran)
}

// generator makes random scripts of the grammar that start scripts have.
type generator struct {
	*rand.Rand

	conditions, functions int
}

func (g *generator) script() string {
	var b strings.Builder
	b.WriteString("MAIN=$$; export MAIN\n")
	if g.IntN(3) == 0 {
		b.WriteString(g.pick("BIN=etcd\n", "BIN='nice -n 1 etcd'\n", "BIN='tool etcd'\n", "BIN=''\n"))
	}
	for range g.IntN(2) {
		fmt.Fprintf(&b, "f%d() {\n%s}\n", g.functions, g.list(2))
		g.functions++
	}
	b.WriteString(g.list(3))
	if g.IntN(3) == 0 { // a program that isn't etcd counts as the container's only at the end
		b.WriteString("last\n")
	}
	return b.String()
}

// list returns statements with up to this many levels below.
func (g *generator) list(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.statement(depth))
		b.WriteString("\n")
	}
	return b.String()
}

func (g *generator) statement(depth int) string {
	if depth == 0 || g.IntN(2) == 0 {
		return g.command()
	}
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("if %s; then\n%sfi", g.condition(), g.list(depth-1))
	case 1:
		return fmt.Sprintf("if %s; then\n%selse\n%sfi", g.condition(), g.list(depth-1), g.list(depth-1))
	case 2:
		return fmt.Sprintf("case %s in\na) %s;;\n%s) %s;;\nesac", g.pick("a", "b", "etcd"), g.list(depth-1), g.pick("*", "b", "etcd"), g.list(depth-1))
	case 3:
		return fmt.Sprintf("for i in %s; do\n%sdone", g.pick("", "1", "1 2"), g.list(depth-1))
	case 4:
		return fmt.Sprintf("while %s; do\n%sdone", g.loop(), g.list(depth-1))
	case 5:
		return fmt.Sprintf("(\n%s)", g.list(depth-1))
	case 6:
		return fmt.Sprintf("{\n%s}", g.list(depth-1))
	}
	return fmt.Sprintf("%s %s %s", g.condition(), g.pick("&&", "||"), g.command())
}

func (g *generator) command() string {
	switch g.IntN(16) {
	case 0, 1, 2:
		return g.pick("exec ", "", "exec nice -n 1 ", "env A=1 ", "command ") + "etcd --name a"
	case 4:
		return g.pick("exec ", "") + g.pick("$BIN", `"$BIN"`)
	case 5:
		return "exec " + g.pick("server", "nice server", `"$0"`)
	case 6:
		return g.pick("exit", "exit 1")
	case 7:
		return g.pick("BIN=etcd", "BIN=server", "BIN='tool etcd'", "BIN='nice -n 1 etcd'", "BIN=", "unset BIN")
	case 8:
		return "tool # etcd"
	case 9:
		return g.pick("echo etcd", "echo exec etcd >/dev/null", `X=$(echo etcd)`, "cat <<E\netcd\nE")
	case 10:
		if g.functions > 0 {
			return fmt.Sprintf("f%d", g.IntN(g.functions))
		}
	case 11:
		return "etcd & wait"
	case 12:
		return g.pick("etcd | cat", "tool | etcd")
	case 13:
		return g.pick("", "exec ") + g.pick("etcd --version", "etcd -h", "command -v etcd", "$BIN --version", "$BIN etcd")
	}
	return "tool"
}

// condition returns a command whose outcome the test chooses, or a constant one.
func (g *generator) condition() string {
	if g.conditions == maxConditions || g.IntN(6) == 0 {
		return g.pick("true", "false", ":", "! true", "! false", "[ a = a ]", "[ a = b ]")
	}
	g.conditions++
	return g.pick("", "! ") + fmt.Sprintf("c%d", g.conditions-1)
}

func (g *generator) loop() string {
	if g.conditions == maxConditions {
		return "false"
	}
	g.conditions++
	return fmt.Sprintf("w%d", g.conditions-1)
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }
