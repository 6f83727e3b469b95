// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import "testing"

// TestProgramsInstead has scripts with a program on a way that never comes to etcd, and scripts with a
// program that only prepares or accompanies etcd. X is only known in the pod.
func TestProgramsInstead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		id, script string
		want       bool
	}{
		// A program of a process that isn't the script's own.
		{"PI-1 before a pipe", "if [ $X ]; then exec etcd; else exec /app; fi 2>&1 | tee -a /log", false},
		{"PI-2 a call before a pipe", "[ $X ] && exec etcd\n/app | cat", false},
		{"PI-3 in the background", "if [ $X ]; then etcd & else /app & fi\nwait", false},
		{"PI-4 a group in the background", "{ if [ $X ]; then etcd; else exec /app; fi; } & wait $!", false},
		{"PI-5 a subshell in the background", "(if [ $X ]; then etcd; else /app; fi) &\nwait", false},
		{"PI-6 a function in the background", "run() { if [ $X ]; then etcd; else exec /app; fi; }\nrun & wait", false},
		{"PI-7 a subshell, and a message", "(if [ $X ]; then exec etcd; else exec /app; fi)\necho ended", false},
		{"PI-8 the last command, in the background", "[ $X ] && exec etcd\n/app &", false},

		// Commands that aren't what the container is for follow it.
		{"PI-9 exit", "case $X in etcd) etcd ;; *) /app serve ;; esac\nexit $?", false},
		{"PI-10 a message", "case $X in etcd) etcd ;; *) /app serve ;; esac; echo ended", false},
		{"PI-11 exit in its branch", "if [ $X ]; then /app; exit 0; fi\nexec etcd", false},
		{"PI-12 a failing exit in its branch", "if [ $X ]; then /app; echo it ended >&2; exit 1; fi\nexec etcd", false},
		{"PI-13 return in its branch", "run() { if [ $X ]; then /app; return; fi; etcd; }\nrun", false},
		{"PI-14 both branches end", "if [ $X ]; then /app; if [ $? = 0 ]; then exit 0; else exit 1; fi; fi\nexec etcd", false},
		{"PI-15 a function that ends the script", "end() { echo ended; exit 1; }\nif [ $X ]; then /app; end; fi\nexec etcd", false},
		{"PI-16 tools", "if [ $X ]; then etcd; else /app; fi\nrm -f /pid; sleep 1; grep -c a /log; exit", false},
		{"PI-17 an idle process in the background", "[ $X ] && exec etcd\nsleep infinity & wait", false},
		{"PI-18 a tool that serves", "case $X in etcd) etcd ;; *) etcdctl snapshot save /b ;; esac; exit $?", false},

		// The program is a condition or an operand.
		{"PI-19 or exit", "[ $X ] && exec etcd\n/app || exit 1", false},
		{"PI-20 and a message", "[ $X ] && exec etcd\n/app && echo ended", false},
		{"PI-21 a condition", "[ $X ] && exec etcd\nif /app; then echo ended; fi", false},
		{"PI-22 a negation", "[ $X ] && exec etcd\n! /app", false},
		{"PI-23 or exit in a branch", "if [ $X ]; then /app && exit 0; exit 1; fi\nexec etcd", false},

		// A loop restarts it.
		{"PI-24 a loop without an end", "[ $X ] && exec etcd\nwhile true; do /app; sleep 1; done", false},
		{"PI-25 the condition of a loop", "[ $X ] && exec etcd\nuntil /app; do sleep 1; done", false},
		{"PI-26 a loop of both", "while true; do if [ $X ]; then etcd; else /app; fi; sleep 1; done", false},
		{"PI-27 a loop that etcd stands behind", "if [ $X ]; then while true; do /app; sleep 1; done; fi\nexec etcd", false},
		{"PI-28 a loop over a list", "[ $X ] && exec etcd\nfor i in 1 2; do /app $i; done", false},
		{"PI-29 a loop of C", "[ $X ] && exec etcd\nfor ((;;)); do /app; done", false},
		{"PI-30 the rest of a round", "while true; do if [ $X ]; then etcd; else /app; continue; fi; done", false},

		// etcd stands behind the program, or runs beside it.
		{"PI-31 a preparation", "/migrate\nexec etcd", true},
		{"PI-32 a preparation in the background", "prepare & wait\nexec etcd", true},
		{"PI-33 a preparation in a subshell", "(cd /x; exec prepare)\nexec etcd", true},
		{"PI-34 a preparation before a pipe", "prepare | tee /log\nexec etcd", true},
		{"PI-35 a preparation that may fail", "prepare || exit 1\nexec etcd", true},
		{"PI-36 a check that ends the script", "if ! /check; then echo bad >&2; exit 1; fi\nexec etcd", true},
		{"PI-37 a tool before a failing exit", "if [ $X ]; then etcdctl member list; sleep 5; exit 1; fi\nexec etcd", true},
		{"PI-38 a preparation that is repeated", "until /ready; do /ask; sleep 1; done\nexec etcd", true},
		{"PI-39 a loop that a command leaves", "while true; do /ask && break; sleep 1; done\nexec etcd", true},
		{"PI-40 a preparation of each round", "while true; do /prepare; etcd; sleep 1; done", true},
		{"PI-41 a preparation in a function", "prepare() { /migrate || exit 1; return 0; }\nprepare\nexec etcd", true},
		{"PI-42 a preparation before a function of etcd", "run() { exec etcd; }\n/migrate\nrun", true},
		{"PI-43 users, while etcd runs", "stop() { kill $P; }\ntrap stop TERM\netcd & P=$!\netcdctl user add root\nwait $P", true},
		{"PI-44 users on one way, while etcd runs", "stop() { kill $P; }\netcd & P=$!\nif [ $X ]; then /add-users; fi\nwait $P", true},
		{"PI-45 a group of etcd and users", "stop() { kill $P; }\n{ etcd & P=$!; /add-users; }\nwait $P", true},
		{"PI-46 a backup beside etcd", "stop() { kill $P; }\netcd & P=$!\nwhile true; do sleep 60; etcdctl snapshot save /b; done &\nwait $P", true},
		{"PI-47 a preparation of one that is killed", "stop() { kill $P; }\nif [ $X ]; then /prepare; etcd & P=$!; else etcd & P=$!; fi\nwait $P", true},
		{"PI-48 messages and tools on the way that ends", "if [ $X ]; then ls -l /d; id; sleep 5; echo no; exit 0; fi\nexec etcd", true},
		{"PI-49 builtins on the way that ends", "while [ $# -gt 0 ]; do shift; done\nif [ $X ]; then umask 077; type a; shift; exit; fi\nexec etcd", true},
		{"PI-50 a loop in the background beside etcd", "while true; do sleep 60; /backup; done &\nexec etcd", true},
		{"PI-51 what etcd prints", "if [ $X ]; then exec etcd --name a; else exec etcd; fi 2>&1 | /log-shipper", true},
		{"PI-52 an input of etcd", "/secrets | etcd", true},
		{"PI-53 a member that joins", "collect() { while ! etcdctl member list; do sleep 1; done; etcdctl member list | grep a > /id; exit 0; }\n" +
			"if [ -e /d ]; then etcdctl member update $X http://a; exec etcd; fi\ncollect &\nexec etcd", true},
		{"PI-54 a check that returns or ends", "check() { /probe; [ $? = 0 ] && return 0; exit 1; }\ncheck\nexec etcd", true},
		{"PI-55 a check in a loop that is left or ends", "while true; do /probe; [ $? = 0 ] && break; exit 1; done\nexec etcd", true},
		{"PI-56 a group with return", "run() { [ $X ] || { /app; return 0; }; etcd; }\nrun", false},
		{"PI-57 all branches of a case end", "if [ $X ]; then /app; case $? in 0) exit 0 ;; *) exit 1 ;; esac; fi\nexec etcd", false},
		{"PI-58 a function that may return before it ends the script", "end() { [ $X ] && return; exit; }\n/prepare; end\nexec etcd", true},
		{"PI-59 a tool for long behind exec", "exec sh -c 'if [ $X ]; then sleep 3600; else exec etcd; fi'", false},
		{"PI-60 a loop beside etcd", "stop() { kill $P; }\netcd & P=$!\nwhile kill -0 $P; do /health; sleep 5; done", true},
		{"PI-61 a loop without an end beside etcd", "stop() { kill $P; }\netcd & P=$!\nwhile true; do etcdctl endpoint health; sleep 60; done", true},
		{"PI-62 a process beside etcd", "stop() { kill $P; }\netcd & P=$!\n(exec /helper) &\nwait $P", true},
		{"PI-63 a loop that polls and executes etcd", "while true; do /ask; if /ready; then exec etcd; fi; curl http://x; sleep 1; done", true},
		{"PI-64 the same, with a message", "while true; do /ask; if /ready; then exec etcd; fi; echo waits; sleep 1; done", true},
		{"PI-65 the last command beside etcd", "stop() { kill $P; }\netcd & P=$!\n/app", false},
		{"PI-66 break where there is no loop", "[ $X ] && exec etcd\nbreak\n/app", false},
		{"PI-67 continue where there is no loop, before exit", "if [ $X ]; then /app; continue; exit; fi\nexec etcd", false},
		{"PI-68 break in a function that a loop calls", "f() { break; }\nwhile true; do f; done\nexec etcd", false},
		{"PI-69 etcd with a backslash instead of a program", "if [ $X ]; then exec etcd; fi\n\\etcd --name a", true},
		{"PI-70 etcd with a backslash alone", "exec \\etcd --name a", true},
	} {
		if got := surely(row.script); got != row.want {
			t.Errorf("%s: shown %t, want %t:\n%s", row.id, got, row.want, row.script)
		}
	}
}
