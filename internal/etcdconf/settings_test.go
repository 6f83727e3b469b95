// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestSettingsOfWays has what is shown of etcd's name. It is empty where nothing sets it, and "?" where it
// isn't known.
func TestSettingsOfWays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ id, script, want string }{
		{"SW-1 one way", "exec etcd --name a", "a"},
		{"SW-2 two ways that agree", "if [ $X ]; then exec etcd --name a --data-dir /d; fi\nexec etcd --name a", "a"},
		{"SW-3 two ways that differ", "if [ $X ]; then exec etcd --name b; fi\nexec etcd --name a", "?"},
		{"SW-4 a way without it", "if [ $X ]; then exec etcd; fi\nexec etcd --name a", "?"},
		{"SW-5 a member for preparation", "etcd --name b & P=$!\nkill $P\nexec etcd --name a", "a"},
		{"SW-6 a member that ends by itself", "timeout 9 etcd --name b\nexec etcd --name a", "a"},
		{"SW-7 a file that isn't read", ". /x\nexec etcd", "?"},
		{"SW-8 a file that isn't read, and the flag", ". /x\nexec etcd --name a", "a"},
		{"SW-9 a variable before a file that isn't read", "N=a\n. /x\nexec etcd --name $N", "?"},
		{"SW-10 a loop's variable", "N=b\nfor N in a c; do exec etcd --name $N; done", "?"},
		{"SW-11 a later round of a loop", "N=b\nwhile [ $X ]; do [ $Y ] && exec etcd --name $N; N=a; done\nexit", "?"},
		{"SW-12 a function that assigns", "f() { N=b; }\nN=a\nf\nexec etcd --name $N", "?"},
		{"SW-13 the call of a function, not its position", "f() { exec etcd --name $N; }\nN=a\nf", "a"},
		{"SW-14 the arguments of a function", "f() { exec etcd --name $1; }\nf a", "a"},
		{"SW-15 two calls of a function", "f() { exec etcd --name $1; }\n[ $X ] && f b\nf a", "?"},
		{"SW-16 a parameter that is perhaps gone", "set -- b a\n[ $X ] && shift\nexec etcd --name $1", "?"},
		{"SW-17 in the background", "N=a\nN=b &\nexec etcd --name $N", "a"},
		{"SW-18 perhaps assigned", "[ $X ] && N=a\nexec etcd --name $N", "?"},
		{"SW-19 read", "N=b\nread N < /x\nexec etcd --name $N", "?"},
		{"SW-20 before a special command", "N=b\nN=a :\nexec etcd --name $N", "?"},
		{"SW-21 an empty environment", "export ETCD_NAME=a\nexec env -i etcd", ""},
		{"SW-22 an empty environment with it", "export ETCD_NAME=b\nexec env -i ETCD_NAME=a etcd", "a"},
		{"SW-23 all variables are exported", "set -a\nETCD_NAME=a\nexec etcd", "a"},
		{"SW-24 more ways than are read", strings.Repeat("[ $X ] && exec etcd --name a\n", maxOthers) + "exec etcd --name a", "?"},
		{"SW-25 assigned by arithmetic", "N=1\n: $((N=2))\nexec etcd --name $N", "?"},
		{"SW-26 options with names", "set -- a\nset -eu -o pipefail\nexec etcd --name $1", "a"},
		{"SW-27 all variables are exported, by name", "set -eo allexport\nETCD_NAME=a\nexec etcd", "a"},
		{"SW-28 options before arguments", "set -e -- a\nexec etcd --name $1", "a"},
		{"SW-29 arguments behind options", "set -- b\nset -e a\nexec etcd --name $1", "?"},
		{"SW-30 a parameter that is gone", "set -- b a\nshift\nexec etcd --name $1", "a"},
		{"SW-31 several parameters that are gone", "set -- b c a\nshift 2\nexec etcd --name $1", "a"},
		{"SW-32 more parameters gone than there are", "set -- a\nshift 2\nexec etcd --name $1", "?"},
		{"SW-33 as many parameters gone as only the pod knows", "set -- a\nshift $X\nexec etcd --name $1", "?"},
		{"SW-34 a parameter before one that may be several", "set -- $X a\nshift\nexec etcd --name $1", "?"},
		{"SW-35 parameters in each round of a loop", "set -- b a\nwhile [ $X ]; do etcd --name $1; shift; done", "?"},
		{"SW-36 another branch's parameters", "set -- a\nif [ $X ]; then set -- b; else exec etcd --name $1; fi", "a"},
		{"SW-37 another case's parameters", "set -- a\ncase $X in b) shift ;; *) exec etcd --name $1 ;; esac", "a"},
		{"SW-38 etcd itself is an argument", "set -- etcd --name a\nexec \"$@\"", "a"},
		{"SW-39 etcd is an argument behind a launcher", "set -- nice -n 5 etcd\nexec \"$@\" --name a", "a"},
		{"SW-40 a way with arguments that only the pod knows", "if [ $X ]; then exec etcd $FLAGS; fi\nexec etcd", "?"},
		{"SW-41 a way with the flag and such arguments", "if [ $X ]; then exec etcd --name a $FLAGS; fi\nexec etcd --name a", "a"},
		{"SW-42 a way whose program has a backslash", "if [ $X ]; then exec \\etcd --name b; fi\nexec etcd --name a", "?"},
		{"SW-43 assigned before the command that uses it", "N=a\nN=b etcd --name $N", "a"},
	} {
		c := &corev1.Container{Command: []string{"sh", "-c", row.script}}
		s, err := settingsOf(newEnvironment(&corev1.Pod{}, c, nil), false)
		if err != nil {
			t.Errorf("%s: %v", row.id, err)
			continue
		}
		got, _, _, err := s.get("name")
		if err != nil || unresolved(got) {
			got = "?"
		}
		if got != row.want {
			t.Errorf("%s: name %q, want %q:\n%s", row.id, got, row.want, row.script)
		}
	}
}
