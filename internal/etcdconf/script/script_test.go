// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScriptArgs reads the arguments of etcd in a script.
func TestScriptArgs(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"HOSTNAME": "db-12", "TWO": "a b", "EMPTY": "", "URL": "http://x:1"}
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"separate arguments", "a  b\tc", []string{"a", "b", "c"}},
		{"a line goes on", "a \\\n  b\\\nc", []string{"a", "bc"}},
		{"ends at a line", "a b\nc", []string{"a", "b"}},
		{"ends at operators", "a b&&c", []string{"a", "b"}},
		{"ends at a comment", "a b # c", []string{"a", "b"}},
		{"a hash within a word", "a#b", []string{"a#b"}},
		{"quotes", `--a='x y' --b="p q" 'it'\''s'`, []string{"--a=x y", "--b=p q", "it's"}},
		{"an empty word", `--a ""`, []string{"--a", ""}},
		{"escapes", `a\ b "\"\$\\x"`, []string{"a b", `"$\x`}},
		{"a variable", "--n=$HOSTNAME ${HOSTNAME}x", []string{"--n=db-12", "db-12x"}},
		{"not within single quotes", "'$HOSTNAME'", []string{"$HOSTNAME"}},
		{"split where bare", `$TWO "$TWO" x$TWO`, []string{"a", "b", "a b", "xa", "b"}},
		{"none of an empty one", "a $EMPTY b", []string{"a", "b"}},
		{"unknown stays", `$WHAT "${WHAT}" $(cat /x y)`, []string{"$WHAT", "${WHAT}", "$(cat /x y)"}},
		{"the pod's name by command", "$(hostname) `hostname -s`", []string{"pod-0", "pod-0"}},
		{"defaults", "${EMPTY:-d} ${EMPTY-d} ${WHAT:-x:1} ${URL:-no}", []string{"d", "x:1", "http://x:1"}},
		{"ends cut off", "${HOSTNAME##*-} ${HOSTNAME%-*} ${URL#http://} ${URL%%:*}", []string{"12", "db", "x:1", "http"}},
		{"redirections", "a >/dev/null 2>&1 b", []string{"a", "b"}},
		{"arguments", `"$@" $1 $9`, []string{"one", "t wo", "one", "$9"}},
		{"an empty argument list", "", nil},
		{"an argument that is a name's value", "X=$TWO", []string{"X=a", "b"}},
		{"no braces are expanded", "{1..9} a{b,c}", []string{"{1..9}", "a{b,c}"}},
		{"no home is looked up", "~/x ~root a~b", []string{"~/x", "~root", "a~b"}},
		{"no file is matched", "/etc/*", []string{"/etc/*"}},
		{"a length and a part", "${#HOSTNAME} ${HOSTNAME:3} ${HOSTNAME: -2} ${HOSTNAME:0:2}", []string{"5", "12", "12", "db"}},
		{"a replacement", "${HOSTNAME/-/.} ${HOSTNAME//[0-9]/n}", []string{"db.12", "db-nn"}},
		{"an alternative", "${HOSTNAME:+set} ${WHAT:+set}", []string{"set"}},
		{"a default that is a variable", "${WHAT:-$HOSTNAME} ${WHAT:-$OTHER}", []string{"db-12", "$OTHER"}},
		{"an operator beyond these", "${HOSTNAME^^} ${!HOSTNAME} ${A[0]} $((1+1)) <(x)", []string{"${HOSTNAME^^}", "${!HOSTNAME}", "${A[0]}", "$((1+1))", "<(x)"}},
		{"how many arguments", "$# $0", []string{"2", "sh"}},
		{"a here document", "a <<E b\n$HOSTNAME\nE\n", []string{"a", "b"}},
		{"quotes of bash", `$'a\tb' $"c"`, []string{`$'a\tb'`, "c"}},
		{"a replacement that grows", "${HOSTNAME//b/" + strings.Repeat("x", 65) + "}", []string{"${HOSTNAME//b/" + strings.Repeat("x", 65) + "}"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			env := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
			script := parseScript("etcd --debug "+row.text, nil, Surroundings{})
			if script.Err != nil || script.program != "etcd" {
				t.Fatalf("%q is program %q, error %v", row.text, script.program, script.Err)
			}
			got := newRun(&script, env, "pod-0", []string{"sh", "one", "t wo"}).etcdArgs()
			if diff := cmp.Diff(append([]string{"--debug"}, row.want...), got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", row.text, diff)
			}
		})
	}
}

