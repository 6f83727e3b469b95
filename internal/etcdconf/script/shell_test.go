// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package script_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// TestScriptsInAShell compares the judgement of random scripts with what real shells run.
func TestScriptsInAShell(t *testing.T) {
	t.Parallel()
	const seed = 1 // equal scripts in each run: FuzzScriptsInAShell walks others
	shell := newSandbox(t)
	random := rand.New(rand.NewPCG(seed, 0))
	const most, least, enough = 60, 10, 2 * time.Second
	shown, count := 0, 0
	for start := time.Now(); count < most && (count < least || time.Since(start) < enough); count++ {
		if shell.judge(t, random.Uint64()) {
			shown++
		}
	}
	t.Logf("seed %d: %d of %d scripts are shown to run etcd", seed, shown, count)
}

// TestShare counts the scripts that are shown to run etcd, since "not known" is always right, and
// useless.
func TestShare(t *testing.T) {
	t.Parallel()
	const count = 2000
	random, plain := 0, 0
	for seed := range uint64(count) {
		g := generator{Rand: rand.New(rand.NewPCG(seed, 1))}
		if plainly(g.script()) {
			random++
		}
		if plainly(g.plain()) {
			plain++
		}
	}
	t.Logf("%d of %d random scripts are shown to run etcd, and %d plain ones", random, count, plain)
	if random < count/6 || plain < count {
		t.Errorf("%d of %d random scripts are shown to run etcd, want a sixth, and %d plain ones, want all", random, count, plain)
	}
}

// plainly reports whether a script is shown to run etcd.
func plainly(text string) bool {
	read := script.Start([]string{"sh", "-c", text}, nil, script.Surroundings{}).Script
	return read != nil && read.Err == nil && read.SurelyRunsEtcd()
}

// FuzzScriptsInAShell is the same for as many scripts as there is time for.
func FuzzScriptsInAShell(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	shell := newSandbox(f)
	f.Fuzz(func(t *testing.T, seed uint64) { shell.judge(t, seed) })
}

// sandbox is a folder with the programs that a random script may run. They record that they ran.
// The scripts of a sandbox run one after the other.
type sandbox struct {
	dir    string
	shells []string
}

// maxConditions is how many conditions a script has. Each of them is asked once at most, except
// in loops.
const maxConditions = 3

// maxTools is how many commands of a script fail or not, by chance.
const maxTools = 12

// maxJobs is how many programs of a script count in any of its processes. Each has a name of its own.
const maxJobs = 10

// The number of runs of a script with outcomes by chance, and of those after which it is reported never to
// run etcd.
const runs, mostRuns = 12, 200

