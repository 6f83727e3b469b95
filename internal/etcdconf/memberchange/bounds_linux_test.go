// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange_test

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// rusageThread asks for what the calling thread has used.
const rusageThread = 1

// cpuTime returns for how long this thread computes in a function, however busy the machine is.
func cpuTime(t *testing.T, run func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(rusageThread, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	run()
	return used() - before
}

// mostOfPlain is how often as long a script may take as a plain one of the same length.
const mostOfPlain = 50

// TestScriptsInThemselves holds that a script which has itself in it is inspected within bounds. A plain
// script shows how fast the machine is.
func TestScriptsInThemselves(t *testing.T) {
	t.Parallel()
	inspect := func(c corev1.Container) {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
		etcdconf.MemberChanges(pod, nil)
		etcdconf.MemberOf(pod)
	}
	plain := cpuTime(t, func() {
		for range 10 {
			inspect(corev1.Container{Command: []string{"sh", "-c", strings.Repeat("etcdctl get a\n", 2300)}})
		}
	}) / 10
	long := strings.Repeat("x ", 60<<10)
	var dirs []string
	for i := range 70_000 {
		dirs = append(dirs, fmt.Sprintf("--data-dir=/a%d", i))
	}
	references := []corev1.EnvVar{{Name: "L", Value: long[:4000]}, {Name: "R", Value: "$(L)"}}
	for i := range 1000 {
		references = append(references, corev1.EnvVar{Name: fmt.Sprintf("N%d", i)})
	}
	for name, c := range map[string]corev1.Container{
		"by a constant":              {Command: []string{"sh", "-c", `A='eval "$A"; eval "$A $X"'` + "\n" + `eval "$A $X"`}},
		"by a variable":              {Command: []string{"sh", "-c", `eval "$A $X"`}, Env: []corev1.EnvVar{{Name: "A", Value: `eval "$A $X"; eval "$A $X"`}}},
		"a long constant":            {Command: []string{"sh", "-c", strings.Repeat("$A\n", 5000)}, Env: []corev1.EnvVar{{Name: "A", Value: long}}},
		"long scripts":               {Command: []string{"sh", "-c", strings.Repeat(`eval "$A $X"`+"\n", 2000)}, Env: []corev1.EnvVar{{Name: "A", Value: long}}},
		"many short fields":          {Command: []string{"sh", "-c", strings.Repeat("$A\n", 5000)}, Env: []corev1.EnvVar{{Name: "A", Value: long[:4000]}}},
		"many removals":              {Command: []string{"sh", "-c", "xargs " + strings.Repeat("rm -r /d ", 3000)}},
		"many execs":                 {Command: []string{"sh", "-c", "find " + strings.Repeat("-exec a ", 3500)}},
		"many pipes":                 {Command: []string{"sh", "-c", "a" + strings.Repeat("|xargs", 5000)}},
		"functions within functions": {Command: []string{"sh", "-c", strings.Repeat("f(){ ", 450) + strings.Repeat("a b\n", 6000) + strings.Repeat("}\n", 450)}},
		"many members":               {Command: []string{"sh", "-c", "etcdctl " + strings.Repeat("member -a ", 3000)}},
		"many removals at its stop":  {Lifecycle: preStop(strings.Repeat("etcdctl member remove a\n", 1300))},
		"many folders of data":       {Command: append([]string{"etcd"}, dirs...), Lifecycle: preStop(strings.Repeat("rm -rf /d\n", 3000))},
		"many braces":                {Command: []string{"sh", "-c", "rm -rf /d" + strings.Repeat("{a,b}", 6000)}},
		"many in braces":             {Command: []string{"sh", "-c", "rm -rf /" + strings.Repeat("d", 12<<10) + "{" + strings.Repeat("a,", 8<<10) + "}"}},
		"many references":            {Command: []string{"sh", "-c", strings.Repeat("rm -rf /$R$R$R\n", 2000)}, Env: references},
		"many references in a word":  {Command: []string{"sh", "-c", "rm -rf /" + strings.Repeat("$R", 12<<10)}, Env: references},
		"many here-documents":        {Command: []string{"sh", "-c", strings.Repeat("cat <<E|sh\na\nE\n", 1500)}},
	} {
		took := cpuTime(t, func() { inspect(c) })
		t.Logf("%s: %s, %d times a plain script", name, took, took/plain)
		if took > mostOfPlain*plain {
			t.Errorf("%s: took %s, %d times a plain script (%s)", name, took, took/plain, plain)
		}
	}
}

func preStop(script string) *corev1.Lifecycle {
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}}}
}