// TestScriptOfSeveral reads the arguments of the command that the script is for, where it runs several.
func TestScriptOfSeveral(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ script, want string }{
		{"etcd --version; exec etcd --name a", "--name a"},
		{"\\etcd --version; \\etcd --name a", "--name a"},
		{"command \\etcd --name a", "--name a"},
		{"N=a; N=b etcd --name $N", "--name a"},
		{"N=b etcd --name ${N:-a}", "--name a"},
		{"N=a; N=b exec etcd --name $N", "--name a"},
		{"etcd -h\netcd --name a", "--name a"},
		{"command -v etcd --x || exit 1; etcd --name a", "--name a"},
		{"etcd --name x & P=$!\netcdctl user add root; kill $P\nexec etcd --name a", "--name a"},
		{"setup() { etcd --name x & kill $!; }\nsetup\netcd --name a", "--name a"},
		{"timeout 9 etcd --force-new-cluster --name x\netcd --name a & wait", "--name a"},
		{"exec etcd --name a\netcd --name x", "--name a"},
		{"if [ -d /d ]; then exec etcd --name x; fi\nexec etcd --name a", "--name a"},
		{"exec etcd gateway start; etcd --name a", "--name a"},
		{"N='nice -n 10'; exec $N etcd --name a", "--name a"},
		{"E='nice etcd --name a'; exec $E --wal-dir w", "--name a --wal-dir w"},
	} {
		script := parseScript(row.script, nil, Surroundings{})
		if script.Err != nil || script.program != "etcd" {
			t.Errorf("%q is program %q, error %v", row.script, script.program, script.Err)
			continue
		}
		r := newRun(&script, nil, "pod-0", nil)
		if got := strings.Join(r.etcdArgs(), " "); got != row.want {
			t.Errorf("%q: %q, want %q", row.script, got, row.want)
		}
	}
}