func newSandbox(tb testing.TB) sandbox {
	tb.Helper()
	s := sandbox{dir: tb.TempDir()}
	for _, name := range []string{"dash", "bash", "busybox", "sh"} {
		if at, err := exec.LookPath(name); err == nil && (name != "sh" || len(s.shells) == 0) {
			s.shells = append(s.shells, at)
		}
	}
	for _, name := range []string{"env", "nice", "timeout", "nohup", "setsid", "cat", "sleep", "sh"} {
		at, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(at, s.path(name))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	// A member never ends. So etcd ends the whole process group, and the test sees nothing of
	// what follows.
	s.program(tb, "etcd", `case "$1" in --version|-h) exit 0 ;; esac
{ echo etcd; printf '%s\037' "$@" "ETCD_NAME=$ETCD_NAME"; echo; } >> LOG
read -r MAIN < PID
kill -KILL "-$MAIN" 0`)
	// Another program runs instead of etcd if it replaces the script, or if it is the last command.
	s.program(tb, "server", `read -r MAIN < PID; [ "$$" != "$MAIN" ] || echo server >> LOG`)
	s.program(tb, "last", `echo server >> LOG`)
	// A job runs instead of etcd in any process, if the script has nothing behind it that may be etcd.
	for i := range maxJobs {
		s.program(tb, fmt.Sprintf("job%d", i), fmt.Sprintf("echo job%d >> LOG", i))
	}
	s.program(tb, "job", "exit 0")
	s.program(tb, "tool", "exit 0")
	for i := range maxTools {
		s.program(tb, fmt.Sprintf("t%d", i), fmt.Sprintf(`exit "$T%d"`, i))
	}
	s.program(tb, "gosu", `shift; exec "$@"`)
	s.program(tb, "tini", `while [ "$1" != -- ]; do shift; done; shift; exec "$@"`)
	for i := range maxConditions {
		s.program(tb, fmt.Sprintf("c%d", i), fmt.Sprintf(`[ "$C%d" = 1 ]`, i))
		// A loop's condition holds once.
		s.program(tb, fmt.Sprintf("w%d", i), fmt.Sprintf(`[ "$C%d" = 1 ] && [ ! -e LOG.w%d ] && : > LOG.w%d`, i, i, i))
	}
	return s
}

func (s sandbox) path(name string) string { return filepath.Join(s.dir, name) }

func (s sandbox) program(tb testing.TB, name, text string) {
	tb.Helper()
	text = strings.NewReplacer("LOG", s.path("work/log"), "PID", s.path("work/pid")).Replace(text)
	if err := os.WriteFile(s.path(name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		tb.Fatal(err)
	}
}

// judge makes the script of a seed. If it is shown to run etcd, judge runs it with each outcome of
// its conditions: at least one of them must run etcd, each that does must give it the arguments that
// are shown, and none may run another program instead.
func (s sandbox) judge(t *testing.T, seed uint64) (shown bool) {
	t.Helper()
	g := generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	text := g.script()
	if !surelyRunsEtcd(t, text, g.args) {
		return false
	}
	want := shownSettings(t, text, g.args)
	shell := s.shells[g.IntN(len(s.shells))]
	etcd := false
	for i := 0; i < runs || i < mostRuns && !etcd && !g.opaque; i++ {
		outcomes := g.IntN(1 << (maxConditions + maxTools))
		ran := s.run(t, shell, text, g.args, outcomes)
		_, args, is := strings.Cut(ran, "etcd\n")
		etcd = etcd || is
		args, _, _ = strings.Cut(args, "\n")
		if other := otherProgram(text, ran); !is && other != "" {
			t.Errorf("seed %d: the script is shown to run etcd, but with outcomes %b in %s it only runs %s:\n%s", seed, outcomes, shell, other, text)
		}
		if is {
			for _, wrong := range differences(want, args) {
				t.Errorf("seed %d: %s, with outcomes %b in %s:\n%s", seed, wrong, outcomes, shell, text)
			}
		}
		if t.Failed() {
			return true
		}
	}
	if !etcd && !g.opaque {
		t.Errorf("seed %d: the script is shown to run etcd, but never does in %s:\n%s", seed, shell, text)
	}
	return true
}

// otherProgram returns a program that ran in place of etcd, empty for none.
func otherProgram(text, ran string) string {
	switch {
	case failsBeside(text):
		return ""
	case strings.Contains(ran, "server"):
		return "another program"
	}
	return jobInstead(text, ran)
}

// failsBeside reports whether a script has a process in the background that ends at the first command which fails. The
// reader doesn't follow such an end, as it doesn't follow etcd's own failure.
func failsBeside(text string) bool {
	return errexit.MatchString(text) && inBackground.MatchString(text)
}

var (
	errexit      = regexp.MustCompile(`set -\w*e|errexit`)
	inBackground = regexp.MustCompile(`(?m)&$|& wait`)
)

// jobInstead returns a job that ran, and that the script has nothing behind which may be etcd. It reads the text alone, so
// that it finds no job that comes to an end of the script before etcd.
func jobInstead(text, ran string) string {
	for job := range strings.FieldsSeq(ran) {
		if !strings.HasPrefix(job, "job") {
			continue
		}
		_, behind, _ := strings.Cut(text, job)
		if !mayBeEtcd.MatchString(strings.ReplaceAll(behind, "exit $?", "")) {
			return job
		}
	}
	return ""
}

// mayBeEtcd matches what may lead to etcd in a random script.
var mayBeEtcd = regexp.MustCompile(`etcd|\$[^!]|\b[fe]0?\b|\bg\b|\blib\b`)

// surelyRunsEtcd reports whether a script is shown to run etcd.
func surelyRunsEtcd(t *testing.T, text string, args []string) bool {
	t.Helper()
	read := script.Start([]string{"sh", "-c", text, "sh"}, args, script.Surroundings{}).Script
	if read != nil && read.Err != nil {
		t.Fatalf("%v:\n%s", read.Err, text)
	}
	return read != nil && read.SurelyRunsEtcd()
}

// shownSettings reads a script as that of a pod.
func shownSettings(t *testing.T, text string, args []string) etcdconf.Config {
	t.Helper()
	pod := &corev1.Pod{}
	pod.Spec.Containers = []corev1.Container{{Command: []string{"sh", "-c", text, "sh"}, Args: args}}
	config, err := etcdconf.ParsePod(pod, nil)
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return config
}

// differences compares what is shown of etcd's settings with the arguments and the variables that it got.
// What only the pod knows can be anything, and initial flags may be left out.
func differences(want etcdconf.Config, got string) (wrong []string) {
	args := strings.Split(strings.TrimSuffix(got, "\x1f"), "\x1f")
	name := strings.TrimPrefix(args[len(args)-1], "ETCD_NAME=")
	flags, _ := script.Flags(args[:len(args)-1])
	if _, set := flags["name"]; !set && name != "" {
		flags["name"] = name
	}
	for flag, value := range map[string]string{"name": want.Name, "data-dir": want.DataDir, "initial-cluster": want.InitialCluster} {
		ok := want.Where[flag] != ""
		if !ok { // it is etcd's default
			value = ""
		}
		has, set := flags[flag]
		initial := strings.HasPrefix(flag, "initial-") && !set
		if want.Unknown[flag] == "" && !strings.ContainsAny(value, "$`") && (value != has || ok != set) && !initial {
			wrong = append(wrong, fmt.Sprintf("%s is shown to be %q (%t), but is %q (%t)", flag, value, ok, has, set))
		}
	}
	return wrong
}

// run executes a script, and returns the programs that ran. The last of the outcomes is that of tool.
func (s sandbox) run(t *testing.T, shell, text string, with []string, outcomes int) string {
	t.Helper()
	work := s.path("work")
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	args := append([]string{"-c", "echo $$ > " + work + "/pid\n" + text, "sh"}, with...)
	if filepath.Base(shell) == "busybox" {
		args = append([]string{"sh"}, args...)
	}
	cmd := exec.CommandContext(ctx, shell, args...)
	cmd.Dir, cmd.SysProcAttr = work, &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second // for what the script leaves in the background
	cmd.Env = []string{"PATH=" + s.dir, "HOME=/nowhere"}
	for i := range maxConditions {
		cmd.Env = append(cmd.Env, fmt.Sprintf("C%d=%d", i, outcomes>>i&1))
	}
	for i := range maxTools {
		cmd.Env = append(cmd.Env, fmt.Sprintf("T%d=%d", i, outcomes>>(maxConditions+i)&1))
	}
	// CombinedOutput also waits for what the script leaves in the background. How the script ends
	// doesn't matter, but nothing of it may stay.
	_, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		t.Logf("%s does not end with outcomes %b:\n%s", shell, outcomes, text)
	}
	ran, err := os.ReadFile(filepath.Join(work, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(ran)
}
