// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package script_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes random scripts of the grammar that start scripts have.
type generator struct {
	*rand.Rand

	conditions, functions, tools, jobs int
	// args are the arguments of the script.
	args []string
	// within is true in the body of a function, which calls none: a shell would never end one that calls itself.
	within bool
	// opaque is true where the script has what the reader can't judge, and what a shell does always in
	// the same way: it may then never run etcd.
	opaque bool
}

func (g *generator) script() string {
	var b strings.Builder
	g.args = strings.Fields(g.pick("--name first", "etcd --name first", "nice -n 1 etcd --name first", "server etcd"))
	if g.IntN(4) == 0 {
		b.WriteString(g.pick("set -e\n", "set -u\n", "set -eu\n", "set -f\n", "set +e\n", "set -o errexit\n", "set -x\n"))
	}
	if g.IntN(3) == 0 {
		b.WriteString(g.pick("BIN=etcd\n", "BIN='nice -n 1 etcd'\n", "BIN='tool etcd'\n", "BIN=''\n"))
	}
	for range g.IntN(2) {
		fmt.Fprintf(&b, "f%d() %s\n", g.functions, g.body())
		g.functions++
	}
	if g.IntN(8) == 0 {
		fmt.Fprintf(&b, "f%d() { %s; }\n", g.functions, g.pick("export ETCD_NAME=fe", "tool || export ETCD_NAME=fe", "set -a; ETCD_NAME=fe", "ETCD_NAME=fe", "typeset -x ETCD_NAME=fe"))
		g.functions++
	}
	if g.IntN(20) == 0 { // a function in place of a program
		g.opaque = true
		fmt.Fprintf(&b, "%s() {\n%s\n}\n", g.pick("etcd", "nice", "tool", "true", "test", "command", "env", "last"), g.pick(
			"server", "exec server", `"$@"`, `command etcd "$@"`, "return 1", "tool"))
	}
	b.WriteString(g.list(3))
	b.WriteString(g.pick("", "", "", "last\n", "last\n", "exit\n", "exit $?\n", "wait\n", "echo ended\n", "job & wait\n", "job || exit 1\n"))
	return b.String()
}

// body returns the body of a function.
func (g *generator) body() string {
	defer func(before bool) { g.within = before }(g.within)
	g.within = true
	if g.IntN(4) == 0 {
		return "(\n" + g.list(2) + ")"
	}
	return "{\n" + g.list(2) + "}"
}

// plain returns a script as images and charts have them, which plainly runs etcd.
func (g *generator) plain() string {
	var b strings.Builder
	b.WriteString(g.pick("", "set -e\n", "set -eu\n"))
	for range g.IntN(4) {
		b.WriteString(g.pick("mkdir -p /data\n", "NAME=a\n", "export ETCD_NAME=a\n", "log() { echo \"$@\"; }\nlog start\n",
			"trap 'kill $PID' TERM\n", "while ! etcdctl endpoint health; do sleep 1; done\n", "[ -d /data ] || exit 1\n",
			"if [ -d /data/member ]; then STATE=existing; else STATE=new; fi\n", ". /etc/etcd.env\n",
			"for i in 0 1 2; do PEERS=$PEERS,a-$i; done\n", "alias etcdctl='etcdctl --cacert=/ca'\n", "case $HOSTNAME in *-0) STATE=new ;; *) STATE=existing ;; esac\n"))
	}
	b.WriteString(g.pick("", "exec ", "exec nice -n 1 ", "exec gosu etcd ") + "etcd --name " + g.pick("a", `"$NAME"`, "$(hostname)", "${NAME:-a}") + g.pick("", " &\nwait"))
	return b.String() + "\n"
}

// list returns statements with up to this many levels below.
func (g *generator) list(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.statement(depth))
		b.WriteString("\n")
	}
	return b.String()
}