// TestScriptEnvironment reads the environment that a script gives to etcd.
func TestScriptEnvironment(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, script string
		want         map[string]string
	}{
		{
			"assignments", "A=1; export B=2\nC=3\nexport C\nINHERITED=new\nif true; then B=5; D=4; fi\necho E=9\nF=6 G=$A etcd",
			map[string]string{"B": "${B}", "C": "3", "F": "6", "G": "1", "INHERITED": "new"},
		},
		{"a value is not split", "T='a b'; A=$T etcd", map[string]string{"A": "a b", "INHERITED": "old"}},
		{"of another command alone", "A=1 true; export B; B=1 true; etcd", map[string]string{"INHERITED": "old"}},
		{"on the way to etcd", "export A=1 B=1\nif [ -f x ]; then A=2; exec etcd; fi\nB=2", map[string]string{"A": "2", "B": "1", "INHERITED": "old"}},
		{"of the branch that etcd isn't in", "export A=1\nif x; then A=2; else etcd; fi", map[string]string{"A": "${A}", "INHERITED": "old"}},
		{"behind an operator", "export A=1 B=1; x && A=2; x || B=2; etcd", map[string]string{"A": "${A}", "B": "${B}", "INHERITED": "old"}},
		{"before an operator", "export A=1; A=2 && cd /x && etcd", map[string]string{"A": "2", "INHERITED": "old"}},
		{"before the same command", "A=1; A=2 B=$A etcd", map[string]string{"A": "2", "B": "2", "INHERITED": "old"}},
		{"before a launcher, which gets the previous value", "A=1; A=2 env B=$A etcd", map[string]string{"A": "2", "B": "1", "INHERITED": "old"}},
		{"of a subshell", "export A=1; (A=2); A=3 | true; etcd", map[string]string{"A": "1", "INHERITED": "old"}},
		{"in a subshell", "(export A=2; etcd)", map[string]string{"A": "2", "INHERITED": "old"}},
		{"in a function", "f() { export A=2; exec etcd; }\nf", map[string]string{"A": "2", "INHERITED": "old"}},
		{"in a loop and a case", "export A=1; case x in x) A=2;; y) etcd;; esac; while true; do A=3; done", map[string]string{"A": "${A}", "INHERITED": "old"}},
		{"defaults assigned", ": ${A:=1} ${INHERITED:=2}; export A; etcd", map[string]string{"A": "1", "INHERITED": "old"}},
		{"added", "export A=1; A+=2; etcd", map[string]string{"A": "12", "INHERITED": "old"}},
		{"by env", "exec env -i A=1 B=\"$INHERITED\" etcd", map[string]string{"A": "1", "B": "old"}},
		{"by env in a variable", "E='env A=1 etcd'; exec $E --name=B=2", map[string]string{"A": "1", "INHERITED": "old"}},
		{"arguments set", "set -- \"$@\" --name; export A=$# B=\"$3\"; etcd", map[string]string{"A": "3", "B": "--name", "INHERITED": "old"}},
		{"arguments perhaps set", "if x; then set -- a; fi; export A=$1; etcd", map[string]string{"A": "$1", "INHERITED": "old"}},
		{"exported by a function", "f() { export A=1; B=2; }\nf\netcd", map[string]string{"A": "${A}", "INHERITED": "old"}},
		{"exported by a function that may fail", "f() { export A=1; }\nf || exit 1\netcd", map[string]string{"A": "${A}", "INHERITED": "old"}},
		{"exported by a condition", "f() { export A=1; }\nuntil f; do :; done\netcd", map[string]string{"A": "${A}", "INHERITED": "old"}},
		{"exported on a way of a function", "f() { if x; then export A=1; fi; }\nf\netcd", map[string]string{"A": "${A}", "INHERITED": "old"}},
		{"exported by a function of a function", "g() { declare -gx A=1; }\nf() { g; }\nf\netcd", map[string]string{"A": "${A}", "INHERITED": "old"}},
		{"exported in a function by its name alone", "f() { A=1; export A; }\nf\netcd", map[string]string{"A": "${A}", "INHERITED": "old"}},
		{"exported by an option", "f() { set -a; A=1; }\nf\nB=2\netcd", map[string]string{"A": "${A}", "B": "2", "INHERITED": "old"}},
		{"read while all is exported", "set -a\nread A\n: ${B:=2}\netcd", map[string]string{"A": "${A}", "B": "2", "INHERITED": "old"}},
		{"declared", "declare -x A=1; typeset -x B=2; declare -gx C=3; declare -rx D=4; declare E=5; declare +x F=6; etcd", map[string]string{"A": "1", "B": "2", "C": "3", "D": "4", "INHERITED": "old"}},
		{"declared with options that aren't known", "declare $O A=1; command declare -x B=2; etcd", map[string]string{"A": "1", "B": "${B}", "INHERITED": "old"}},
		{"declared in a function", "f() { typeset -x A=1; command export B=2; typeset C=3; }\nf\netcd", map[string]string{"A": "${A}", "B": "${B}", "INHERITED": "old"}},
		{"an unknown part is not cut", "X=$(cat /x)-1; export A=${X%-*}; etcd", map[string]string{"A": "${X%-*}", "INHERITED": "old"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			script := parseScript(row.script, nil, Surroundings{})
			if script.Err != nil {
				t.Fatal(script.Err)
			}
			r := newRun(&script, func(n string) (string, bool) { return "old", n == "INHERITED" }, "pod-0", []string{"sh", "one", "two"})
			r.etcdArgs()
			got := map[string]string{}
			for _, n := range []string{"A", "B", "C", "D", "E", "F", "G", "INHERITED"} {
				if v, ok := r.environ(n); ok {
					got[n] = v
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("the environment (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScriptBounds holds that no script costs much, also a malicious one.
func TestScriptBounds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"long":               "etcd " + strings.Repeat("a ", maxScriptBytes),
		"nested subshells":   "etcd\n" + strings.Repeat("(", maxScriptBrackets+1),
		"nested expansions":  "etcd " + strings.Repeat("${a:-", maxScriptBrackets+1),
		"nested subscripts":  "etcd " + strings.Repeat("a[", maxScriptBrackets+1),
		"nested backticks":   "etcd " + strings.Repeat("`", maxScriptBrackets+1),
		"nested conditions":  "etcd $((" + strings.Repeat("1?", maxScriptBrackets+1),
		"nested negations":   "[[ " + strings.Repeat("! ", maxScriptBrackets+1) + " etcd",
		"long, etcd at last": strings.Repeat("a\n", maxScriptBytes) + " exec /usr/bin/etcd\n",
	} {
		s := parseScript(text, nil, Surroundings{})
		if !errors.Is(s.Err, errTooComplex) {
			t.Errorf("%s: error %v, want %v", name, s.Err, errTooComplex)
		}
		if wants := name != "nested negations"; (s.program == "etcd") != wants {
			t.Errorf("%s: program %q; a line that starts etcd is found without parsing", name, s.program)
		}
	}
	double := "A=0123456789abcdef\n" + strings.Repeat("A=$A$A\n", 64) + "export A; etcd $A" + strings.Repeat(" $A", 1000)
	s := parseScript(double, nil, Surroundings{})
	if s.Err != nil {
		t.Fatal(s.Err)
	}
	r := newRun(&s, nil, "pod-0", nil)
	size := 0
	for _, arg := range r.etcdArgs() {
		size += len(arg)
	}
	if a, _ := r.environ("A"); len(a)+size > 2*maxExpansion {
		t.Errorf("the script made %d bytes of arguments and a variable of %d, want at most %d", size, len(a), maxExpansion)
	}
}

// TestScriptError reads the part of an invalid script that a shell would run.
func TestScriptError(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text, program string
		parsed        bool
	}{
		{text: "exec etcd --name a\nif", program: "etcd", parsed: true},
		{text: "etcd a \"b c", program: "etcd"},
		{text: "etcd a ${b $(c `d", program: "etcd"},
		{text: "if\ncurl http://etcd:2379"},
	} {
		s := parseScript(row.text, nil, Surroundings{})
		if s.Err == nil || s.program != row.program || (s.etcd != nil) != row.parsed {
			t.Errorf("%q: program %q, parsed %t, error %v; want %q, %t and an error", row.text, s.program, s.etcd != nil, s.Err, row.program, row.parsed)
		}
	}
}
