// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// splicer puts the scripts that a script executes in place of the commands that execute them, so
// that a mounted script is read like the same text inline. What it can't read stays a command.
type splicer struct {
	around Surroundings
	// left is how many bytes may still be put in.
	left int
	// given are the arguments of the script that is read first, nil where they are not known.
	given []string
}

// replacement is a text that replaces a part of a script.
type replacement struct {
	from, to int
	text     string
}

// splice returns a script in which the scripts that it executes stand inline. within are the
// files that it stands in: a file that executes itself is not followed.
func (p *splicer) splice(text string, within []string) string {
	s := newScript(text, p.around)
	s.given, p.given = p.given, nil
	if len(within) >= maxSpliced || s.parse() != nil {
		return text
	}
	var all []replacement
	documents := hereDocuments(s.Statements)
	for _, statement := range s.Statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false
			case *syntax.Stmt:
				call, is := n.Cmd.(*syntax.CallExpr)
				if !is || documents[call.End().Line()] || redirectedWithin(n, call) {
					return true
				}
				dir := p.around.Dir
				p.around.Dir = s.dirAt(call)
				with, ok := p.replace(s, call, within)
				if p.around.Dir = dir; ok {
					all = append(all, replacement{int(call.Pos().Offset()), int(call.End().Offset()), with})
					return false
				}
			}
			return true
		})
	}
	if len(all) == 0 {
		return text
	}
	slices.SortFunc(all, func(a, b replacement) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for _, r := range all {
		out.WriteString(text[at:r.from] + r.text)
		at = r.to
	}
	out.WriteString(text[at:])
	spliced := newScript(out.String(), p.around)
	if spliced.parse() != nil {
		return text
	}
	return spliced.Text
}

// dirAt returns the folder that a command is executed in, empty where it isn't known: the container's own, or that of the only cd
// of the script, which stands before it.
func (s *Script) dirAt(call *syntax.CallExpr) string {
	changes := s.own.callsOf["cd"]
	switch {
	case len(changes) == 0 || len(changes) == 1 && changes[0].Pos().After(call.Pos()):
		return s.around.Dir
	case len(changes) > 1:
		return ""
	}
	dir := s.argv(changes[0])
	if len(dir) != 2 || !path.IsAbs(dir[1]) || unknownField(dir[1]) {
		return ""
	}
	return dir[1]
}

// replace returns what a command executes as text.
func (p *splicer) replace(s *Script, call *syntax.CallExpr, within []string) (string, bool) {
	w := s.Fields(call)
	switch firstOf(w.Argv) {
	case ".", "source":
		if len(w.Argv) < 2 {
			return "", false
		}
		text, ok := p.read(w.Argv[1], within, sourced)
		if len(w.Argv) > 2 && usesArguments.MatchString(text) { // some shells give them to the file
			return "", false
		}
		return "{ :\n" + text + "\n}", ok
	case "eval":
		text := strings.Join(w.Argv[1:], " ")
		if strings.Contains(text, UnknownWord) {
			return "", false
		}
		text, ok := p.inline(text, within)
		return "{ :\n" + text + "\n}", ok
	}
	at := ProgramAt(w.Argv)
	if at < 0 || at >= len(w.Argv) {
		return "", false
	}
	text, rest, ok := p.program(w.Argv, at, within)
	if !ok {
		return "", false
	}
	// A process of its own, with the assignments before it and the arguments behind it.
	var process strings.Builder
	process.WriteString("( " + beginOf(w.Argv, at) + "\n" + environmentOf(w.Argv).lost())
	for _, a := range call.Assigns {
		process.WriteString("export " + s.Source(a) + "\n")
	}
	for i, word := range w.Argv[:at] {
		if isAssignment(word) {
			process.WriteString("export " + s.argument(call, w, i) + "\n")
		}
	}
	args, ok := s.argumentTexts(call, w, rest)
	if !ok {
		return "", false
	}
	process.WriteString("set --" + args + "\n" + text + "\n)")
	if w.Argv[0] == "exec" {
		return "{ " + process.String() + "; exit; }", true
	}
	return process.String(), true
}

// inTime begins a script that timeout runs.
const inTime = ": timeout"

// beginOf returns how a script begins that stands inline, by the launchers of its program, which is the field of an index.
func beginOf(argv []string, at int) string {
	if argv[0] != "exec" && launchedBy(argv[:at], "timeout") {
		return inTime
	}
	return ":"
}

// usesArguments finds what a file does with its arguments.
var usesArguments = regexp.MustCompile(`\$\{?[@*#1-9]|\b(?:set|shift)\b`)

