// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// everywhere is the path below which all files may be others.
const everywhere = "/"

// otherRoots are launchers that may give their program other files than the container has, with the options that do so,
// "*" for always.
var otherRoots = map[string]string{
	"chroot":  "*",
	"nsenter": "-m --mount -r --root -a --all",
	"unshare": "-m --mount -R --root",
	"sudo":    "-R --chroot",
}

// rootPrograms do so, too. It isn't known which program they run.
var rootPrograms = map[string]bool{
	"bwrap": true, "crun": true, "firejail": true, "minijail0": true, "nsjail": true, "pivot_root": true, "proot": true, "runc": true,
	"switch_root": true, "systemd-nspawn": true,
}

// Replaced returns the paths at which etcd may see other files than those of its container, each with the program that
// replaces them. All files below "/" may be others.
func (i Invocation) Replaced() map[string]string {
	all := map[string]string{}
	if i.Env.Root != "" {
		all[everywhere] = i.Env.Root
	}
	if name := path.Base(i.Path); rootPrograms[name] || otherRoots[name] != "" {
		all[everywhere] = name
	}
	if i.Script != nil {
		i.Script.addReplaced(all)
	}
	return all
}

// addReplaced adds the paths at which the commands of a script put other files.
func (s *Script) addReplaced(all map[string]string) {
	for _, call := range s.runs {
		if by := environmentOf(s.argv(call)).Root; by != "" {
			all[everywhere] = by
		}
	}
	for _, statement := range s.Statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			call, is := node.(*syntax.CallExpr)
			if !is || len(call.Args) == 0 || s.own.functions[commandOf(call.Args)] != nil {
				return true
			}
			if name, at, replaces := replacedBy(s.argv(call)); replaces {
				all[at] = name
			}
			return true
		})
	}
}

// replacedBy returns the program of a command that links or mounts, and the path at which it may do so.
func replacedBy(argv []string) (name, at string, replaces bool) {
	program := ProgramAt(argv)
	if program < 0 || program >= len(argv) {
		return "", "", false
	}
	name, argv = path.Base(argv[program]), argv[program+1:]
	least := operandsOf(name, argv)
	if least < 0 {
		return "", "", false
	}
	has := func(is func(word string) bool) bool { return slices.ContainsFunc(argv, is) }
	operands := slices.DeleteFunc(slices.Clone(argv), func(w string) bool { return strings.HasPrefix(w, "-") })
	to := func(w string) bool {
		return strings.HasPrefix(w, "--t") || strings.HasPrefix(w, "-t") && !strings.HasPrefix(name, "mount")
	}
	if len(argv) == 0 || len(operands) < least || has(to) || has(unknownField) || !path.IsAbs(argv[len(argv)-1]) {
		return name, everywhere, true
	}
	return name, path.Clean(argv[len(argv)-1]), true
}

// operandsOf returns how many operands a command that links or mounts has if the last one is the path, -1 for another command.
func operandsOf(name string, argv []string) int {
	remounts := func(w string) bool { return strings.Contains(w, "remount") }
	switch {
	case name == "pivot_root", name == "switch_root", otherRoots[name] != "" && len(argv) == 0: // see Environment.lost
		return len(argv) + 1
	case name == "umount":
		return 1
	case name == "ln", name == "cp" && slices.ContainsFunc(argv, isSymbolic):
		return 2
	case (name == "mount" || strings.HasPrefix(name, "mount.")) && len(argv) > 0 && !slices.ContainsFunc(argv, remounts):
		return 2
	}
	return -1
}

// isSymbolic reports whether a word has the option with which cp makes symbolic links.
func isSymbolic(word string) bool {
	return strings.HasPrefix("--symbolic-link", word) && len(word) > len("--s") ||
		strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "s")
}
