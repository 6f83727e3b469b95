// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"mvdan.cc/sh/v3/syntax"
)

// MemberChange is a command of a pod that changes the member list of its cluster, or deletes a
// member's data.
type MemberChange struct {
	// Container is the name of the container, and Hook is postStart or preStop for a command of
	// its lifecycle.
	Container, Hook string
	// Verb is add, remove, update or promote of etcdctl member; empty for a command that deletes
	// data.
	Verb string
	// Unclear is true where the script can't be parsed, and a line of it looks like such a command.
	Unclear bool
}

// PreStop is the Hook of a command that runs before a container stops.
const PreStop = "preStop"

// AtStop reports whether the command runs before its pod stops, and leaves etcd without the member or
// its data.
func (m MemberChange) AtStop() bool {
	return m.Hook == PreStop && (m.Verb == "remove" || m.Verb == "")
}

// RemovesLeaving reports whether the command surely removes the member of each pod that stops.
func (m MemberChange) RemovesLeaving() bool {
	return m.Hook == PreStop && m.Verb == "remove" && !m.Unclear
}

// Command returns the command as text.
func (m MemberChange) Command() string {
	if m.Verb == "" {
		return "rm -r of the data directory"
	}
	return "etcdctl member " + m.Verb
}

// Where returns where the command is, as the subject of a sentence.
func (m MemberChange) Where() string {
	if m.Hook != "" {
		return "the " + m.Hook + " hook of container " + m.Container
	}
	return "the start script of container " + m.Container
}

// MemberChanges returns the commands of a pod that change the member list of its cluster, or delete
// a member's data, once for each container, hook and verb. It inspects commands and the exec
// hooks of lifecycles. Without contents it reads no mounted scripts.
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
}

func (w *changeWalk) hook(name string, h *corev1.LifecycleHandler) {
	if h == nil || h.Exec == nil {
		return
	}
	w.found.Hook = name
	w.command(h.Exec.Command, nil)
}

func (w *changeWalk) note(m MemberChange) {
	if !slices.Contains(w.all, m) {
		w.all = append(w.all, m)
	}
}

func (w *changeWalk) command(command, args []string) {
	argv := shownArgs(slices.Concat(command, args), w.around)
	at := programAt(argv)
	if at < 0 || at >= len(argv) {
		return
	}
	if !shells[path.Base(argv[at])] {
		if w.around.file != nil {
			if text, ok := w.around.file(argv[at]); ok && runsInShell(text) {
				w.script(text)
				return
			}
		}
		w.call(argv, nil, w.dirs)
		return
	}
	o := shellOptions(argv[at+1:])
	operand := at + 1 + o.operand
	switch {
	case operand >= len(argv):
	case o.command:
		w.script(argv[operand])
	case w.around.file != nil:
		if text, ok := w.around.file(argv[operand]); ok {
			w.script(text)
		}
	}
}

// memberLine finds a line that may change members in a script that can't be parsed.
var memberLine = regexp.MustCompile(`\bmember\s+(add|remove|update|promote)\b`)

// script inspects each command of a script, on all ways and in its functions.
func (w *changeWalk) script(text string) {
	p := splicer{around: w.around, left: maxMountedBytes}
	s := script{text: p.splice(text, nil), constants: map[string]constant{}, around: w.around}
	if !strings.Contains(s.text, "member") && !strings.Contains(s.text, "rm") && !strings.Contains(s.text, "-delete") {
		return
	}
	if s.parse() != nil {
		if m := memberLine.FindStringSubmatch(text); m != nil {
			found := w.found
			found.Verb, found.Unclear = m[1], true
			w.note(found)
		}
	}
	functions, dirs := map[string]bool{}, slices.Clone(w.dirs)
	for _, statement := range s.statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.FuncDecl:
				functions[n.Name.Value] = true
			case *syntax.CallExpr:
				if argv := s.argv(n); etcdAt(argv) >= 0 {
					dirs = append(dirs, dirFlags(argv)...)
				}
			}
			return true
		})
	}
	for _, statement := range s.statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 0 {
				w.call(s.argv(call), functions, dirs)
				if deletes(s.argv(call)) && slices.ContainsFunc(call.Args, func(a *syntax.Word) bool { return isDataVariable(s.between(a, a)) }) {
					w.note(w.found)
				}
			}
			return true
		})
	}
}

