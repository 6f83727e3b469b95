// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/memberchange"
)

// folder is a folder of etcd's data as one container of a pod names it.
type folder struct {
	of  *environment
	dir string
}

// dataDirs returns a function with the folders of etcd's data as each container of a pod sees them. They are what variables
// and flags of any container name, and what etcd's configuration has. Without contents no object is read.
func dataDirs(pod *corev1.Pod, contents Contents) func(c *corev1.Container) memberchange.Dirs {
	if contents == nil {
		contents = Unread(pod.Namespace)
	}
	pod, contents = withName(pod), once(contents)
	var all []folder
	add := func(of *environment, dirs []string) {
		for _, dir := range dirs {
			all = append(all, folder{of, dir})
		}
	}
	for _, c := range containers.Of(&pod.Spec) {
		env := newEnvironment(pod, c, withoutSecrets(contents))
		add(env, namedDirs(env))
	}
	etcd, known := MemberIn(pod, contents).Container, len(all) > 0
	if etcd != nil && !wrapper(etcd) {
		env := newEnvironment(pod, etcd, contents)
		dirs, is := settingDirs(env)
		add(env, dirs)
		known = is
	}
	return func(c *corev1.Container) memberchange.Dirs {
		env := newEnvironment(pod, c, withoutSecrets(contents))
		dirs := namedDirs(env)
		for _, f := range all {
			dirs = append(dirs, f.in(env)...)
		}
		return memberchange.Dirs{At: memberchange.DataDirs(dirs), Unknown: !known, Variable: remembered(env.inShell)}
	}
}

// withName returns a pod that has a name, since that of a template has none: a folder that is called after the pod must not
// be the one above it.
func withName(pod *corev1.Pod) *corev1.Pod {
	if pod.Name != "" {
		return pod
	}
	out := *pod
	out.Name = "POD"
	return &out
}

// inShell returns a variable as a shell of the container has it, or what the command hostname prints. It is false for a
// value that is not known.
func (e *environment) inShell(name string) (string, bool) {
	value, ok, err := e.known(name)
	if !ok && err == nil && strings.EqualFold(name, "hostname") {
		value = hostname(e.pod)
		return value, value != ""
	}
	return value, ok && err == nil
}

// remembered returns a function that looks up each variable once: a script may have one in thousands of arguments.
func remembered(lookup func(string) (string, bool)) func(string) (string, bool) {
	type answer struct {
		value string
		ok    bool
	}
	all := map[string]answer{}
	return func(name string) (string, bool) {
		got, done := all[name]
		if !done {
			got.value, got.ok = lookup(name)
			all[name] = got
		}
		return got.value, got.ok
	}
}

// namedDirs returns the folders that the variables and the flags of a container name.
func namedDirs(env *environment) (dirs []string) {
	c := env.container
	variableNames(c, env.contents, func(name string) {
		if memberchange.NamesData(name) {
			value, _ := env.lookup(name)
			dirs = append(dirs, value)
		}
	})
	argv := slices.Concat(c.Command, c.Args)
	for i, word := range argv {
		if value, err := expandReferences(word, env.lookup); err == nil {
			argv[i] = value
		}
	}
	return append(dirs, memberchange.DirFlags(argv)...)
}

// settingDirs returns the folders that etcd's configuration has, on each way of its script. known is false if the data
// directory of one of them is not known. What only the pod knows of it is as it is written.
func settingDirs(env *environment) (dirs []string, known bool) {
	s, err := settingsOf(env, false)
	if err != nil || s.many != nil {
		return nil, false
	}
	known = true
	for _, way := range append([]*settings{s}, s.others...) {
		for _, flag := range []string{"data-dir", "wal-dir"} {
			value, _, _, err := way.own(flag)
			dirs = append(dirs, value)
			is := err == nil && IsKnownDir(value)
			known = known && (is || flag == "wal-dir")
		}
	}
	return dirs, known
}
