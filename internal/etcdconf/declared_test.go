// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// TestMemberOf declares pods in every way, right and wrong.
func TestMemberOf(t *testing.T) {
	t.Parallel()
	type list = []corev1.Container
	run := func(name string, argv ...string) corev1.Container { return corev1.Container{Name: name, Command: argv} }
	hidden, etcd, other := run("db", "/launch"), run("etcd", "etcd"), run("second", "etcd", "--name=b")
	variables := corev1.Container{Name: "vars", Env: []corev1.EnvVar{{Name: "ETCD_NAME"}, {Name: "ETCD_DATA_DIR"}}}
	for _, row := range []struct {
		name, declared string
		containers     list
		want           Evidence
		container, err string
	}{
		{"nothing declared, nothing shown", "", list{hidden}, NoEvidence, "", ""},
		{"a launcher", "db", list{hidden}, Declared, "db", ""},
		{"the other container", "db", list{etcd, hidden}, Declared, "db", ""},
		{"one of two that run etcd", "second", list{etcd, other}, Declared, "second", ""},
		{"denied", "false", list{etcd}, NoEvidence, "", ""},
		{"a wrong name, and nothing shown", "dB", list{hidden}, NoEvidence, "", `no container "dB"; it must be db, or false`},
		{"a wrong name, and etcd shown", "x", list{etcd, hidden}, Shown, "", "it must be etcd or db, or false"},
		{"an empty name", " ", list{etcd}, Shown, "", `no container " "`},
		{"an init container", "setup", list{hidden}, NoEvidence, "", `"setup" is an init container`},
		{"a name of a megabyte", strings.Repeat("a", 1<<20), list{etcd}, Shown, "", "aaa...\""},
		{"two that run etcd", "", list{etcd, other}, Hinted, "", "containers etcd and second of the pod both run etcd"},
		{"two with variables", "", list{variables, variables}, Hinted, "", "both run etcd"},
		{"one that runs it beside one with variables", "", list{variables, etcd}, Shown, "etcd", ""},
		{"one with variables", "", list{hidden, variables}, Shown, "vars", ""},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: list{run("setup", "cp")}, Containers: row.containers}}
		if row.declared != "" {
			pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: row.declared}
		}
		m := MemberOf(pod)
		container, err := describe(m)
		if m.Evidence != row.want || container != row.container || !strings.Contains(err, row.err) || (err == "") != (row.err == "") || len(err) > 400 {
			t.Errorf("%s: %d, container %q, error %q; want %d, %q, %q", row.name, m.Evidence, container, err, row.want, row.container, row.err)
		}
		// What can't be read is reported in the same way.
		if _, parsed := ParsePod(pod, nil); row.err != "" && (parsed == nil || !strings.Contains(parsed.Error(), row.err)) {
			t.Errorf("%s: ParsePod: %v", row.name, parsed)
		}
		if RunsEtcd(pod) && len(HintsOf(pod)) > 0 {
			t.Errorf("%s: it runs etcd, and has hints %v", row.name, HintsOf(pod))
		}
	}
}

// describe returns the name of a member's container and the text of its error.
func describe(m Member) (container, err string) {
	if m.Container != nil {
		container = m.Container.Name
	}
	if m.Err != nil {
		err = m.Err.Error()
	}
	return container, err
}

// TestHintsOf has what may be etcd, and what is known not to be.
func TestHintsOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		c      corev1.Container
		labels map[string]string
		denied bool
		want   string
	}{
		{name: "nothing", c: corev1.Container{Command: []string{"/app"}}},
		{name: "an image and a launcher", c: corev1.Container{Image: "quay.io/x/etcd:v3.6.1@sha256:0", Command: []string{"/launch"}}, want: "image quay.io/x/etcd:v3.6.1@sha256:0, its command is /launch, which may be a launcher"},
		{name: "an image of another name", c: corev1.Container{Image: "x/etcd-backup:1"}},
		{name: "a port", c: corev1.Container{Command: []string{"/launch"}, Ports: []corev1.ContainerPort{{ContainerPort: 2379}}}, want: "port 2379, its command is /launch, which may be a launcher"},
		{name: "a variable", c: corev1.Container{Env: []corev1.EnvVar{{Name: "ETCD_DATA_DIR"}}}, want: "variable ETCD_DATA_DIR"},
		{name: "one way of a script", c: corev1.Container{Command: []string{"sh", "-c", "if [ $X ]; then exec etcd; fi; exec /app"}}, want: "only some ways of its script run etcd"},
		{name: "a label", labels: map[string]string{"app": "etcd"}, want: "label app=etcd"},
		{name: "a client", c: corev1.Container{Image: "x/etcd:3", Command: []string{"etcdctl", "get", "a"}}, labels: map[string]string{"app": "etcd"}},
		{name: "a gateway", c: corev1.Container{Image: "x/etcd:3", Command: []string{"etcd", "gateway"}, Ports: []corev1.ContainerPort{{ContainerPort: 2379}}}},
		{name: "denied", c: corev1.Container{Image: "x/etcd:3"}, denied: true},
	} {
		row.c.Name = "c"
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: row.labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{row.c}}}
		if row.denied {
			pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: v1alpha1.NotEtcd}
		}
		var texts []string
		for _, h := range HintsOf(pod) {
			texts = append(texts, h.Text)
		}
		if got := strings.Join(texts, ", "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if RunsEtcd(pod) {
			t.Errorf("%s: it is shown to run etcd", row.name)
		}
	}
}

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
	for name, script := range map[string]string{
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
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Command: []string{"sh", "-c", script}}}}}
		start := time.Now()
		m, hints := MemberOf(pod), HintsOf(pod)
		_, err := ParsePod(pod, nil)
		t.Logf("%s: %s", name, time.Since(start))
		if read := startedIn(pod, &pod.Spec.Containers[0], nil).Script; read != nil && read.work.done > maxWork*2 {
			t.Errorf("%s: %d nodes were read, want about %d at most", name, read.work.done, maxWork)
		}
		if m.Evidence >= Shown || err == nil {
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
	for name, script := range map[string]string{
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
		c := corev1.Container{Name: "etcd", Command: []string{"sh", "-c", script}, Env: []corev1.EnvVar{
			{Name: "SELF", Value: `trap "$SELF" EXIT; trap "$SELF" EXIT`}, {Name: "LONG", Value: strings.Repeat("a b;", 8000)}, {Name: "POD", Value: "a"},
		}}
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
		at := time.Now()
		started := startedIn(pod, &c, nil)
		if started.Script == nil {
			t.Errorf("%s: no script was read", name)
			continue
		}
		if started.Script.etcd == nil { // its settings are not read
			if started.Script.Err == nil {
				t.Errorf("%s: the script has no etcd, and nothing reports why", name)
			}
			continue
		}
		started.Script.SurelyRunsEtcd()
		s, env := &settings{}, newEnvironment(pod, &c, nil)
		s.of(started.Way(env.known, hostname(env.pod)), started.File)
		err := s.readOthers(started, env)
		done := started.Script.work.done
		t.Logf("%s: %s, %d nodes, %v", name, time.Since(at), done, err)
		if done > maxWork*2 {
			t.Errorf("%s: %d nodes were read, want about %d at most", name, done, maxWork)
		}
		if started.Script.work.exceeded() && s.many == nil {
			t.Errorf("%s: its settings are known beyond the bounds", name)
		}
	}
}
