// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestHelpers has scripts with functions, aliases and processes beside etcd: those that can't keep it from
// running, and those that can.
func TestHelpers(t *testing.T) {
	t.Parallel()
	logs := func(body string) string { return body + "\n" + strings.Repeat("log a\n", 150) + "exec etcd" }
	for script, want := range map[string]etcdconf.Evidence{
		logs(`log() { echo "$*"; }`): etcdconf.Shown,
		logs(`log() { [ -n "$QUIET" ] && return 0; printf '%s\n' "$*" >&2; }`):   etcdconf.Shown,
		logs(`log() { write "$*"; }; write() { echo "$1"; }`):                    etcdconf.Shown,
		logs(`log() { X=1; for i in 1 2; do echo $i; done; }`):                   etcdconf.Shown,
		"log() { [ -n \"$X\" ] && exit 1; }\nlog a\nexec etcd":                   etcdconf.Shown,
		"log() { [ -n \"$X\" ] && exec server; }\nlog a\nexec etcd":              etcdconf.Hinted,
		"log() { while true; do sleep 1; done; }\nlog a\nexec etcd":              etcdconf.Hinted,
		"log() { write; }; write() { until false; do :; done; }\nlog\nexec etcd": etcdconf.Hinted,
		"log() { set -n; }\nlog a\nexec etcd":                                    etcdconf.Hinted,
		"log() { set -o pipefail -n; }\nlog a\nexec etcd":                        etcdconf.Hinted,
		"log() { exit 0; }\nlog a\nexec etcd":                                    etcdconf.NoEvidence,

		"alias ll='ls -l'\nexec etcd":                                  etcdconf.Shown,
		"alias ll='ls -l' etcdctl='etcdctl --cacert=/ca'\nexec etcd":   etcdconf.Shown,
		"alias ls='ls --color'\nls\nexec etcd":                         etcdconf.Shown,
		"alias ll='exit'\nll\nexec etcd":                               etcdconf.Hinted,
		"alias if='exit'\nif true; then :; fi\nexec etcd":              etcdconf.Hinted,
		"alias etcd='server'\nexec etcd":                               etcdconf.Hinted,
		"alias exec='exit'\nexec etcd":                                 etcdconf.Hinted,
		"alias e\\tcd='server'\nexec etcd":                             etcdconf.Hinted,
		"alias \"$X\"\nexec etcd":                                      etcdconf.Hinted,
		"alias go='exit'\ng\\\no\nexec etcd":                           etcdconf.Hinted,
		"command alias ll='exit'\nll\nexec etcd":                       etcdconf.Hinted,
		"alias ll='ls -l'; command -p alias exec='exit'\n:\nexec etcd": etcdconf.Hinted,

		"watch() { while true; do sleep 9; done; }\nwatch &\nexec etcd":                   etcdconf.Shown,
		"watch() { sleep 9; exit 1; }\nwatch &\nexec etcd":                                etcdconf.Shown,
		"watch() { sleep 9; exec server; }\nwatch &\nexec etcd":                           etcdconf.Shown,
		"run() { etcd; }\nrun &\nwait":                                                    etcdconf.Shown,
		"watch() { while true; do sleep 9; done; }\nwatch\nexec etcd":                     etcdconf.Hinted,
		"watch() { sleep 9; exec server; }\nwatch\nexec etcd":                             etcdconf.Hinted,
		"watch() { while true; do sleep 9; done; }\nwatch &\nwait\nexec etcd":             etcdconf.Hinted,
		"watch() { while true; do sleep 9; done; }\nw() { wait; }\nwatch &\nw\nexec etcd": etcdconf.Hinted,

		"for ((;;)); do [ $X ] && break; done\nexec etcd": etcdconf.Shown,
		"for ((;;)); do :; done\nexec etcd":               etcdconf.Hinted,
		"f() { for ((;;)); do :; done; }\nf\nexec etcd":   etcdconf.Hinted,

		"f() { exit; }\n\\f\nexec etcd":          etcdconf.NoEvidence,
		"f() { e\\xit; }\nf\nexec etcd":          etcdconf.NoEvidence,
		"f() { builtin -- exit; }\nf\nexec etcd": etcdconf.NoEvidence,
		"\\exec server\nexec etcd":               etcdconf.NoEvidence,
		"\\set -n\nexec etcd":                    etcdconf.Hinted,
		"s\\et -n\nexec etcd":                    etcdconf.Hinted,
		"builtin set -n\nexec etcd":              etcdconf.Hinted,
		"X=alias\n$X exec=exit\n:\nexec etcd":    etcdconf.Hinted,

		"set -e\nexec etcd":                     etcdconf.Shown,
		"set -o pipefail\nexec etcd":            etcdconf.Shown,
		"set -eo pipefail -u\nexec etcd":        etcdconf.Shown,
		"set +n\nexec etcd":                     etcdconf.Shown,
		"set -- -n\nexec etcd":                  etcdconf.Shown,
		"set a -n\nexec etcd":                   etcdconf.Shown,
		"set -n\nexec etcd":                     etcdconf.Hinted,
		"set -en\nexec etcd":                    etcdconf.Hinted,
		"set -o noexec\nexec etcd":              etcdconf.Hinted,
		"set -o pipefail -n\nexec etcd":         etcdconf.Hinted,
		"set -eo pipefail -o noexec\nexec etcd": etcdconf.Hinted,
		"set -oo pipefail noexec\nexec etcd":    etcdconf.Hinted,
		"set +e -n\nexec etcd":                  etcdconf.Hinted,
		"set -o $OPTION\nexec etcd":             etcdconf.Hinted,
		"set $OPTIONS\nexec etcd":               etcdconf.Hinted,
		"command set -n\nexec etcd":             etcdconf.Hinted,
		"command -p set -n\nexec etcd":          etcdconf.Hinted,
	} {
		pod := &corev1.Pod{}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"sh", "-c", script}}}
		got := etcdconf.MemberOf(pod).Evidence
		if want == etcdconf.NoEvidence && got == etcdconf.Hinted {
			continue // not shown, in either case
		}
		if got != want {
			short, _, _ := strings.Cut(script, "\nlog a\nlog a")
			t.Errorf("%q: %d, want %d", short, got, want)
		}
	}
}
