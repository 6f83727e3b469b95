// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// learn reads what a statement shows of names: its functions, and what it calls the folders of data.
func (in scope) learn(statement *syntax.Stmt) {
	syntax.Walk(statement, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			in.functions[n.Name.Value] = in.function(n.Body)
		case *syntax.Assign:
			in.assigned(n)
		case *syntax.WordIter: // for NAME in …
			if slices.ContainsFunc(n.Items, func(item *syntax.Word) bool { return in.holdsData(item) }) {
				in.data.names[n.Name.Value] = true
			}
		case *syntax.CallExpr:
			in.called(in.Script.Fields(n))
		}
		return true
	})
}

func (in scope) holdsData(word *syntax.Word) bool {
	return slices.ContainsFunc(in.Script.Texts(word), in.data.has)
}

// assigned learns from an assignment: of a folder of data, and to a variable that is called after it.
func (in scope) assigned(a *syntax.Assign) {
	if a.Name == nil || a.Value == nil {
		return
	}
	name := a.Name.Value
	if in.holdsData(a.Value) {
		in.data.names[name] = true
	}
	if value, ok := script.Literal(a.Value); ok && dataName.MatchString(name) {
		in.data.addDir(value)
	}
}

// called learns from a command: etcd names its folder of data, and the script may change into one.
func (in scope) called(c script.Fields) {
	switch {
	case c.RunsEtcd():
		for _, dir := range DirFlags(c.Texts) {
			in.data.addDir(dir)
		}
	case c.Program() == "cd" && slices.ContainsFunc(c.Texts[1:], in.data.has):
		in.data.inside = true
	}
}

// function returns what a function does with its arguments.
func (in scope) function(body *syntax.Stmt) function {
	var f function
	syntax.Walk(body, func(node syntax.Node) bool {
		call, is := node.(*syntax.CallExpr)
		if _, inner := node.(*syntax.FuncDecl); !is {
			return !inner
		}
		c := in.Script.Fields(call)
		at := script.ProgramAt(c.Argv)
		if at < 0 || at >= len(c.Argv) {
			return true
		}
		program := path.Base(c.Argv[at])
		f.evaluates = f.evaluates || program == "eval" || script.IsShell(program) || strings.Contains(c.Argv[at], script.UnknownWord)
		f.deletes = f.deletes || slices.ContainsFunc(in.doomed(program, c.Texts[at+1:]), func(word string) bool { return strings.HasPrefix(word, "$") })
		return true
	})
	return f
}

// wipes reports whether a command deletes a member's data or moves it away, by itself or by a program
// that it runs.
func (in scope) wipes(c script.Fields) bool {
	program := path.Base(c.Argv[0])
	has := func(names []string) bool { return slices.ContainsFunc(names, in.data.has) }
	if in.functions[program].deletes && has(c.Texts[1:]) || has(in.doomed(program, c.Texts[1:])) {
		return true
	}
	if !runners[program] {
		return false
	}
	at := slices.IndexFunc(c.Argv[1:], func(word string) bool { return removers[path.Base(word)] })
	return at >= 0 && has(in.doomed(path.Base(c.Argv[at+1]), c.Texts[at+2:]))
}

// removers are the programs that doomed knows.
var removers = map[string]bool{"rm": true, "mv": true, "rsync": true, "find": true}

// doomed returns what a program deletes with all that is in it, or moves away.
func (in scope) doomed(program string, args []string) []string {
	switch program {
	case "rm":
		if slices.ContainsFunc(args, recursive) {
			return operands(args)
		}
		return slices.DeleteFunc(operands(args), func(word string) bool { return !dataFile.MatchString(word) })
	case "mv":
		// What is moved into the folder of data replaces it.
		if from, to := moved(args); !in.data.has(to) || in.data.above(to) {
			return from
		}
	case "rsync":
		if all := operands(args); len(all) > 0 && slices.ContainsFunc(args, func(word string) bool { return strings.HasPrefix(word, "--delete") }) {
			return all[len(all)-1:]
		}
	case "find":
		if deletesFound(args) && !narrows(args) {
			return starts(args)
		}
	}
	return nil
}

func isOption(word string) bool { return strings.HasPrefix(word, "-") }

func operands(args []string) []string { return slices.DeleteFunc(slices.Clone(args), isOption) }

// moved returns what mv moves, and where to.
func moved(args []string) (from []string, to string) {
	if at := slices.Index(args, "-t"); at >= 0 && at+1 < len(args) {
		return slices.Concat(operands(args[:at]), operands(args[at+2:])), args[at+1]
	}
	all := operands(args)
	if len(all) == 0 {
		return nil, ""
	}
	return all[:len(all)-1], all[len(all)-1]
}

// starts returns the folders that find searches.
func starts(args []string) []string {
	for len(args) > 0 && slices.Contains([]string{"-H", "-L", "-P"}, args[0]) {
		args = args[1:]
	}
	end := slices.IndexFunc(args, func(word string) bool { return isOption(word) || strings.ContainsAny(word, "(!") })
	if end == 0 {
		return []string{"."}
	}
	return args[:max(end, 0)]
}

func recursive(word string) bool {
	return word == "--recursive" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.ContainsAny(word, "rR")
}

// deletesFound reports whether find deletes what it finds, or moves it away.
func deletesFound(args []string) bool {
	runs := slices.IndexFunc(args, func(word string) bool { return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, word) })
	return slices.Contains(args, "-delete") || runs >= 0 && slices.ContainsFunc(args[runs:], removing.MatchString)
}

// removing finds the program that find runs on what it finds, also in a script.
var removing = regexp.MustCompile(`(?:^|[\s/])(?:rm|mv)(?:\s|$)`)

// narrows reports whether find finds only some files of a folder that are not etcd's.
func narrows(args []string) bool {
	for i, word := range args {
		if i > 0 && (args[i-1] == "!" || args[i-1] == `\!` || args[i-1] == "-not") {
			continue
		}
		switch word {
		case "-empty":
			return true
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex":
			pattern := args[i+1:]
			if len(pattern) == 0 || !slices.Contains([]string{"*", "*.snap", "*.wal", "db", "member", "snap", "wal"}, pattern[0]) {
				return true
			}
		}
	}
	return false
}

// dataFile finds files that a member can't start without.
var dataFile = regexp.MustCompile(`(?:^|/)(?:wal|snap)/(?:\*|\*\.(?:wal|snap|db)|db)$`)
