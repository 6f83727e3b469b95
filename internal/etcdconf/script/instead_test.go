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
		// Tools that are asked before a failing exit, or between the rounds of a loop that comes to etcd.
		{"PI-71 a name is asked for", "[ $X ] || { nslookup h; exit 1; }; exec etcd", true},
		{"PI-72 what the system has", "if [ $X ]; then df; mount; ip addr; printenv; getent hosts h; dig h; exit 1; fi; exec etcd", true},
		{"PI-73 files and certificates", "if [ $X ]; then openssl x509 -in /c; jq . /x; tar xf /t; exit 1; fi; exec etcd", true},
		{"PI-74 a function that fails", "die() { echo \"$1\"; kubectl annotate pod p a=b; exit 1; }\n[ $X ] || die no\nexec etcd", true},
		{"PI-75 another language", "[ $X ] || { python3 -c 'import socket; print(socket.gethostname())'; exit 1; }; exec etcd", true},
		{"PI-76 another language that serves", "[ $X ] || { python3 -c 'import http.server as h; h.test()'; exit 1; }; exec etcd", false},
		{"PI-77 another language from a file", "[ $X ] || { python3 /app.py; exit 1; }; exec etcd", false},
		{"PI-78 a tool that serves", "[ $X ] || { kubectl proxy; exit 1; }; exec etcd", false},
		{"PI-79 a tool that serves by another name", "[ $X ] || { openssl s_server; exit 1; }; exec etcd", false},
		{"PI-80 a tool of the image's own", "[ $X ] || { /opt/app/tar; exit 1; }; exec etcd", false},
		{"PI-138 a tool of the system, by its path", "[ $X ] || { /usr/bin/tar xf /t; exit 1; }; exec etcd", true},
		{"PI-139 a tool of the folder", "[ $X ] || { ./tar; exit 1; }; exec etcd", false},
		{"PI-81 a function of a file that isn't read", ". /opt/bitnami/scripts/liblog.sh; [ -n \"$X\" ] || { error \"no X\"; exit 1; }; exec etcd", true},
		{"PI-82 a function for messages", ". /scripts/common.sh\nif [ $X ]; then log_error no; print_validation_error no; exit 1; fi\nexec etcd", true},
		{"PI-83 another function of a file that isn't read", ". /scripts/common.sh\nif [ $X ]; then wait_for_dns; exit 1; fi\nexec etcd", true},
		{"PI-84 a program where nothing is sourced", "if [ $X ]; then wait_for_dns; exit 1; fi\nexec etcd", false},
		{"PI-85 a server where a file is sourced", ". /env\nif [ $X ]; then mysqld; exit 1; fi\nexec etcd", false},
		{"PI-86 a server with a name of several parts", ". /env\nif [ $X ]; then node_exporter; exit 1; fi\nexec etcd", false},
		{"PI-87 a name that isn't known", "if [ $X ]; then $CMD; exit 1; fi\nexec etcd", false},
		{"PI-88 the same before an exit that doesn't fail", "if [ $X ]; then nslookup h; exit $?; fi\nexec etcd", false},
		{"PI-89 rounds up to etcd", "for i in $(seq 60); do if nslookup $H; then exec etcd; fi; ping -c1 $H; sleep 1; done; exit 1", true},
		{"PI-90 rounds with a message", "while true; do nslookup $H && exec etcd; log_waiting; sleep 1; done", true},
		{"PI-91 rounds with a ping that doesn't end", "while true; do [ $X ] && exec etcd; ping $H; sleep 1; done", false},
		{"PI-92 rounds with a server", "while true; do [ $X ] && exec etcd; /app; sleep 1; done", false},

		// The condition of a loop runs etcd.
		{"PI-93 a body between runs of etcd", "while ! timeout 3600 etcd --name a; do /notify; done", true},
		{"PI-94 a function that runs etcd as condition", "g() { [ $X ] || { etcd; return 1; }; }; until g; do ping -c1 h; done", true},
		{"PI-95 a body that may be the only program", "while [ $X ] || ! timeout 9 etcd; do /app; done", false},
		{"PI-96 a body that ends", "while ! timeout 9 etcd; do /app; exit; done", false},
		{"PI-97 a body that breaks", "while ! timeout 9 etcd; do /app; break; done", false},
		{"PI-98 a condition of both", "while if [ $X ]; then timeout 9 etcd; else /app; fi; do sleep 1; done", false},

		// Ways that never run etcd, without a program that is plain.
		{"PI-99 a file that isn't read", "case $ROLE in etcd) exec etcd;; *) . /opt/app/run.sh;; esac", false},
		{"PI-100 a file that isn't read, before exit", "case $ROLE in etcd) exec etcd;; *) source /opt/app/run.sh; exit $?;; esac", false},
		{"PI-101 a file that isn't read, before a failing exit", "case $ROLE in etcd) exec etcd;; *) . /opt/app/run.sh; exit 1;; esac", false},
		{"PI-102 a file that isn't read, before etcd", "case $ROLE in a) . /a.sh;; *) . /b.sh;; esac; exec etcd", true},
		{"PI-103 a loop that idles", "case $ROLE in etcd) exec etcd;; *) while :; do sleep 3600; done;; esac", false},
		{"PI-104 loops of other kinds that idle", "case $ROLE in etcd) exec etcd;; a) until false; do date; done;; *) for ((;;)); do sleep 60; done;; esac", false},
		{"PI-105 a loop that sleeps in its condition", "case $ROLE in etcd) exec etcd;; *) while sleep 60; do :; done;; esac", false},
		{"PI-106 a loop that idles, in a function", "idle() { while true; do sleep 1; done; }\ncase $ROLE in etcd) exec etcd;; *) idle;; esac", false},
		{"PI-107 a loop that idles beside etcd", "etcd & P=$!\nstop() { kill $P; }\ntrap stop TERM\nwhile true; do sleep 60; done", true},
		{"PI-108 a loop in the background that idles", "while true; do sleep 60; done &\nexec etcd", true},
		{"PI-109 a pause for a user", "if [ $DEBUG ]; then while true; do sleep 60; done; fi\nexec etcd", true},
		{"PI-110 a sleep as good as for ever", "case $ROLE in etcd) exec etcd;; *) sleep 1000000; exit;; esac", false},
		{"PI-111 a sleep of days", "case $ROLE in etcd) exec etcd;; *) sleep 365d; exit;; esac", false},
		{"PI-112 a sleep of seconds", "case $ROLE in etcd) exec etcd;; *) echo no; sleep 30s; exit;; esac", true},
		{"PI-113 a coprocess", "case $ROLE in etcd) exec etcd;; *) coproc /app; wait;; esac", false},
		{"PI-114 a coprocess beside etcd", "coproc /helper\nexec etcd", true},
		{"PI-115 a coprocess that is a group", "case $ROLE in etcd) exec etcd;; *) coproc { /app; }; wait;; esac", false},

		// An etcd that the script ends excuses nothing that follows, and is no member.
		{"PI-116 a program behind an etcd that ended", "etcd & P=$!; etcdctl put a b; kill $P; wait $P; mysqld; exit $?", false},
		{"PI-117 the same by functions", "start_bg() { etcd & P=$!; }\nstop() { kill $P; wait $P; }\nstart_bg; etcdctl user add root; stop; mysqld; echo ended", false},
		{"PI-118 the same in a branch", "if [ $X ]; then etcd & P=$!; kill $P; mysqld; exit $?; fi\nexec etcd", false},
		{"PI-140 one that ends by its port", "etcd & migrate; fuser -k 2379/tcp; exec app", false},
		{"PI-141 one that ends by its program", "etcd & migrate; start-stop-daemon --stop --exec /usr/bin/etcd; exec app", false},
		{"PI-142 one that ends by its name", "etcd & migrate; skill etcd; exec app", false},
		{"PI-143 one that ends with all processes", "etcd & migrate; killall5; exec app", false},
		{"PI-144 one that ends by its file", "etcd & migrate; pkill -F /pid; exec app", false},
		{"PI-145 one that ends as a job", "etcd & migrate; jobs -p | xargs kill; exec app", false},
		{"PI-146 one that a function ends", "run() { \"$@\"; }\netcd & P=$!; migrate; run kill $P; exec app", false},
		{"PI-147 one that is looked for", "etcd & fuser 2379/tcp; wait", true},
		{"PI-148 a script within a time", "timeout 30 sh -c 'etcd --name a'; exec app", false},
		{"PI-149 a script within a time that replaces its shell", "timeout 30 sh -c 'exec etcd --name a'; exec app", false},
		{"PI-150 a script in the place of the shell", "exec timeout 30 sh -c 'exec etcd --name a'", true},
		{"PI-151 a script within a time that tries it", "timeout 30 sh -c 'etcd --force-new-cluster'; exec etcd", true},
		{"PI-119 no member", "etcd & P=$!; etcdctl get a >/b; kill $P; exit 0", false},
		{"PI-120 no member, without exit", "etcd & P=$!; etcdctl get a >/b; kill $P; wait", false},
		{"PI-121 no member, by its name", "etcd & sleep 5; etcdctl get a >/b; pkill etcd; exit 0", false},
		{"PI-122 no member, by a pipe", "etcd & sleep 5; pidof etcd | xargs kill; exit 0", false},
		{"PI-123 no member, in a condition", "etcd & P=$!; if kill $P; then exit 0; fi; exit 1", false},
		{"PI-124 no member, in an operand", "etcd & P=$!; kill $P && exit 0; exit 1", false},
		{"PI-125 no member, of a group", "{ etcd; } & P=$!; etcdctl get a >/b; kill $P; exit 0", false},
		{"PI-126 no member, of a function in the background", "run() { exec etcd; }\nrun & P=$!; etcdctl get a >/b; kill $P; exit 0", false},
		{"PI-127 one that may have ended excuses nothing", "etcd & P=$!; [ $X ] && kill $P; mysqld; exit $?", false},
		{"PI-128 etcd behind the one that ended", "etcd & P=$!; etcdctl user add root; kill $P; wait $P; exec etcd", true},
		{"PI-129 the same by functions", "start_bg() { etcd & P=$!; }\nstop() { kill $P; wait $P; }\nstart_bg; etcdctl user add root; stop; exec etcd", true},
		{"PI-130 the same in the background", "etcd & P=$!; etcdctl user add root; kill $P; etcd & wait", true},
		{"PI-131 a signal to another process", "stop() { kill $P; }\ntrap stop TERM\netcd & P=$!\n/helper & H=$!\nsleep 5; kill $H\nwait $P; exit $?", true},
		{"PI-132 a process that ends etcd later", "etcd & P=$!\n(while /healthy; do sleep 1; done; kill $P) &\nwait $P", true},
		{"PI-133 an exit behind etcd", "stop() { kill $P; }\ntrap stop TERM\netcd & P=$!\nwait $P; exit $?", true},
		{"PI-134 a way that ends it", "etcd & P=$!\nif ! etcdctl endpoint health; then kill $P; exit 1; fi\nwait $P; exit $?", true},
		{"PI-135 a group that is piped", "stop() { kill $P; }\n{ etcd & P=$!; wait $P; } | tee /log", true},
		{"PI-136 a question for a process", "etcd & P=$!\nwhile kill -0 $P; do sleep 5; done; exit 1", true},
		{"PI-137 an idle process beside etcd", "stop() { kill $P; }\netcd & P=$!\ntail -f /log", true},
	} {
		if got := surely(row.script); got != row.want {
			t.Errorf("%s: shown %t, want %t:\n%s", row.id, got, row.want, row.script)
		}
	}
}
