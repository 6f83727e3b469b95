// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestHelpers has scripts with functions, aliases and processes beside etcd: those that can't keep it from
// running, and those that can.
func TestHelpers(t *testing.T) {
	t.Parallel()
	logs := func(body string) string { return body + "\n" + strings.Repeat("log a\n", 150) + "exec etcd" }
	for script, want := range map[string]Evidence{
		logs(`log() { echo "$*"; }`): Shown,
		logs(`log() { [ -n "$QUIET" ] && return 0; printf '%s\n' "$*" >&2; }`):   Shown,
		logs(`log() { write "$*"; }; write() { echo "$1"; }`):                    Shown,
		logs(`log() { X=1; for i in 1 2; do echo $i; done; }`):                   Shown,
		"log() { [ -n \"$X\" ] && exit 1; }\nlog a\nexec etcd":                   Shown,
		"log() { [ -n \"$X\" ] && exec server; }\nlog a\nexec etcd":              Hinted,
		"log() { while true; do sleep 1; done; }\nlog a\nexec etcd":              Hinted,
		"log() { write; }; write() { until false; do :; done; }\nlog\nexec etcd": Hinted,
		"log() { set -n; }\nlog a\nexec etcd":                                    Hinted,
		"log() { set -o pipefail -n; }\nlog a\nexec etcd":                        Hinted,
		"log() { exit 0; }\nlog a\nexec etcd":                                    NoEvidence,

		"alias ll='ls -l'\nexec etcd":                                  Shown,
		"alias ll='ls -l' etcdctl='etcdctl --cacert=/ca'\nexec etcd":   Shown,
		"alias ls='ls --color'\nls\nexec etcd":                         Shown,
		"alias ll='exit'\nll\nexec etcd":                               Hinted,
		"alias if='exit'\nif true; then :; fi\nexec etcd":              Hinted,
		"alias etcd='server'\nexec etcd":                               Hinted,
		"alias exec='exit'\nexec etcd":                                 Hinted,
		"alias e\\tcd='server'\nexec etcd":                             Hinted,
		"alias \"$X\"\nexec etcd":                                      Hinted,
		"alias go='exit'\ng\\\no\nexec etcd":                           Hinted,
		"command alias ll='exit'\nll\nexec etcd":                       Hinted,
		"alias ll='ls -l'; command -p alias exec='exit'\n:\nexec etcd": Hinted,

		"watch() { while true; do sleep 9; done; }\nwatch &\nexec etcd":                   Shown,
		"watch() { sleep 9; exit 1; }\nwatch &\nexec etcd":                                Shown,
		"watch() { sleep 9; exec server; }\nwatch &\nexec etcd":                           Shown,
		"run() { etcd; }\nrun &\nwait":                                                    Shown,
		"watch() { while true; do sleep 9; done; }\nwatch\nexec etcd":                     Hinted,
		"watch() { sleep 9; exec server; }\nwatch\nexec etcd":                             Hinted,
		"watch() { while true; do sleep 9; done; }\nwatch &\nwait\nexec etcd":             Hinted,
		"watch() { while true; do sleep 9; done; }\nw() { wait; }\nwatch &\nw\nexec etcd": Hinted,

		"for ((;;)); do [ $X ] && break; done\nexec etcd": Shown,
		"for ((;;)); do :; done\nexec etcd":               Hinted,
		"f() { for ((;;)); do :; done; }\nf\nexec etcd":   Hinted,

		"f() { exit; }\n\\f\nexec etcd":          NoEvidence,
		"f() { e\\xit; }\nf\nexec etcd":          NoEvidence,
		"f() { builtin -- exit; }\nf\nexec etcd": NoEvidence,
		"\\exec server\nexec etcd":               NoEvidence,
		"\\set -n\nexec etcd":                    Hinted,
		"s\\et -n\nexec etcd":                    Hinted,
		"builtin set -n\nexec etcd":              Hinted,
		"X=alias\n$X exec=exit\n:\nexec etcd":    Hinted,

		"set -e\nexec etcd":                     Shown,
		"set -o pipefail\nexec etcd":            Shown,
		"set -eo pipefail -u\nexec etcd":        Shown,
		"set +n\nexec etcd":                     Shown,
		"set -- -n\nexec etcd":                  Shown,
		"set a -n\nexec etcd":                   Shown,
		"set -n\nexec etcd":                     Hinted,
		"set -en\nexec etcd":                    Hinted,
		"set -o noexec\nexec etcd":              Hinted,
		"set -o pipefail -n\nexec etcd":         Hinted,
		"set -eo pipefail -o noexec\nexec etcd": Hinted,
		"set -oo pipefail noexec\nexec etcd":    Hinted,
		"set +e -n\nexec etcd":                  Hinted,
		"set -o $OPTION\nexec etcd":             Hinted,
		"set $OPTIONS\nexec etcd":               Hinted,
		"command set -n\nexec etcd":             Hinted,
		"command -p set -n\nexec etcd":          Hinted,
	} {
		pod := &corev1.Pod{}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"sh", "-c", script}}}
		got := evidenceIn(pod, nil)
		if want == NoEvidence && got == Hinted {
			continue // not shown, in either case
		}
		if got != want {
			short, _, _ := strings.Cut(script, "\nlog a\nlog a")
			t.Errorf("%q: %d, want %d", short, got, want)
		}
	}
}
