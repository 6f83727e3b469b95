// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strings"
)

// peerFlags are flags that only a member has. They show that the image's entry point, which is not in
// the pod, is etcd.
var peerFlags = []string{"--listen-peer-urls", "--initial-advertise-peer-urls", "--listen-client-urls"}

// Invocation is how a container starts its program.
type Invocation struct {
	// Program is "etcd", "etcd gateway", "etcd grpc-proxy", another program's base name, or ""
	// where the image decides.
	Program string
	// Path is how the command names another program.
	Path string
	// Args are etcd's arguments without a shell.
	Args []string
	// Env is what launchers do to the environment of the program, or of the shell.
	Env Environment
	// Script is set where a shell starts the program, and File is its path where it is a file.
	Script *Script
	File   string
	// OfImage is true where only the image has the command, which gets etcd and its arguments, or its flags alone. ByName is
	// true where etcd is such an argument, as a word without a path.
	OfImage, ByName bool
	// Unsure is true where the first argument of etcd is only known in the pod, so that it may run no member.
	Unsure bool
	// Perhaps is true where the script executes a program that may be etcd or gets etcd as an argument, or the command has
	// etcd or a member's flags behind another program.
	Perhaps bool
	// positional are $0 and following of the script.
	positional []string
}

// MaxWord is the length of the longest variable or argument that Linux passes to a program, on most machines
// (MAX_ARG_STRLEN of include/uapi/linux/binfmts.h).
// A script in a command that is longer is not read.
const MaxWord = 128 << 10

// Start returns how a container starts its program. Its arguments have the references of Kubernetes
// expanded. A command that Linux would not start is "unreadable".
func Start(command, args []string, around Surroundings) Invocation {
	argv := slices.Concat(command, args)
	if slices.ContainsFunc(argv, func(w string) bool { return len(w) > MaxWord || strings.Contains(w, "\x00") }) {
		return Invocation{Program: "unreadable"}
	}
	all := Fields{Argv: argv, Texts: argv}.unfolded()
	argv = all.Argv
	at := ProgramAt(argv)
	switch {
	case len(argv) == 0:
		return Invocation{}
	case at < 0: // such as ionice -p
		return Invocation{Program: path.Base(argv[0]), Path: argv[0], Args: argv[1:]}
	}
	env := environmentOf(argv)
	started := startIn(all.From(at), len(command) == 0, around.behind(env))
	started.Env = env
	return started
}

// startIn returns how a program starts behind its launchers. ofImage is true where only the image has the command.
func startIn(all Fields, ofImage bool, around Surroundings) Invocation {
	argv := all.Argv
	program := path.Base(argv[0])
	_, launches := launchers[program]
	switch {
	case isOfAName(argv):
		return Invocation{Program: program + subcommand(argv[1:]), Path: argv[0], Args: argv[1:], Perhaps: true}
	case program == "etcd":
		return Invocation{Program: "etcd" + subcommand(argv[1:]), Args: all.Texts[1:], OfImage: ofImage, ByName: ofImage && argv[0] == program, Unsure: mayBeAnother(argv[1:])}
	case launches:
		return Invocation{Program: program, Path: argv[0], Args: argv[1:], Perhaps: mayLaunchEtcd(argv)}
	case IsShell(program):
		return inShell(argv[1:], program, around)
	case ofImage && slices.ContainsFunc(argv, isPeerFlag):
		return Invocation{Program: "etcd", Args: argv, OfImage: true}
	case ofImage && strings.HasPrefix(argv[0], "-"):
		return Invocation{Args: argv}
	}
	if text, ok := around.Read(argv[0], false); ok && RunsInShell(text) {
		return inScript(text, argv[0], argv, around)
	}
	return Invocation{Program: program, Path: argv[0], Args: argv[1:], Perhaps: seemsEtcd(argv)}
}

// seemsEtcd reports whether a program that isn't known has the flags of a member, or is a shell that isn't read and has etcd
// among its arguments, or etcd for Windows.
func seemsEtcd(argv []string) bool {
	name := strings.TrimSuffix(baseOf(argv[0]), ".exe")
	isEtcd := func(word string) bool { return strings.TrimSuffix(baseOf(word), ".exe") == "etcd" }
	return name == "etcd" || !IsTool(name) && slices.ContainsFunc(argv, isPeerFlag) ||
		namesMember(argv) || otherShells[name] && slices.ContainsFunc(argv[1:], func(text string) bool { return slices.ContainsFunc(strings.Fields(text), isEtcd) })
}

// baseOf returns the name behind the folders of a path of Windows or another system.
func baseOf(word string) string {
	return strings.ToLower(word[strings.LastIndexAny(word, `\/`)+1:])
}

var shells = map[string]bool{"sh": true, "bash": true, "ash": true, "dash": true, "ksh": true, "mksh": true, "busybox": true}

// otherShells have another grammar.
var otherShells = map[string]bool{"zsh": true, "fish": true, "csh": true, "tcsh": true, "cmd": true, "powershell": true, "pwsh": true}

// IsShell reports whether a program, by its name or path, is a shell.
func IsShell(program string) bool { return shells[path.Base(program)] }

func isPeerFlag(word string) bool {
	flag, _, _ := strings.Cut(word, "=")
	return slices.Contains(peerFlags, flag)
}

// otherPrograms are those of etcd that run no member, by subcommand.
var otherPrograms = map[string]bool{"etcd grpc-proxy": true, "etcd gateway": true, "etcd --proxy": true}

// subcommand returns what etcd does instead of running a member, as the end of the program's name.
func subcommand(args []string) string {
	switch {
	case len(args) > 0 && isWord(args[0]):
		return " " + args[0]
	case informs(args):
		return " --version"
	case proxies(args):
		return " --proxy"
	}
	return ""
}

// proxies reports whether etcd before 3.6 is a proxy of the members, and none itself.
func proxies(args []string) bool {
	flags, _ := Flags(args)
	return IsProxy(flags["proxy"])
}

// IsProxy reports whether a value of the setting proxy has etcd run no member.
func IsProxy(value string) bool { return value == "on" || value == "readonly" }

// informs reports whether etcd only prints its version or its flags.
func informs(args []string) bool {
	flags, _ := Flags(args)
	return slices.ContainsFunc([]string{"version", "help", "h"}, func(name string) bool {
		value, set := flags[name]
		return set && value != "false"
	})
}

// inShell parses the script that follows a shell's options: a text behind -c, or the path of a file.
func inShell(argv []string, shell string, around Surroundings) Invocation {
	operand, command := ShellOptions(argv)
	switch {
	case operand >= len(argv), executesNothing(argv[:operand]):
		return Invocation{Program: shell}
	case command:
		return inScript(argv[operand], "", argv[operand+1:], around)
	}
	if text, ok := around.Read(OperandOfShell(argv[operand]), false); ok {
		return inScript(text, argv[operand], argv[operand:], around)
	}
	return Invocation{Program: shell}
}

// inScript parses a script, from a file or not. positional are its $0 and following.
func inScript(text, file string, positional []string, around Surroundings) Invocation {
	parsed := parseScript(text, positional, around)
	if parsed.program == "" {
		return Invocation{Program: "sh", Perhaps: parsed.mayRunEtcd()}
	}
	return Invocation{Program: parsed.program, Script: &parsed, positional: positional, File: file}
}
