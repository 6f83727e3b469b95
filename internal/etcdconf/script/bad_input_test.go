// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// doubling are functions of which each calls the one before it twice.
func doubling(n int) string {
	text := "f0() { :; }\n"
	for i := range n {
		text += fmt.Sprintf("f%d() { f%d; f%d; }\n", i+1, i, i)
	}
	return text
}

// TestBadInput reads pods that their authors made to stop the program: what is done with each is bounded, and
// none is shown to run etcd.
func TestBadInput(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a megabyte of commands":  strings.Repeat("echo etcd a\n", 1<<20/12),
		"a megabyte without end":  strings.Repeat("a", 1<<20),
		"open quotes":             "echo '" + strings.Repeat("etcd \"", 1000),
		"open brackets":           strings.Repeat("$(", 10_000),
		"NULs":                    "\x00etcd\x00; exec \x00etcd",
		"it sources itself":       ". /start.sh; source /start.sh; . \"$0\"",
		"functions without end":   "a() { b; }; b() { a; a; }; a",
		"branches without number": strings.Repeat("if x; then y; fi\n", 10_000),
		"a megabyte of branches":  strings.Repeat("if x; then etcd; else /app; fi\n", 1<<20/31),
		"a megabyte of brackets":  strings.Repeat("(etcd", 1<<20/5),
		"a megabyte of functions": strings.Repeat("f() { f; f; }\n", 1<<20/14) + "f; etcd",
		"nested branches":         strings.Repeat("if a; then ", 900) + "etcd; " + strings.Repeat("else /app; fi; ", 900),
		"functions that double":   doubling(500) + "f500\n/app",
		"ways that double":        strings.Repeat("if x; then A=1; else A=2; fi\n", 1000) + "if x; then etcd; fi\n/app $A",
		"functions before etcd":   doubling(500) + "f500\nif x; then etcd; fi\n/app",
		"etcd in many branches":   strings.Repeat("case $X in a) etcd --name $A ;; b) A=$A$A ;; esac\n", 600) + "/app",
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Command: []string{"sh", "-c", text}}}}}
		start := time.Now()
		m, hints := etcdconf.MemberOf(pod), etcdconf.HintsOf(pod)
		_, err := etcdconf.ParsePod(pod, nil)
		t.Logf("%s: %s", name, time.Since(start))
		if read := script.Start(pod.Spec.Containers[0].Command, nil, script.Surroundings{}).Script; read != nil && read.Done() > script.MaxWork*2 {
			t.Errorf("%s: %d nodes were read, want about %d at most", name, read.Done(), script.MaxWork)
		}
		if m.Evidence >= etcdconf.Shown || err == nil {
			t.Errorf("%s: evidence %d, hints %v, error %v", name, m.Evidence, hints, err)
		}
	}
}

// TestBadInputOfAMember reads scripts of members that their authors made to stop the program. What is done
// with one is counted, and bounded.
func TestBadInputOfAMember(t *testing.T) {
	t.Parallel()
	chain := ""
	for i := range 40 {
		chain += fmt.Sprintf("f%d() { f%d; f%d; }\n", i+1, i, i)
	}
	const start = "\nexec etcd --name $(POD)"
	for name, text := range map[string]string{
		"a function of many names":        "g(){ " + strings.Repeat("a;", 7000) + "}\nif false; then " + strings.Repeat("g;", 8000) + "fi" + start,
		"a function of many assignments":  "g(){ " + strings.Repeat("a=1;b=2;c$(x);", 1000) + "}\n" + strings.Repeat("g;", 8000) + start,
		"many calls that lead to etcd":    "g(){ " + start + "\n}\n" + strings.Repeat("if a; then g; fi\n", 1500) + "g",
		"calls that double":               "f0() { h() {" + start + "\n}; }\n" + chain + "f40" + start,
		"loops within loops":              strings.Repeat("while a;do ", 1300) + ":" + strings.Repeat(";done", 1300) + start,
		"a trap that sets itself":         `trap "$SELF" EXIT` + start,
		"traps of a long text":            strings.Repeat(`trap "$LONG" EXIT`+"\n", 1500) + start,
		"many functions that call others": doubling(700) + "f700" + start,
		"many ways":                       strings.Repeat("if a; then exec etcd --name b; fi\n", 7) + "g(){ " + strings.Repeat("a;", 7000) + "}\n" + strings.Repeat("g;", 6000) + start,
	} {
		variables := map[string]string{"SELF": `trap "$SELF" EXIT; trap "$SELF" EXIT`, "LONG": strings.Repeat("a b;", 8000), "POD": "a"}
		variable := func(name string) (string, bool) { value, ok := variables[name]; return value, ok }
		environment := func(name string) (string, bool, error) { value, ok := variables[name]; return value, ok, nil }
		at := time.Now()
		started := script.Start([]string{"sh", "-c", strings.ReplaceAll(text, "$(POD)", "a")}, nil, script.Surroundings{Variable: variable})
		read := started.Script
		if read == nil {
			t.Errorf("%s: no script was read", name)
			continue
		}
		if read.Unread() != nil { // its settings are not read
			continue
		}
		started.Way(environment, "")
		for range started.OtherWays(environment, "") { // each is followed once it is asked for
			continue
		}
		exceeded := read.Exceeded()
		read.SurelyRunsEtcd()
		t.Logf("%s: %s, %d nodes", name, time.Since(at), read.Done())
		if read.Done() > script.MaxWork*2 {
			t.Errorf("%s: %d nodes were read, want about %d at most", name, read.Done(), script.MaxWork)
		}
		pod := &corev1.Pod{}
		pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: "etcd"}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"sh", "-c", text}}}
		for name, value := range variables {
			pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: value})
		}
		if config, err := etcdconf.ParsePod(pod, nil); exceeded && err == nil && config.Unknown["name"] == "" {
			t.Errorf("%s: its settings are known beyond the bounds", name)
		}
	}
}
