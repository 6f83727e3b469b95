// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package script_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestFirstArgument has etcd with a first argument that is no flag, or that only the pod knows. Lines are separated by ¦.
func TestFirstArgument(t *testing.T) {
	t.Parallel()
	const shown, hinted = etcdconf.Shown, etcdconf.Hinted
	for _, row := range []struct {
		script string
		want   etcdconf.Evidence
	}{
		{`exec etcd "$@"`, shown},
		{`exec etcd $ARGS --name=a`, shown},
		{`exec etcd $ARGS --initial-cluster $(cat /list)`, shown},
		{`export ETCD_NAME=a¦exec etcd $ARGS`, shown},
		{`ARGS=¦[ -n "$X" ] && ARGS=--debug¦exec etcd $ARGS`, shown},
		{`ARGS="--name a"; [ -n "$X" ] && ARGS="$ARGS --debug"¦exec etcd $ARGS`, shown},
		{`for F in a b; do ARGS="$ARGS --name=$F"; done¦exec etcd $ARGS`, shown},
		{`args=(--name a); args+=(--debug)¦exec etcd "${args[@]}"`, shown},
		{`e() { etcd "$@"; }¦e --name a`, shown},
		{`e() { shift; etcd "$@"; }¦e x --name a`, shown},
		{`set -- --name a; [ -n "$X" ] && set -- "$@" --debug¦exec etcd "$@"`, shown},

		{`exec etcd $ARGS`, hinted},
		{`exec etcd $ARGS --data-dir=/d`, hinted},
		{`exec etcd $(cat /flags)`, hinted},
		{`e() { etcd "$@"; }¦e --version¦exec /app`, hinted},
		{`e() { etcd $1; }¦e --version¦exec /app`, hinted},
		{`e() { etcd "$@"; }¦e grpc-proxy start --name=a`, hinted},
		{`e() { shift; etcd "$@"; }¦e x grpc-proxy start`, hinted},
		{`for a in --version; do etcd $a; done¦exec /app`, hinted},
		{`F=(--version); etcd "${F[@]}"¦exec /app`, hinted},
		{`etcd ${F:---version}¦exec /app`, hinted},
		{`etcd $(echo --version)¦exec /app`, hinted},
		{`etcd ${SUB:-grpc-proxy} start --name=a`, hinted},
		{`O="grpc-proxy start"; O="$O --endpoints=x"¦exec etcd $O`, hinted},
		{`args=(grpc-proxy start)¦exec etcd "${args[@]}"`, hinted},
		{`set -- grpc-proxy start; [ -n "$X" ] && set -- "$@" --cacert=y¦exec etcd "$@"`, hinted},
		{`/etc/init.d/etcd stop¦exec /app`, hinted},
		{`etcd check perf`, hinted},
		{`export ETCD_PROXY=off¦exec etcd`, shown},
		{`export ETCD_PROXY=on¦exec etcd`, hinted},
		{`ETCD_PROXY=readonly exec etcd`, hinted},
		{`exec env ETCD_PROXY=on etcd`, hinted},
		{`B=¦exec ${B:-etcd} --name a`, shown},
		{`B=/usr/bin/etcd¦exec ${B:-/app} --name a`, shown},
		{`exec ${B:-etcd} --name a`, hinted},
		{`exec etcd ""`, hinted},
	} {
		pod := &corev1.Pod{}
		pod.Spec.Containers = []corev1.Container{{Command: []string{"sh", "-c", strings.ReplaceAll(row.script, "¦", "\n")}}}
		if got := etcdconf.MemberOf(pod).Evidence; got != row.want && (row.want != hinted || got == shown || len(etcdconf.HintsOf(pod)) == 0) {
			t.Errorf("%s: %d, want %d", row.script, got, row.want)
		}
	}
	for _, options := range []string{"-n -c", "-nc", "-o noexec -c", "-e -n -c"} {
		pod := &corev1.Pod{}
		pod.Spec.Containers = []corev1.Container{{Command: append(append([]string{"bash"}, strings.Fields(options)...), "exec etcd")}}
		if etcdconf.RunsEtcd(pod) {
			t.Errorf("a shell with %s executes nothing", options)
		}
	}
	for command, want := range map[string]etcdconf.Evidence{
		"etcd": shown, "etcd -name a": shown, "etcd $(ARGS) --name a": shown,
		"etcd $(MODE) start": hinted, "etcd start": hinted, "etcd backup --data-dir=/d": hinted,
	} {
		pod := &corev1.Pod{}
		pod.Spec.Containers = []corev1.Container{{Command: strings.Fields(command)}}
		if got := etcdconf.MemberOf(pod).Evidence; got != want && (want != hinted || got == shown || len(etcdconf.HintsOf(pod)) == 0) {
			t.Errorf("%s: %d, want %d", command, got, want)
		}
	}
}

