// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestArguments has scripts that run the arguments which their container gives them. A line of a script ends with
// ¦. The arguments are separated by spaces.
func TestArguments(t *testing.T) {
	t.Parallel()
	const member = "etcd --name a --data-dir /d"
	for _, row := range []struct {
		name, script, args string
		want               etcdconf.Evidence
	}{
		{"all of them", `ulimit -n 65536; exec "$@"`, member, etcdconf.Shown},
		{"all of them, split", `exec $@`, member, etcdconf.Shown},
		{"all of them with another star", `exec $*`, member, etcdconf.Shown},
		{"in braces", `exec "${@}"`, member, etcdconf.Shown},
		{"behind launchers", `exec nice -n 5 "$@"`, "tini -- " + member, etcdconf.Shown},
		{"the first of them", `B=$1; exec "$1" --name a --data-dir /d`, member, etcdconf.Shown},
		{"without exec", `"$@"`, member, etcdconf.Shown},
		{"another program", `exec "$@"`, "/app etcd --name a", etcdconf.NoEvidence},
		{"another program of etcd's", `exec "$@"`, "etcdctl snapshot save /b", etcdconf.NoEvidence},
		{"its version", `exec "$@"`, "etcd --version", etcdconf.NoEvidence},
		{"none", `exec "$@"`, "", etcdconf.NoEvidence},
		{"none, and etcd behind them", `exec "$@"¦exec ` + member, "", etcdconf.Shown},
		{"as one word", `exec "$*"`, member, etcdconf.NoEvidence},
		{"as a part", `exec "x$@"`, member, etcdconf.NoEvidence},
		{"as the end of a word", `exec /bin/"$@"`, member, etcdconf.Shown},
		{"not known, in the first one", `exec "$@"`, "$(PROGRAM) etcd", etcdconf.NoEvidence},

		{"shifted", `shift; exec "$@"`, "start " + member, etcdconf.Shown},
		{"shifted by two", `shift 2¦exec "$@"`, "start it " + member, etcdconf.Shown},
		{"shifted away", `shift¦exec "$@"`, member, etcdconf.NoEvidence},
		{"shifted beyond their end", `shift 9¦exec "$@"`, member, etcdconf.NoEvidence},
		{"perhaps shifted", `if ask; then shift; fi¦exec "$@"`, "etcd etcd --name a", etcdconf.NoEvidence},
		{"shifted in a loop", `while ask; do shift; done¦exec "$@"`, member, etcdconf.NoEvidence},
		{"shifted later in a loop", `while ask; do "$@"; shift; done`, member, etcdconf.NoEvidence},
		{"shifted in a process", `(shift)¦exec "$@"`, member, etcdconf.Shown},
		{"shifted behind it", `ask || exec "$@"¦shift¦exec "$@"`, member, etcdconf.Hinted},
		{"shifted in a function", `f() { shift; }¦f a¦exec "$@"`, member, etcdconf.Shown},
		{"shifted by a file", `. /lib.sh¦exec "$@"`, member, etcdconf.NoEvidence},
		{"shifted by a text", `eval "$X"¦exec "$@"`, member, etcdconf.NoEvidence},
		{"shifted by what isn't known", `$X¦exec "$@"`, member, etcdconf.NoEvidence},
		{"shifted by a trap", `trap 'shift' USR1¦exec "$@"`, member, etcdconf.NoEvidence},
		{"a trap", `trap 'kill $P' TERM¦"$@" &¦P=$!¦wait $P`, member, etcdconf.Shown},
		{"shifted by an alias", `alias go=shift¦go¦exec "$@"`, member, etcdconf.NoEvidence},
		{"shifted by a backslash", `\shift¦exec "$@"`, member, etcdconf.NoEvidence},
		{"those of a function", `f() { exec "$@"; }¦f /app`, member, etcdconf.NoEvidence},

		{"set", `set -- etcd --name a¦exec "$@"`, "", etcdconf.Shown},
		{"set before them", `set -- etcd "$@"¦exec "$@"`, "--name a", etcdconf.Shown},
		{"set instead of them", `set -- /app "$@"¦exec "$@"`, member, etcdconf.NoEvidence},
		{"set to a variable", `set -- $X etcd¦exec "$@"`, member, etcdconf.NoEvidence},
		{"set to files", `set -- * etcd¦shift¦exec "$@"`, member, etcdconf.NoEvidence},
		{"set by an option that isn't known", `set $X¦exec "$@"`, member, etcdconf.NoEvidence},
		{"options alone", `set -eu¦exec "$@"`, member, etcdconf.Shown},
		{"set where they begin with an option", `case "$1" in -*) set -- etcd "$@" ;; esac¦exec "$@"`, "--name a --data-dir /d", etcdconf.Shown},
		{"not set where they don't", `case "$1" in -*) set -- etcd "$@" ;; esac¦exec "$@"`, "/app etcd", etcdconf.NoEvidence},
		{"set in a pipe", `ask | set -- /app¦exec "$@"`, member, etcdconf.NoEvidence},
		{"set in the background", `set -- /app &¦exec "$@"`, member, etcdconf.Shown},
		{"set without end", strings.Repeat(`set -- "$@" "$@"¦`, 200) + `exec "$@"`, member, etcdconf.NoEvidence},

		{"a case of them", `case "$1" in etcd) exec "$@" ;; pg) exec postgres ;; esac`, "etcd", etcdconf.Shown},
		{"another case of them", `case "$1" in etcd) exec etcd "$@" ;; pg) exec postgres ;; esac`, "pg", etcdconf.Hinted},
		{"a case of them that shifts", `case $1 in etcd) shift; exec etcd "$@" ;; *) exec "$@" ;; esac`, member, etcdconf.Shown},
		{"a branch of them", `if [ "$1" = etcd ]; then exec "$@"; fi¦exec /app`, member, etcdconf.Shown},
		{"another branch of them", `if [ "$1" = etcd ]; then exec "$@"; fi¦exec /app`, "/app", etcdconf.NoEvidence},
		{"a branch of their number", `if [ $# -gt 0 ]; then exec "$@"; fi¦exec etcd --name a`, "/app", etcdconf.Hinted},
		{"the other branch of their number", `if [ $# -gt 0 ]; then exec "$@"; fi¦exec etcd --name a`, "", etcdconf.Shown},
		{"a branch that shifts and ends", `if ask; then shift; exec /app; fi¦exec "$@"`, member, etcdconf.Hinted},
	} {
		pod := &corev1.Pod{}
		c := corev1.Container{Name: "c", Command: []string{"sh", "-c", strings.ReplaceAll(row.script, "¦", "\n"), "sh"}, Args: strings.Fields(row.args)}
		pod.Spec.Containers = []corev1.Container{c}
		got := etcdconf.MemberOf(pod).Evidence
		if row.want == etcdconf.NoEvidence && got == etcdconf.Hinted {
			continue // not shown, in either case
		}
		if got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
		if !strings.HasPrefix(row.args, member) || got != etcdconf.Shown {
			continue
		}
		config, err := etcdconf.ParsePod(pod, nil)
		if err != nil || config.Name != "a" || config.DataDir != "/d" || len(config.Unknown) > 0 {
			t.Errorf("%s: name %q, data %q, unknown %v, %v", row.name, config.Name, config.DataDir, config.Unknown, err)
		}
	}
}
