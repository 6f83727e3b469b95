// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestBrief holds that a script whose last command only prepares, prints or waits is one that runs etcd,
// and that any other last command is a program instead of it.
func TestBrief(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		":", ". /x", "[ -f /x ]", "cat /x", "cd /", "chmod 1 /x", "chown 1 /x", "cp /x /y", "date", "echo no", "etcd --version", "export A", "false",
		"kill 1", "mkdir /x", "mv /x /y", "printf a", "rm /x", "set -e", "source /x", "sync", "test -f /x", "touch /x", "trap '' TERM", "true", "unset A", "wait",
	} {
		if !surely("if [ $X ]; then exec etcd; fi\n" + word) {
			t.Errorf("a script that ends with %s is not shown to run etcd", word)
		}
	}
	for _, word := range []string{"/app", "postgres -D /d", "etcdctl get a", "sleep infinity", "$APP", "nice /app", "exec cat /x"} {
		if surely("if [ $X ]; then exec etcd; fi\n" + word) {
			t.Errorf("a script that ends with %s is shown to run etcd", word)
		}
	}
}

func surely(text string) bool {
	s := parseScript(text, Surroundings{})
	return s.SurelyRunsEtcd()
}

// TestOwnMeanings has scripts that give a program's name, or their end, another meaning.
func TestOwnMeanings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		id, script string
		want       bool
	}{
		{"OM-1 a function called etcd", "etcd() { exec /app; }\netcd --name a", false},
		{"OM-2 a function called etcd, and the program", "etcd() { command etcd --name a; }\netcd", true},
		{"OM-3 a function called etcd, and exec", "etcd() { echo no; }\nexec etcd --name a", true},
		{"OM-4 a function called nice", "nice() { exec /app; }\nnice etcd", false},
		{"OM-5 a function called true", "true() { false; }\nif true; then exec etcd; fi\nexec /app", false},
		{"OM-6 a function that two ways define", "f() { exec etcd; }\nif [ $X ]; then f() { exec /app; }; fi\nf", false},
		{"OM-7 a function that one way defines", "if [ $X ]; then f() { exec etcd; }; fi\nf\nexec /app", false},
		{"OM-8 a function that is defined later", "f\nexec /app\nf() { exec etcd; }", false},
		{"OM-9 a launcher of a function's name", "app() { exec etcd; }\nnice app", false},
		{"OM-10 an alias of etcd", "alias etcd=/app\netcd --name a", false},
		{"OM-11 an alias of another command", "alias run='exec /app'\nrun\nexec etcd", false},
		{"OM-12 an alias that adds arguments", "alias etcdctl='etcdctl --cacert=/ca'\nexec etcd", true},
		{"OM-13 an alias of a launcher", "alias nice='nice /app'\nnice etcd", false},
		{"OM-14 an alias that isn't known", "alias $A\nexec etcd", false},
		{"OM-15 a trap that runs a program", "trap 'exec /app' EXIT\n[ $X ] && exit\nexec etcd", false},
		{"OM-16 a trap that ends etcd", "trap 'kill $P' TERM\netcd & P=$!\nwait", true},
		{"OM-17 a trap with a mistake", "trap 'exec \"' EXIT\nexec etcd", false},
		{"OM-18 nothing is executed", "set -n\nexec etcd", false},
		{"OM-19 nothing is executed, by name", "set -o noexec\nexec etcd", false},
		{"OM-20 other options", "set -euo pipefail\nset -- -n\nexec etcd", true},
		{"OM-21 the end of a part of a pipe", "[ $X ] && exec etcd\ntrue | { exit; }\nexec /app", false},
		{"OM-22 the end of what is in the background", "[ $X ] && exec etcd\n{ exit; } &\nexec /app", false},
		{"OM-23 the rest of a loop that is left", "for i in 1; do break; etcd; done", false},
		{"OM-24 a loop that one way leaves", "for i in 1; do [ $X ] && break; done\nexec etcd", true},
		{"OM-25 return where nothing is sourced", "if [ $X ]; then return; fi\nexec etcd", false},
		{"OM-26 more calls than are followed", "f() { [ $X ] && exit; }\n" + strings.Repeat("f\n", maxCalls+1) + "exec etcd", false},
		{"OM-27 as many calls as are followed", "f() { [ $X ] && exit; }\n" + strings.Repeat("f\n", maxCalls) + "exec etcd", true},
		{"OM-28 a function that calls itself", "f() { [ $X ] || f; }\nf\nexec etcd", true},
		{"OM-30 a signal to the shell", "kill $$\nexec etcd", false},
		{"OM-31 a signal to its group", "kill -TERM 0\nexec etcd", false},
		{"OM-32 a signal by a function", "f() { kill -9 $$; }\nf\nexec etcd", false},
		{"OM-33 a signal to another process", "kill $P\nexec etcd", true},
		{"OM-34 a trap with a signal to the shell", "trap 'kill -- -$$' TERM\nexec etcd", true},
		{"OM-35 a builtin that is disabled", "enable -n exec\nexec etcd", false},
		{"OM-36 a name with braces", "{exit,}\nexec etcd", false},
		{"OM-37 a name that is printed", "`echo exit`\nexec etcd", false},
		{"OM-38 a shell that stops", "suspend\nexec etcd", false},
		{"OM-29 a constant that a file may change", "B=etcd\n. /x\nexec $B", false},
	} {
		if got := surely(row.script); got != row.want {
			t.Errorf("%s: shown %t, want %t:\n%s", row.id, got, row.want, row.script)
		}
	}
}

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
		{"SW-16 a parameter that is gone", "set -- b a\nshift\nexec etcd --name $1", "?"},
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

// TestScriptsInScriptsAreBounded holds that what scripts in a script cost is bounded, and that what is
// left out is not taken for one that changes no members.
func TestScriptsInScriptsAreBounded(t *testing.T) {
	t.Parallel()
	constant := strings.Repeat("echo a b\n", 400) // less than maxSplit
	many := "A='" + constant + "'\n" + strings.Repeat("eval \"$A\"\n", 100)
	p := splicer{left: MaxBytes}
	p.splice(many, nil)
	if p.left < -len(constant)*101 || p.left < -MaxBytes {
		t.Errorf("%d bytes of scripts in scripts were read, want about %d", MaxBytes-p.left, MaxBytes)
	}
	doubled := "A0='echo a'\n"
	for i := range 30 {
		doubled += fmt.Sprintf("A%d='eval \"$A%d\"; eval \"$A%d\"'\n", i+1, i, i)
	}
	p = splicer{left: MaxBytes}
	p.splice(doubled+"eval \"$A30\"", nil)
	if p.left < 0 {
		t.Errorf("scripts that double were read beyond the bound, by %d bytes", -p.left)
	}
	inspected := changesOf(many + "eval etcdctl member remove a")
	if len(inspected) == 0 {
		t.Errorf("a script beyond the bounds: %v, want that it isn't read, or a removal", inspected)
	}
	if found := changesOf(`eval etcdctl member remove a`); len(found) != 1 || found[0].Verb != "remove" {
		t.Errorf("the arguments of eval: %v, want a removal", found)
	}
	trapped := "A='" + constant + "'\n" + strings.Repeat("trap \"$A\" EXIT\n", 100) + "trap 'etcdctl member remove a' EXIT"
	if found := changesOf(trapped); len(found) != 1 || found[0].Unread == "" {
		t.Errorf("traps beyond the bounds: %v, want that they are not read", found)
	}
}