func (g *generator) statement(depth int) string {
	if depth == 0 || g.IntN(2) == 0 {
		return g.command()
	}
	switch g.IntN(13) {
	case 0:
		return fmt.Sprintf("if %s; then\n%sfi", g.condition(), g.list(depth-1))
	case 1:
		return fmt.Sprintf("if %s; then\n%selse\n%sfi", g.condition(), g.list(depth-1), g.list(depth-1))
	case 2:
		return fmt.Sprintf("case %s in\n%s) %s;;\n%s) %s;;\nesac", g.pick("a", "b", "etcd", "$NAME", `"$1"`, "${NAME:-a}"),
			g.pick("a", "(a|b", "'*'", "[ab]", "?"), g.list(depth-1), g.pick("*", "b", "etcd", `"$NAME"`), g.list(depth-1))
	case 3:
		return fmt.Sprintf("for %s in %s; do\n%sdone", g.pick("i", "NAME"), g.pick("", "1", "1 2", "$NAME", `"$@"`), g.list(depth-1))
	case 4:
		return fmt.Sprintf("while %s; do\n%sdone", g.loop(), g.list(depth-1))
	case 5:
		return fmt.Sprintf("until ! %s; do\n%sdone", g.loop(), g.list(depth-1))
	case 6:
		return fmt.Sprintf("(\n%s)%s", g.list(depth-1), g.pick("", " &", "\nexit"))
	case 7:
		return fmt.Sprintf("{\n%s}%s", g.list(depth-1), g.pick("", "", " &", " | tool", " >/dev/null"))
	case 8:
		return fmt.Sprintf("%s | {\n%s}", g.pick("tool", "echo a"), g.list(depth-1))
	case 9:
		return fmt.Sprintf("if %s; then :; elif %s; then\n%sfi", g.condition(), g.condition(), g.list(depth-1))
	case 10:
		return fmt.Sprintf("%s() %s", g.pick("f0", "g"), g.body())
	case 11:
		return fmt.Sprintf("%s {\n%s}", g.pick("!", "true &&", "false ||", "tool ||"), g.list(depth-1))
	}
	return fmt.Sprintf("%s %s %s", g.condition(), g.pick("&&", "||"), g.command())
}

//nolint:gocyclo // one case a kind of command
func (g *generator) command() string {
	switch g.IntN(30) {
	case 0, 1, 2, 3, 4:
		return g.etcd()
	case 5:
		return g.pick("exec ", "") + g.pick("$BIN", `"$BIN"`)
	case 6:
		return g.pick("exec server", "exec nice server", `exec "$0"`, "exec timeout 9 server", "exec gosu etcd server", "exec env A=etcd server")
	case 7:
		return g.pick("exit", "exit 1", "return", "return 1", "break", "continue", "exit $?", "break 2")
	case 8:
		return g.pick("BIN=etcd", "BIN=server", "BIN='tool etcd'", "BIN='nice -n 1 etcd'", "BIN=", "unset BIN", "BIN=$(echo server)", "BIN=${BIN:-etcd}")
	case 9, 10, 11:
		return g.assignment()
	case 12:
		return g.pick("echo etcd", "echo exec etcd >/dev/null", `X=$(echo etcd)`, "cat <<E\netcd\nE", "cat <<'E'\nexec etcd\nE", ": etcd", ": # etcd")
	case 13:
		if g.within {
			return "tool"
		}
		return g.pick("f0", "f0", "f0 || exit 1", "f0 --name z", "g", "NAME=q f0", "f0 a || exit 1", "f0 &", "(f0)")
	case 14:
		return g.pick("etcd & wait", "etcd --name b &\nwait $!", "etcd --name a &", "nohup etcd --name a & wait")
	case 15:
		return g.pick("etcd | cat", "tool | etcd", "! etcd", "etcd || true", "etcd && tool", "etcd --name a; tool")
	case 16:
		return g.pick("", "exec ") + g.pick("etcd --version", "etcd -h", "command -v etcd", "$BIN --version", "$BIN etcd")
	case 17:
		return g.pick("trap 'exec server' EXIT", "trap tool EXIT", "trap 'exec server' TERM", "trap - EXIT", "trap '' TERM", "trap 'etcd --name t' EXIT", "trap 'exit 1' 0")
	case 18:
		return g.pick("alias etcd=server", "alias tool='exec server'", "alias tool='tool -x'", "alias e=etcd\ne --name a", "unalias etcd", "alias nice='nice server'")
	case 19:
		return g.pick("eval etcd --name a", "eval 'exec etcd --name \"a b\"'", `eval "$BIN"`, `eval "exec $BIN --name a"`, "eval exit", "eval NAME=ev", "eval 'exec server'", `eval "NAME=$NAME"`)
	case 20:
		return g.pick(`sh -c 'etcd --name a'`, `exec sh -c 'exec etcd --name "$0" "$@"' z y`, `sh -c 'exec server'`, "sh <<E\nexec etcd\nE", "echo etcd --name a | sh", `exec sh -c "$BIN"`, "sh -c 'NAME=in'", `sh -c 'etcd --name "$NAME"'`, "exec sh -ec 'tool; exec etcd'")
	case 21:
		return g.pick("set -e", "set +e", "set -u", "set -f", "set -n", "set -x", "set -eu")
	case 22:
		return g.source()
	case 23:
		return g.ofArguments()
	case 24:
		return g.pick("job", "job &", "job || exit", "job && true", "! job", "job | cat", "tool | job", "job; wait", "exec job", "(job)", "{ job\n}", "(exec job) &", "{ job; } & wait $!", "job\nexit", "job\nexit 1",
			"job\nreturn", "job\ncontinue", "until job; do break; done", "while job; do break; done", "for i in 1; do\njob\ndone", "if job; then tool; fi", "nice -n 1 job", "sh -c 'job; true'", "time job", "job; echo a | cat",
			"echo 'job' >own; . ./own", "echo 'job' >own\n. ./own\nexit $?", "coproc job; wait", "coproc { job; }\nwait", "while job; do exit; done", "while sleep 0; do job; exit; done")
	}
	return g.pick("tool", "tool", "tool # etcd", "tool >/dev/null 2>&1", "wait", ":", "cd /", "echo $NAME", "printf a", "umask 077", "[ a = b ]", "test -n a", "exec >/dev/null", "exec 3>&1", "type etcd", "exec 2>&1")
}

