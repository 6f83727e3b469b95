// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// splicer puts the scripts that a script executes in place of the commands that execute them, so
// that a mounted script is read like the same text inline. What it can't read stays a command.
type splicer struct {
	around surroundings
	// left is how many bytes may still be put in.
	left int
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
	if len(within) >= maxMountedDepth || s.parse() != nil {
		return text
	}
	var all []replacement
	documents := hereDocuments(s.statements)
	for _, statement := range s.statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false
			case *syntax.Stmt:
				call, is := n.Cmd.(*syntax.CallExpr)
				if !is || documents[call.End().Line()] || redirectedWithin(n, call) {
					return true
				}
				if with, ok := p.replace(s, call, within); ok {
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
	return spliced.text
}

// replace returns what a command executes as text.
func (p *splicer) replace(s *script, call *syntax.CallExpr, within []string) (string, bool) {
	w := s.fields(call)
	switch firstOf(w.argv) {
	case ".", "source":
		if len(w.argv) < 2 {
			return "", false
		}
		text, ok := p.read(w.argv[1], within, sourced)
		return "{ :\n" + text + "\n}", ok
	case "eval":
		text := strings.Join(w.argv[1:], " ")
		if strings.Contains(text, unknownWord) {
			return "", false
		}
		text, ok := p.inline(text, within)
		return "{ :\n" + text + "\n}", ok
	}
	at := programAt(w.argv)
	if at < 0 || at >= len(w.argv) {
		return "", false
	}
	text, rest, ok := p.program(w.argv, at, within)
	if !ok {
		return "", false
	}
	// A process of its own, with the assignments before it and the arguments behind it.
	var process strings.Builder
	process.WriteString("( :\n")
	for _, a := range call.Assigns {
		process.WriteString("export " + s.between(a, a) + "\n")
	}
	for i, word := range w.argv[:at] {
		if isAssignment(word) {
			process.WriteString("export " + s.source(call, w, i) + "\n")
		}
	}
	process.WriteString("set --")
	for i := rest; i < len(w.argv); i++ {
		process.WriteString(" " + s.source(call, w, i))
	}
	process.WriteString("\n" + text + "\n)")
	if w.argv[0] == "exec" {
		return "{ " + process.String() + "; exit; }", true
	}
	return process.String(), true
}

// source returns a word of a command as a script has it: as it is written, or quoted where it is one
// of several of an argument.
func (s *script) source(call *syntax.CallExpr, w fields, i int) string {
	alone := (i == 0 || w.args[i-1] != w.args[i]) && (i+1 == len(w.args) || w.args[i+1] != w.args[i])
	if arg := call.Args[w.args[i]]; alone || strings.Contains(w.argv[i], unknownWord) {
		return s.between(arg, arg)
	}
	return "'" + strings.ReplaceAll(w.argv[i], "'", `'\''`) + "'"
}

// program returns the script that a command runs as a process, and the index of its first
// argument.
func (p *splicer) program(argv []string, at int, within []string) (text string, rest int, ok bool) {
	if !shells[path.Base(argv[at])] {
		text, ok = p.read(argv[at], within, executed)
		return text, at + 1, ok
	}
	o := shellOptions(argv[at+1:])
	operand := at + 1 + o.operand
	switch {
	case operand >= len(argv):
		return "", 0, false
	case !o.command:
		text, ok = p.read(argv[operand], within, byShell)
		return text, operand + 1, ok
	case strings.Contains(argv[operand], unknownWord):
		return "", 0, false
	}
	text, ok = p.inline(argv[operand], within)
	return text, min(operand+2, len(argv)), ok // the first argument is $0
}

// read returns a file with what it executes.
func (p *splicer) read(at string, within []string, as started) (string, bool) {
	if slices.Contains(within, at) {
		return "", false
	}
	text, ok := p.around.read(at, as)
	if !ok || as == executed && !runsInShell(text) {
		return "", false
	}
	text, ok = p.inline(text, append(slices.Clone(within), at))
	if !ok {
		p.around.miss(at, errUnparsed)
	}
	return text, ok
}

// inline returns a text with what it executes, false where it can't be read as a script.
func (p *splicer) inline(text string, within []string) (string, bool) {
	p.left -= len(text)
	if p.left < 0 || len(within) > maxMountedDepth || newScript(text, p.around).parse() != nil {
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

// shellCall is how a shell is called.
type shellCall struct {
	// command is true with -c: the operand is a script, and not the path of one.
	command bool
	// operand is the index of the first word behind the shell's options.
	operand int
}

// shellOptions reads the args behind a shell's name.
func shellOptions(args []string) shellCall {
	var o shellCall
	for ; o.operand < len(args); o.operand++ {
		word := args[o.operand]
		switch {
		case word == "--" || word == "-":
			o.operand++
			return o
		case word == "--rcfile" || word == "--init-file":
			o.operand++
		case strings.HasPrefix(word, "--"):
		case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
			o.command = o.command || word[0] == '-' && strings.Contains(word, "c")
			o.operand += strings.Count(word, "o") + strings.Count(word, "O")
		case o.operand == 0 && shells[word]: // busybox sh
		default:
			return o
		}
	}
	return o
}
