// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrief holds that a script whose last command only prepares, prints or waits is one that runs etcd,
// and that any other last command is a program instead of it.
func TestBrief(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		":", "[ -f /x ]", "cat /x", "cd /", "chmod 1 /x", "chown 1 /x", "cp /x /y", "date", "echo no", "etcd --version", "export A", "false",
		"kill 1", "mkdir /x", "mv /x /y", "printf a", "rm /x", "set -e", ". /dev/null", "sync", "test -f /x", "touch /x", "trap '' TERM", "true", "unset A", "wait",
	} {
		if !surely("if [ $X ]; then exec etcd; fi\n" + word) {
			t.Errorf("a script that ends with %s is not shown to run etcd", word)
		}
	}
	for _, word := range []string{"/app", "postgres -D /d", "etcdctl get a", "sleep infinity", "$APP", "nice /app", "exec cat /x", ". /x", "source /x", "[ -f /x ] && . /x"} {
		if surely("if [ $X ]; then exec etcd; fi\n" + word) {
			t.Errorf("a script that ends with %s is shown to run etcd", word)
		}
	}
}

func surely(text string) bool {
	s := parseScript(text, nil, Surroundings{})
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

// TestScriptsInScriptsAreBounded holds that what scripts in a script cost is bounded.
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
}