// etcd returns a command that runs etcd.
func (g *generator) etcd() string {
	before := g.pick("exec ", "exec ", "", "", "exec nice -n 1 ", "env A=1 ", "command ", "exec env -i PATH=$PATH ", "exec timeout -k 1 9 ", "gosu etcd ", "exec tini -s -- ", "exec env -u NAME ",
		"nohup ", "setsid ", "ETCD_NAME=v ", "exec env ETCD_NAME=w ", "nice env ETCD_NAME=x ", "NAME=p ", `"" `)
	args := ""
	for range g.IntN(3) {
		args += " " + g.pick("--name a", `--name "$NAME"`, "--name=$NAME", "--name ${NAME:-b}", `"$@"`, "$ARGS", `"$ARGS"`, "--name 'a b'", "--name $((1+1))", "--name $(echo x)", `--name "$1"`,
			`--name a\ b`, `--name "a\"b"`, "--name=${#NAME}", "--name=${NAME%b}", "--name ${NAME##a}", "$UNSET", `"$UNSET"`, "${UNSET:-d}", "${NAME:+x}", "--name=${NAME:=z}", "$*", "$#", "${1}x",
			"--name=a\\\nb", "--name `echo y`", "${NAME-u}", "--x=\"$NAME\"'$NAME'", "''", "$?", "$0", `"$*"`, "$$NAME", "--data-dir /d", "--data-dir=$NAME", "--initial-cluster=a", "$-", "$!", `"${@}"`, "${NAME+n}", "${UNSET?}", "--name=a#b", "--n=$2$1")
	}
	return before + g.pick("etcd", "etcd", "etcd", `\etcd`, `"etcd"`, "e'tc'd", "$BIN") + args + g.pick("", "", "", " >/dev/null", " 2>&1", " </dev/null", " # --x")
}

// ofArguments returns a command of which the script's arguments decide what runs.
func (g *generator) ofArguments() string {
	g.opaque = true
	return g.pick("exec ", "", "", "exec nice -n 1 ", "shift; exec ", "shift 2; exec ", "set -- etcd \"$@\"; ", "set -- tool \"$@\"; shift; ", "(shift); ") +
		g.pick(`"$@"`, `"$@"`, "$@", "$*", `"$*"`, `"$1" "$2"`, "$1", `"${1}" --name x`, `"$2"`, `x"$@"`, `e"$@"`) + "\n" +
		g.pick("", "", `case "$1" in etcd) exec "$@" ;; -*) exec etcd "$@" ;; *) tool ;; esac`, `if [ "$1" = etcd ]; then shift; exec etcd "$@"; fi`, `[ $# -gt 2 ] && exec "$@"`,
			`case $1 in -*) set -- etcd "$@" ;; esac; exec "$@"`, "while tool; do shift; done", `for A in "$@"; do "$A"; done`)
}

