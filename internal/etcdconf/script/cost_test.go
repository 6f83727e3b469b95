// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"strings"
	"testing"
)

// costly returns scripts of about 27 KB in which many commands ask for the same part, by their names. The parts are long, or
// nested, or have a chain behind them.
func costly() map[string]string {
	long := "echo" + strings.Repeat(" a", 9000)
	const end = "\nexec etcd --name a\n"
	nested := ""
	for i := range 300 {
		nested += fmt.Sprintf("f%d() { if [ $X ]; then f%d; else f%d; fi; }\n", i+1, i, i)
	}
	return map[string]string{
		"calls of a long function":                    "f() { if [ $X ]; then " + long + "; fi; }\n" + strings.Repeat("f; ", 3000) + end,
		"calls of a long last command":                "f() { if [ $X ]; then :; else " + long + "; exit; fi; }\n" + strings.Repeat("f; ", 3000) + end,
		"calls of a long last command with variables": "f() { if [ $X ]; then :; else echo" + strings.Repeat(" $A", 6000) + "; exit; fi; }\n" + strings.Repeat("f; ", 3000) + end,
		"calls of a long word":                        "f() { if [ $X ]; then echo " + strings.Repeat("a", 18000) + "; fi; }\n" + strings.Repeat("f; ", 3000) + end,
		"calls of functions that nest":                "f0() { :; }\n" + nested + strings.Repeat("f300; ", 1500) + end,
		"a chain of elif":                             "if a; then exit 1\n" + strings.Repeat("elif b; then exit 1\n", 1300) + "fi" + end,
		"a chain of elif that nests":                  strings.Repeat("if a; then b; elif c; then\n", 600) + "exit\n" + strings.Repeat("else exit; fi\n", 600) + end,
		"ifs that nest":                               strings.Repeat("if a; then\n", 1000) + "exit 1\n" + strings.Repeat("fi\n", 1000) + end,
		"cases that nest":                             strings.Repeat("case a in b) c;; *)\n", 800) + "exit 1\n" + strings.Repeat(";; esac\n", 800) + end,
		"a case of many":                              "case $X in\n" + strings.Repeat("a) exit 1;;\n", 2200) + "*) exit;; esac" + end,
		"a chain of &&":                               "a" + strings.Repeat(" && b", 5000) + end,
		"a chain of ||":                               "a" + strings.Repeat(" || f", 5000) + end + "f() { if [ $X ]; then " + long[:6000] + "; fi; }",
		"a chain of pipes":                            "a" + strings.Repeat(" | b", 6000) + end,
		"groups that nest":                            strings.Repeat("{ a\n", 900) + "exit 1\n" + strings.Repeat("}\n", 900) + end,
		"subshells that nest":                         strings.Repeat("( a\n", 900) + "exit 1\n" + strings.Repeat(")\n", 900) + end,
		"subshells before exit":                       strings.Repeat("(a)\nexit 1\n", 900) + end,
		"loops that nest":                             strings.Repeat("while a; do\n", 900) + long[:9000] + strings.Repeat("\ndone", 900) + end,
		"loops that nest with etcd":                   strings.Repeat("while a; do\n", 900) + "etcd" + strings.Repeat("\ndone", 900) + end,
		"loops in a function":                         "f() { " + strings.Repeat("for i in 1; do\n", 500) + long[:9000] + strings.Repeat("\ndone", 500) + "; }\n" + strings.Repeat("f; ", 1500) + end,
		"processes beside etcd":                       strings.Repeat("{ a; } & etcd & wait\n", 900) + end,
		"many etcds and many processes":               strings.Repeat("etcd &\n", 1500) + strings.Repeat("(a)& ", 900) + "wait" + end,
		"kills":                                       strings.Repeat("etcd & P=$!; kill $P\n", 900) + end,
		"kills of other processes":                    strings.Repeat("a & P=$!; kill $P\n", 900) + "etcd & wait\n" + end,
		"traps":                                       "f() { " + long[:9000] + "; }\n" + strings.Repeat("trap f EXIT\n", 1400) + end,
	}
}

// judged reads a script as the webhook does, and judges it.
func judged(text string) (s Script, surely bool) {
	s = parseScript(text, nil, Surroundings{})
	return s, s.SurelyRunsEtcd()
}

// TestCostOfWays holds that what is done to judge a script is bounded by its length and not by the number of the commands
// that ask for a part, and that the counter of it counts what it costs.
func TestCostOfWays(t *testing.T) {
	t.Parallel()
	beyond := map[string]bool{ // their own length is what is bounded, a hundred times
		"loops that nest": true, "loops that nest with etcd": true, "traps": true, "calls of a long last command": true,
		"calls of a long last command with variables": true,
	}
	for name, text := range costly() {
		s, surely := judged(text)
		t.Logf("%s: %d bytes, work %d, %d bytes expanded, shown %t", name, len(text), s.work.done, s.work.expanded, surely)
		most := 4 * len(text)
		if beyond[name] {
			most = maxWork * 2
		}
		if s.Err != nil || s.work.done > most {
			t.Errorf("%s: work %d, want %d at most, and error %v", name, s.work.done, most, s.Err)
		}
		if most := 20 * len(text); !beyond[name] && s.work.expanded > most || s.work.expanded > bytesPerWork*maxWork {
			t.Errorf("%s: %d bytes of commands were expanded, want %d at most", name, s.work.expanded, most)
		}
	}
}

// BenchmarkCostOfWays measures the same scripts.
func BenchmarkCostOfWays(b *testing.B) {
	for name, text := range costly() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				judged(text)
			}
		})
	}
}