// call inspects one command. A function of the script, and a program that isn't known, may
// be etcdctl or run it.
func (w *changeWalk) call(argv []string, functions map[string]bool, dirs []string) {
	at := programAt(argv)
	if at < 0 || at >= len(argv) {
		return
	}
	program := path.Base(argv[at])
	if deletes(argv) && slices.ContainsFunc(argv[at+1:], func(word string) bool { return isData(word, dirs) }) {
		w.note(w.found)
	}
	if program != "etcdctl" && !functions[program] && !strings.Contains(argv[at], unknownWord) {
		return
	}
	for i, word := range argv[at+1:] {
		if word != "member" {
			continue
		}
		for _, verb := range argv[at+2+i:] {
			if strings.HasPrefix(verb, "-") {
				continue
			}
			if memberVerbs[verb] {
				found := w.found
				found.Verb = verb
				w.note(found)
			}
			break
		}
	}
}

var memberVerbs = map[string]bool{"add": true, "remove": true, "update": true, "promote": true}

// deletes reports whether a command deletes folders with what is in them.
func deletes(argv []string) bool {
	at := programAt(argv)
	if at < 0 || at >= len(argv) {
		return false
	}
	switch path.Base(argv[at]) {
	case "rm":
		return slices.ContainsFunc(argv[at+1:], func(word string) bool {
			return word == "--recursive" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.ContainsAny(word, "rR")
		})
	case "find":
		return slices.Contains(argv[at+1:], "-delete") && !slices.Contains(argv[at+1:], "-name")
	}
	return false
}

// dataDirs returns the folders of data that a pod's variables and arguments name.
func dataDirs(pod *corev1.Pod) []string {
	var dirs []string
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		for _, e := range c.Env {
			if (e.Name == "ETCD_DATA_DIR" || e.Name == "ETCD_WAL_DIR") && strings.HasPrefix(e.Value, "/") {
				dirs = append(dirs, e.Value)
			}
		}
		dirs = append(dirs, dirFlags(slices.Concat(c.Command, c.Args))...)
	}
	return dirs
}

// dirFlags returns the folders of data among etcd's arguments, as far as they are known.
func dirFlags(argv []string) []string {
	var dirs []string
	for i, word := range argv {
		name, value, assigned := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "-") || name != "data-dir" && name != "wal-dir" {
			continue
		}
		if !assigned && i+1 < len(argv) {
			value = argv[i+1]
		}
		if before, _, cut := strings.Cut(value, unknownWord); cut {
			value = path.Dir(before + "x")
		}
		if strings.HasPrefix(value, "/") && path.Clean(value) != "/" {
			dirs = append(dirs, path.Clean(value))
		}
	}
	return dirs
}

// isData reports whether a path is a folder of data, above it, or what etcd keeps in it. Other files
// below it, such as lost+found, are none of etcd's.
func isData(word string, dirs []string) bool {
	word, _, _ = strings.Cut(word, unknownWord)
	if !strings.HasPrefix(word, "/") {
		return false
	}
	base := strings.TrimSuffix(word, "/")
	if name := path.Base(base); name == "*" || name == "{*,.*}" {
		base = path.Dir(base)
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		dir = path.Clean(dir)
		below, is := strings.CutPrefix(base, dir+"/")
		return base == dir || strings.HasPrefix(dir, cmp.Or(base, "/")+"/") || is && ownFiles(below)
	})
}

// ownFiles reports whether a path in a folder of data is what etcd keeps there.
func ownFiles(below string) bool {
	first, _, _ := strings.Cut(strings.Trim(below, `/"`), "/")
	return first == "" || first == "*" || first == "member" || first == "wal" || first == "snap" || strings.HasSuffix(first, ".etcd")
}

// dataVariable finds a variable that is called after the folder of etcd's data.
var dataVariable = regexp.MustCompile(`^"?\$\{?(?:ETCD_?DATA_?DIR|ETCD_?WAL_?DIR|DATA_?DIR|ETCD_?DIR)(?:[:?-][^}]*)?\}?"?(/?.*)$`)

// isDataVariable reports whether a word is such a variable, and no other file below it.
func isDataVariable(word string) bool {
	m := dataVariable.FindStringSubmatch(word)
	return m != nil && ownFiles(m[1])
}