// assignment returns a command that may change a variable or a parameter.
func (g *generator) assignment() string {
	g.opaque = true // some are errors in some shells
	return g.pick("NAME=a", "NAME=b", "NAME=", "NAME=$NAME-x", "NAME=$(echo y)", "NAME=${NAME:-c}", "unset NAME", "export NAME=q", "export NAME", "read NAME <<E\nr s\nE", "NAME=1 tool", "NAME=1 :",
		"NAME=2 eval :", "NAME=3 export A", "set -- --name z", "set --", "shift", "set -- \"$@\" --x", "set a b", "IFS=b", "IFS=-", "unset IFS", "export ETCD_NAME=en", "ETCD_NAME=eo", "export ETCD_NAME",
		": ${NAME:=d}", "ARGS='--name a'", `ARGS="--name $NAME"`, "ARGS=", "ARGS=\"$ARGS --x\"", "for NAME in l m; do :; done", "NAME='a  b'", `NAME="a\\b"`, `NAME=a\ b`, "NAME=$((2*3))",
		"(NAME=sub)", "NAME=pipe | tool", "tool && NAME=and", "tool || NAME=or", "readonly NAME", "unset ETCD_NAME", "getopts a NAME", "ETCD_NAME=1 ETCD_NAME=2", "X=1 NAME=$X", "NAME=$1", "NAME=\"$*\"", "NAME=$UNSET",
		"printf -v NAME v", "local NAME=loc", "NAME=bg &", "while read -r NAME; do :; done <<E\nx\nE", "NAME=$(tool)", ": $((NAME=7))", "export -n ETCD_NAME", "command export NAME=ce", "command eval NAME=cev",
		"NAME+=x", "A=$NAME NAME=w", "NAME=${NAME}y", "set +f", "case a in a) NAME=case ;; esac", "if tool; then NAME=if; fi", "{ NAME=block; }", "env NAME=e tool", "unset -v NAME", "set -a", "declare NAME=dec", "typeset NAME=ty")
}

// source returns a command that executes a file, which the reader can't read.
func (g *generator) source() string {
	g.opaque = true
	return g.pick("echo NAME=src > lib; . ./lib", "echo BIN=server > lib\n. ./lib", "[ ! -e lib ] || . ./lib", "echo 'set -- s' >lib; . ./lib", ". /dev/null", "echo 'etcd() { server; }' >lib; . ./lib")
}

// condition returns a command whose outcome the test chooses, or a constant one.
func (g *generator) condition() string {
	if g.conditions == maxConditions || g.IntN(6) == 0 {
		return g.pick("true", "false", ":", "! true", "! false", "[ a = a ]", "[ a = b ]", `[ -n "$NAME" ]`, "[ $((1+1)) = 2 ]", `test "$1" = --name`, "[ ! a = b ]", "[ -z $UNSET ]", "tool", "command true")
	}
	g.conditions++
	return g.pick("", "! ", "tool && ", "true && ", "tool; ") + fmt.Sprintf("c%d", g.conditions-1) + g.pick("", "", " || tool", " && etcd")
}

func (g *generator) loop() string {
	if g.conditions == maxConditions {
		return "false"
	}
	g.conditions++
	return fmt.Sprintf("w%d", g.conditions-1)
}

// pick returns one of some texts, in which each tool succeeds or fails by chance.
func (g *generator) pick(of ...string) string {
	text := of[g.IntN(len(of))]
	g.opaque = g.opaque || strings.ContainsAny(text, "$") || strings.HasPrefix(text, "set ")
	if g.tools < maxTools && g.IntN(3) > 0 && strings.HasPrefix(text, "tool") {
		text = fmt.Sprintf("t%d", g.tools) + strings.TrimPrefix(text, "tool")
		g.tools++
	}
	if g.jobs < maxJobs && strings.Contains(text, "job") {
		text = strings.Replace(text, "job", fmt.Sprintf("job%d", g.jobs), 1)
		g.jobs++
	}
	return text
}
