// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"mvdan.cc/sh/v3/syntax"
)

// MemberChange is a command of a pod that changes the member list of its cluster, or deletes a
// member's data.
type MemberChange struct {
	// Container is the name of the container, and Hook is postStart or preStop for a command of
	// its lifecycle.
	Container, Hook string
	// Workload is the name of the StatefulSet whose pods have the container, in a cluster of several. It
	// is empty in others.
	Workload string `json:",omitempty"`
	// Verb is add, remove, update or promote of etcdctl member; empty for a command that deletes
	// data.
	Verb string
	// Unclear is true where the script can't be parsed, and a line of it looks like such a command.
	Unclear bool
	// Perhaps is true for a removal before the pod stops to which not all ways of its script lead, or of
	// which that is not known.
	Perhaps bool
	// Unread is why a script that the container mounts could not be read. What that script does to
	// members is unknown, and Verb is empty.
	Unread string
}

// PreStop is the Hook of a command that runs before a container stops.
const PreStop = "preStop"

// AtStop reports whether the command runs before its pod stops, and leaves etcd without the member or
// its data.
func (m MemberChange) AtStop() bool {
	return m.Hook == PreStop && m.Unread == "" && (m.Verb == "remove" || m.Verb == "")
}

// RemovesLeaving reports whether the command surely removes the member of each pod that stops.
func (m MemberChange) RemovesLeaving() bool {
	return m.Hook == PreStop && m.Verb == "remove" && !m.Unclear && !m.Perhaps
}

// Command returns the command as text.
func (m MemberChange) Command() string {
	switch {
	case m.Unread != "":
		return "a script that can't be read: " + m.Unread
	case m.Verb == "":
		return "removal of the data directory"
	}
	return "etcdctl member " + m.Verb
}

// Where returns where the command is, as the subject of a sentence.
func (m MemberChange) Where() string {
	of := m.Container
	if m.Workload != "" {
		of += " of " + m.Workload
	}
	if m.Hook != "" {
		return "the " + m.Hook + " hook of container " + of
	}
	return "the start script of container " + of
}

// MemberChanges returns the commands of a pod that change the member list of its cluster, or delete
// a member's data, once for each container, hook and verb. It inspects commands and the exec
// hooks of lifecycles. Without contents it reads no mounted scripts, and with them it also returns
// those that can't be read.
func MemberChanges(pod *corev1.Pod, contents Contents) []MemberChange {
	dirs := dataDirs(pod)
	var all []MemberChange
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			w := changeWalk{around: surroundingsOf(pod, c, contents), dirs: dirs, found: MemberChange{Container: c.Name}}
			w.command(c.Command, c.Args)
			if c.Lifecycle != nil {
				w.hook("postStart", c.Lifecycle.PostStart)
				w.hook(PreStop, c.Lifecycle.PreStop)
			}
			all = append(all, w.all...)
		}
	}
	return all
}

// changeWalk collects the changes of members in a container's commands.
type changeWalk struct {
	around surroundings
	dirs   []string
	// found is what each change that is found begins with.
	found MemberChange
	all   []MemberChange
	// left is how many bytes of scripts in scripts may still be inspected, and depth is how many
	// scripts the walk stands in.
	left, depth int
	// inspected are the scripts in scripts of a command that were inspected, each with the function that it is in.
	inspected map[[2]string]bool
	// in is the outermost script, and at the command of it that is inspected, nil for none. errexit is
	// true if an option of its shell is -e. searched counts the commands that were searched on its ways.
	in       *script
	at       *syntax.CallExpr
	errexit  bool
	searched int
	// direct is true for a command that no shell runs. maybe is true for what a command may be by the values of
	// variables.
	direct, maybe bool
}

func (w *changeWalk) hook(name string, h *corev1.LifecycleHandler) {
	if h == nil || h.Exec == nil {
		return
	}
	w.found.Hook = name
	w.command(h.Exec.Command, nil)
}

// note adds a change once. One that surely happens replaces one that perhaps does.
func (w *changeWalk) note(m MemberChange) {
	for i := range w.all {
		same := m
		if same.Perhaps = w.all[i].Perhaps; same == w.all[i] {
			w.all[i].Perhaps = same.Perhaps && m.Perhaps
			return
		}
	}
	w.all = append(w.all, m)
}

// command inspects one command of a container, and notes which of its scripts can't be read.
func (w *changeWalk) command(command, args []string) {
	w.left, w.inspected = maxMountedBytes, nil
	w.args(shownArgs(slices.Concat(command, args), w.around))
	if w.around.unread == nil {
		return
	}
	for _, why := range *w.around.unread {
		found := w.found
		found.Unread = why
		w.note(found)
	}
	*w.around.unread = nil
}

func (w *changeWalk) args(argv []string) {
	at := programAt(argv)
	if at < 0 || at >= len(argv) {
		return
	}
	in := newScope(newScript("", w.around), w.dirs)
	if !shells[path.Base(argv[at])] {
		w.direct = true
		w.inspect(in, plain(argv))
		w.direct = false
		w.file(argv[at], argv[at+1:])
		return
	}
	o := shellOptions(argv[at+1:])
	operand := at + 1 + o.operand
	w.errexit = optionErrexit(argv[at+1 : min(operand, len(argv))])
	if operand >= len(argv) {
		return
	}
	w.inspect(in, plain(argv[operand+1:]))
	if o.command {
		w.script(argv[operand], argv[min(operand+2, len(argv)):]) // the first argument is $0
	} else if text, ok := w.around.read(argv[operand], byShell); ok {
		w.script(text, argv[operand+1:])
	}
}

// file inspects a program that is a script of a ConfigMap, with its arguments.
func (w *changeWalk) file(at string, args []string) {
	text, ok := w.around.read(at, executed)
	switch {
	case !ok:
	case runsInShell(text):
		w.script(text, args)
	default:
		w.unparsed(text)
	}
}

// script inspects each command of a script, with the scripts that it executes, and its arguments.
func (w *changeWalk) script(text string, args []string) {
	p := splicer{around: w.around, left: maxMountedBytes}
	in := newScope(newScript(p.splice(text, nil), w.around), w.dirs)
	var parameters []value
	for _, arg := range args {
		parameters = append(parameters, textOf(arg))
	}
	in.values.parameters[""] = [][]value{parameters}
	w.walk(in)
}