// TestTextsBeforeFlags compares the judgement of scripts that give etcd texts by variables, functions and arrays with what bash
// gives it: none may be shown of which etcd gets a first argument that is no flag on some way.
func TestTextsBeforeFlags(t *testing.T) {
	t.Parallel()
	bash := newWordShell(t)
	shown := 0
	const count = 400
	for seed := range uint64(count) {
		if bash.judge(t, seed) {
			shown++
		}
	}
	t.Logf("%d of %d scripts are shown to run etcd", shown, count)
	if shown < count/8 {
		t.Errorf("%d of %d scripts are shown to run etcd, want an eighth", shown, count)
	}
}

// FuzzTextsBeforeFlags is the same for as many scripts as there is time for.
func FuzzTextsBeforeFlags(f *testing.F) {
	f.Add(uint64(1))
	bash := newWordShell(f)
	f.Fuzz(func(t *testing.T, seed uint64) { bash.judge(t, seed) })
}

// wordShell is bash with a folder in which etcd prints whether it would run a member.
type wordShell struct{ bash, dir string }

func newWordShell(tb testing.TB) wordShell {
	tb.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		tb.Skip("there is no bash")
	}
	s := wordShell{bash: bash, dir: tb.TempDir()}
	etcd := "#!" + bash + "\n" + `for A in "$@"; do case "$A" in -h|--help|--version) echo other; exit ;; esac; done
case "$#:$1" in 0:|*:-*) echo member ;; *) echo other ;; esac`
	if err := os.WriteFile(filepath.Join(s.dir, "etcd"), []byte(etcd), 0o700); err != nil {
		tb.Fatal(err)
	}
	return s
}

// judge makes the script of a seed, and runs it on each of its ways if it is shown to run etcd.
func (s wordShell) judge(t *testing.T, seed uint64) (shown bool) {
	t.Helper()
	text := texts{rand.New(rand.NewPCG(seed, 2))}.script()
	if !plainly(text) {
		return false
	}
	for _, x := range []string{"", "x"} {
		cmd := exec.CommandContext(t.Context(), s.bash, "-c", text)
		cmd.Env = []string{"PATH=" + s.dir, "X=" + x}
		out, _ := cmd.CombinedOutput()
		if got := string(out); !strings.HasPrefix(got, "member") || strings.Contains(got, "other") {
			t.Errorf("seed %d: the script is shown to run etcd, but prints %q with X=%q:\n%s", seed, got, x, text)
		}
	}
	return true
}

// texts makes scripts that give texts to etcd.
type texts struct{ *rand.Rand }

func (w texts) pick(of ...string) string { return of[w.IntN(len(of))] }

func (w texts) word() string {
	return w.pick("--debug", "--debug", "--debug", "--name a", "--name a", "", "--version", "-h", "grpc-proxy start", "gateway", "stop", "a")
}

// change returns a command that perhaps changes what etcd gets.
func (w texts) change(always, perhaps string) string {
	return w.pick("", always, `[ -n "$X" ] && `+perhaps, `if [ -n "$X" ]; then `+perhaps+"; fi", `case $X in x) `+perhaps+" ;; esac")
}

func (w texts) script() string {
	a, b := w.word(), w.word()
	before, use := "", ""
	switch w.IntN(7) {
	case 0:
		before, use = fmt.Sprintf("V='%s'\n%s", a, w.change("V=\"$V "+b+"\"", "V='"+b+"'")), w.pick("$V", "${V}", "${V:-"+b+"}", "${V:+$V}")
	case 1:
		before, use = fmt.Sprintf("set -- %s\n%s", a, w.change(`set -- "$@" `+b, "set -- "+b)), w.pick(`"$@"`, "$@", "$*", "${1}")
	case 2:
		before, use = fmt.Sprintf("A=(%s)\n%s", a, w.change("A+=("+b+")", "A=("+b+")")), w.pick(`"${A[@]}"`, "${A[@]}", `"${A[@]}" "${A[@]}"`)
	case 3:
		return fmt.Sprintf("e() { etcd %s %s; }\n%s", w.pick(`"$@"`, "$@", "$*", "$1", `${1:-`+b+`}`), w.tail(), w.change("e "+a, "e "+b)+"\ne "+a)
	case 4:
		return fmt.Sprintf("for V in %s --debug; do etcd $V %s; done", a, w.tail())
	case 5:
		use = w.pick("$(echo "+a+")", "`echo "+a+"`", "${U:-"+a+"}", "${X:+"+a+"}")
	case 6:
		before, use = fmt.Sprintf("V='%s'\nW=\"$V %s\"\n%s", a, b, w.change("W=$V", "W="+w.pick("--debug", "stop", "$V"))), "$W"
	}
	return before + "\n" + w.pick("exec ", "", "command ") + "etcd " + use + " " + w.tail()
}

// tail returns what etcd gets behind the texts.
func (w texts) tail() string { return w.pick("", "--name=b", "--data-dir=/d", "--endpoints=x") }