// argumentTexts returns the fields of a command from an index on as a script has them, false where they are a part
// of an argument that isn't known.
func (s *Script) argumentTexts(call *syntax.CallExpr, w Fields, from int) (string, bool) {
	var texts strings.Builder
	for i := from; i < len(w.Argv); {
		to := i + 1
		for to < len(w.args) && w.args[to] == w.args[i] {
			to++
		}
		whole := i == 0 || w.args[i-1] != w.args[i]
		switch unknown := slices.ContainsFunc(w.Argv[i:to], unknownField); {
		case unknown && !whole:
			return "", false
		case unknown:
			texts.WriteString(" " + s.Source(call.Args[w.args[i]]))
		default:
			for j := i; j < to; j++ {
				texts.WriteString(" " + s.argument(call, w, j))
			}
		}
		i = to
	}
	return texts.String(), true
}

// argument returns a word of a command as a script has it: as it is written, or quoted where it is one
// of several of an argument.
func (s *Script) argument(call *syntax.CallExpr, w Fields, i int) string {
	alone := (i == 0 || w.args[i-1] != w.args[i]) && (i+1 == len(w.args) || w.args[i+1] != w.args[i])
	if arg := call.Args[w.args[i]]; alone || strings.Contains(w.Argv[i], UnknownWord) {
		return s.Source(arg)
	}
	return "'" + strings.ReplaceAll(w.Argv[i], "'", `'\''`) + "'"
}

// program returns the script that a command runs as a process, and the index of its first
// argument.
func (p *splicer) program(argv []string, at int, within []string) (text string, rest int, ok bool) {
	if !IsShell(argv[at]) {
		text, ok = p.read(argv[at], within, executed)
		return text, at + 1, ok
	}
	operand, command := ShellOptions(argv[at+1:])
	operand += at + 1
	switch {
	case operand >= len(argv), executesNothing(argv[at+1 : operand]):
		return "", 0, false
	case !command:
		text, ok = p.read(OperandOfShell(argv[operand]), within, byShell)
		return text, operand + 1, ok
	case strings.Contains(argv[operand], UnknownWord):
		return "", 0, false
	}
	rest = min(operand+2, len(argv)) // the first argument is $0
	if rest == operand+2 && !IsShell(argv[operand+1]) && usesZero.MatchString(argv[operand]) {
		return "", 0, false
	}
	text, ok = p.inline(argv[operand], within)
	return text, rest, ok
}

// usesZero finds $0 in a text, which is another one within a shell that gets one.
var usesZero = regexp.MustCompile(`\$\{?0`)

// started is how a script starts.
type started int

const (
	// executed is a file that the kernel starts, and byShell is one that a shell is called with.
	executed started = iota
	byShell
	// sourced is a file that a script reads into itself, such as settings.
	sourced
)

// read returns a file with what it executes.
func (p *splicer) read(at string, within []string, as started) (string, bool) {
	if at = p.around.path(at); slices.Contains(within, at) {
		return "", false
	}
	text, ok := p.around.Read(at, as == sourced)
	if !ok || as == executed && !RunsInShell(text) {
		return "", false
	}
	text, ok = p.inline(text, append(slices.Clone(within), at))
	if !ok {
		p.around.Miss(at, errUnparsed)
	}
	return text, ok
}

// inline returns a text with what it executes, false where it can't be read as a script.
func (p *splicer) inline(text string, within []string) (string, bool) {
	p.left -= len(text)
	if p.left < 0 || len(within) > maxSpliced || newScript(text, p.around).parse() != nil {
		return "", false
	}
	return p.splice(text, within), true
}

// hereDocuments returns the lines with commands that have a here-document, which begins at the
// end of its line.
func hereDocuments(statements []*syntax.Stmt) map[uint]bool {
	lines := map[uint]bool{}
	for _, s := range statements {
		syntax.Walk(s, func(node syntax.Node) bool {
			if r, is := node.(*syntax.Redirect); is && r.Hdoc != nil {
				lines[r.OpPos.Line()] = true
			}
			return true
		})
	}
	return lines
}

// redirectedWithin reports whether a redirection stands among a command's args.
func redirectedWithin(s *syntax.Stmt, call *syntax.CallExpr) bool {
	return slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return !r.Pos().After(call.End()) && r.Pos().After(call.Pos()) })
}

// executesNothing reports whether the options of a shell have it only read its script.
func executesNothing(options []string) bool {
	return slices.ContainsFunc(options, func(word string) bool {
		return word == "noexec" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "n")
	})
}

// ShellOptions reads the args behind a shell's name. operand is the index of the first word behind its
// options. command is true with -c: the operand is a script, and not the path of one.
func ShellOptions(args []string) (operand int, command bool) {
	for ; operand < len(args); operand++ {
		word := args[operand]
		switch {
		case word == "--" || word == "-":
			return operand + 1, command
		case word == "--rcfile" || word == "--init-file":
			operand++
		case strings.HasPrefix(word, "--"):
		case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
			command = command || word[0] == '-' && strings.Contains(word, "c")
			operand += strings.Count(word, "o") + strings.Count(word, "O")
		case operand == 0 && shells[word]: // busybox sh
		default:
			return operand, command
		}
	}
	return operand, command
}
