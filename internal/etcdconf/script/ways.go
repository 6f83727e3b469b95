// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ways are how the ways through a part of a script can end. Each field is true if some way ends
// like that.
type ways struct {
	// etcd runs etcd, and other runs another program instead of it.
	etcd, other bool
	// on continues with what follows.
	on bool
	// exit ends the process, and back returns to the caller of a function or a sourced file.
	exit, back bool
	// leaves ends a round of a loop, or the loop.
	leaves bool
}

func (w ways) or(v ways) ways {
	return ways{etcd: w.etcd || v.etcd, other: w.other || v.other, on: w.on || v.on, exit: w.exit || v.exit, back: w.back || v.back, leaves: w.leaves || v.leaves}
}

// then returns the ways through two parts, one after the other.
func (w ways) then(v ways) ways {
	if !w.on {
		return w
	}
	out := w.or(v)
	out.on = v.on
	return out
}

// returned are the ways of a function or a sourced file for its caller.
func (w ways) returned() ways {
	w.on, w.back, w.leaves = w.on || w.back || w.leaves, false, false
	return w
}

// process returns the ways of a process for the one that waits for it. What it executes ends it
// alone, unless it is the last.
func (w ways) process(last bool) ways {
	w.on, w.exit, w.back, w.leaves = w.on || w.exit || w.back || w.leaves || w.other && !last, false, false, false
	w.other = w.other && last
	return w
}

// walk follows the ways through a script.
type walk struct {
	script    *Script
	functions map[string]*syntax.Stmt
	// target is a command whose ways count as those of etcd instead, nil for etcd. errexit is true if the
	// script ends at the first command that fails, which matters for a target alone.
	target  *syntax.CallExpr
	errexit bool
	// calls bounds the functions that are followed, which may call each other. within is how
	// many functions the walk stands in.
	calls, within int
	// open are the functions that the walk stands in, and groups is how many braces.
	open   map[*syntax.Stmt]bool
	groups int
	// trap is true in the action of a trap, which may end the shell.
	trap bool
}

// maxCalls is how many calls of its own functions a script may have that are followed.
const maxCalls = 100

// SurelyRunsEtcd reports whether a script runs etcd, and no other program instead of it on any way,
// such as the other branches of an entry point for several programs. Of a script that can't be
// parsed it is not known.
func (s *Script) SurelyRunsEtcd() bool {
	if s.etcd == nil || s.own.alias {
		return false
	}
	w := &walk{script: s, functions: map[string]*syntax.Stmt{}, open: map[*syntax.Stmt]bool{}}
	s.from = 0
	all := w.list(s.Statements, true)
	s.from = len(s.Text)
	return all.etcd && !all.other
}

// list follows statements. They are last if nothing follows them: then a program at their end
// is what the container runs.
func (w *walk) list(statements []*syntax.Stmt, last bool) ways {
	all := ways{on: true}
	for i, s := range statements {
		all = all.then(w.statement(s, last && i == len(statements)-1 || isSubshell(s) && w.exits(statements[i+1:])))
	}
	return all
}

func isSubshell(s *syntax.Stmt) bool {
	_, is := s.Cmd.(*syntax.Subshell)
	return is
}

// exits reports whether statements only end the script.
func (w *walk) exits(statements []*syntax.Stmt) bool {
	if len(statements) == 0 {
		return false
	}
	call, is := statements[0].Cmd.(*syntax.CallExpr)
	return is && firstOf(w.lookedUp(call)) == "exit"
}

//nolint:gocyclo // one case a kind of statement
func (w *walk) statement(s *syntax.Stmt, last bool) ways {
	if !w.script.work.spend(1) {
		return ways{other: true}
	}
	if _, is := s.Cmd.(*syntax.CallExpr); s.Background && !is {
		inner := *s
		inner.Background = false
		return w.statement(&inner, false).process(false)
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if bodies := w.script.own.functions[firstOf(w.lookedUp(c))]; s.Background && len(bodies) > 0 {
			return w.background(c, bodies)
		}
		return w.call(c, last && !s.Background)
	case *syntax.Block:
		return w.block(c, last)
	case *syntax.Subshell:
		return w.list(c.Stmts, last).process(last)
	case *syntax.BinaryCmd:
		return w.binary(c, last)
	case *syntax.IfClause:
		return w.ifClause(c, last)
	case *syntax.CaseClause:
		return w.caseClause(c, last)
	case *syntax.WhileClause:
		return w.while(c)
	case *syntax.ForClause:
		return w.forClause(c)
	case *syntax.FuncDecl:
		w.functions[c.Name.Value] = c.Body
		return ways{on: true}
	case *syntax.DeclClause:
		return ways{on: true}
	case *syntax.TimeClause:
		return w.timeClause(c, last)
	}
	return w.mayFail("")
}

func (w *walk) block(c *syntax.Block, last bool) ways {
	w.groups++
	all := w.list(c.Stmts, last)
	w.groups--
	if w.within == 0 && all.back { // a sourced file, of which return ends no more
		all.on, all.back = true, false
	}
	return all
}

// binary follows a && b, a || b and a | b. Of a pipe, either side may be etcd.
func (w *walk) binary(c *syntax.BinaryCmd, last bool) ways {
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt { // each side is a process
		x := w.statement(c.X, false).process(false)
		if y := w.statement(c.Y, last).process(last); !x.etcd {
			return y
		}
		return x
	}
	x := w.statement(c.X, false)
	if succeeds, known := w.script.outcome(c.X); known {
		if succeeds != (c.Op == syntax.AndStmt) {
			return x
		}
		return x.then(w.statement(c.Y, last))
	}
	return x.then(ways{on: true}.or(w.statement(c.Y, last)))
}

// while follows a loop, which runs any number of times: none if its condition never holds, and for
// ever if it always does and nothing leaves the loop.
func (w *walk) while(c *syntax.WhileClause) ways {
	succeeds, known := w.script.listOutcome(c.Cond)
	if known && succeeds == c.Until {
		return ways{on: true}
	}
	body := w.list(c.Do, false)
	leaves, perhaps := w.leaves(c, "break")
	body.on, body.leaves = body.on || body.leaves, false
	if known && !leaves {
		return body.forever(perhaps)
	}
	return w.list(c.Cond, false).then(ways{on: true}.or(body))
}

// forever returns the ways of a loop that nothing known leaves, by those of its body.
func (w ways) forever(perhaps bool) ways {
	w.on = false
	w.other = w.other || perhaps && !w.etcd
	return w
}

// forClause follows a loop, which runs at least once if its list has a literal word.
func (w *walk) forClause(c *syntax.ForClause) ways {
	items, is := c.Loop.(*syntax.WordIter)
	if is && items.InPos.IsValid() && len(items.Items) == 0 {
		return ways{on: true}
	}
	body := w.list(c.Do, false)
	body.on, body.leaves = body.on || body.leaves, false
	if endless(c.Loop) {
		if leaves, perhaps := w.leaves(c, "break"); !leaves {
			return body.forever(perhaps)
		}
	}
	if !is || !slices.ContainsFunc(items.Items, isLiteral) {
		return ways{on: true}.or(body)
	}
	switch leaves, perhaps := w.leaves(c, "break", "continue"); {
	case leaves, perhaps && body.on:
		return ways{on: true}.or(body)
	case perhaps && !body.etcd:
		body.other = true
	case perhaps:
		return ways{on: true}.or(body)
	}
	return body
}

// endless reports whether a loop has no condition, as for ((;;)).
func endless(loop syntax.Loop) bool {
	c, is := loop.(*syntax.CStyleLoop)
	return is && c.Cond == nil
}

func isLiteral(word *syntax.Word) bool {
	_, ok := Literal(word)
	return ok
}

// leaves reports whether a loop has one of the commands that leave its body, and whether it perhaps has
// one: a command that isn't known. What follows a loop that nothing else leaves may never run.
func (w *walk) leaves(loop syntax.Node, commands ...string) (leaves, perhaps bool) {
	syntax.Walk(loop, func(node syntax.Node) bool {
		if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 0 {
			name := firstOf(w.lookedUp(call))
			leaves = leaves || slices.Contains(commands, name)
			perhaps = perhaps || strings.HasSuffix(name, UnknownWord)
		}
		return !leaves && w.script.work.spend(1)
	})
	return leaves, perhaps
}

func (w *walk) timeClause(c *syntax.TimeClause, last bool) ways {
	if c.Stmt == nil {
		return ways{on: true}
	}
	return w.statement(c.Stmt, last)
}

func (w *walk) ifClause(c *syntax.IfClause, last bool) ways {
	if c == nil {
		return ways{on: true}
	}
	if c.Cond == nil { // else
		return w.list(c.Then, last)
	}
	if succeeds, known := w.script.listOutcome(c.Cond); known && succeeds {
		return w.list(c.Then, last)
	} else if known {
		return w.ifClause(c.Else, last)
	}
	return w.list(c.Cond, false).then(w.list(c.Then, last).or(w.ifClause(c.Else, last)))
}

func (w *walk) caseClause(c *syntax.CaseClause, last bool) ways {
	all := ways{}
	if slices.ContainsFunc(c.Items, fallsThrough) {
		for _, item := range c.Items {
			all = all.or(w.list(item.Stmts, last))
		}
		all.on = true
		return all
	}
	for _, item := range c.Items {
		match, known := matches(c.Word, item.Patterns)
		if known && !match {
			continue
		}
		all = all.or(w.list(item.Stmts, last))
		if match || slices.ContainsFunc(item.Patterns, isAny) {
			return all
		}
	}
	all.on = true
	return all
}

// fallsThrough reports whether a shell may go on from an item of a case to the next one.
func fallsThrough(item *syntax.CaseItem) bool { return item.Op != syntax.Break }

// isAny reports whether a pattern of a case matches every word. A quoted * matches itself only.
func isAny(pattern *syntax.Word) bool {
	if len(pattern.Parts) != 1 {
		return false
	}
	text, is := pattern.Parts[0].(*syntax.Lit)
	return is && text.Value == "*"
}

// brief are commands that a script can end with, and that are not what its container is for.
var brief = map[string]bool{
	":": true, ".": true, "[": true, "cat": true, "cd": true, "chmod": true, "chown": true, "cp": true, "date": true, "echo": true,
	"etcd":   true, // it prints its version or its flags
	"export": true, "false": true, "kill": true, "mkdir": true, "mv": true, "printf": true, "rm": true, "set": true, "source": true,
	"sync": true, "test": true, "touch": true, "trap": true, "true": true, "unset": true, "wait": true,
}

// call follows a command. A program is run instead of etcd if exec starts it, or if it is the
// last one.
//
//nolint:gocyclo // one case a kind of command
func (w *walk) call(c *syntax.CallExpr, last bool) ways {
	if !w.script.work.spend(workOf(c)) {
		return ways{other: true}
	}
	if c == w.target {
		return ways{etcd: true}
	}
	if program, is := w.script.etcdProgram(c); is && w.target == nil {
		return ways{etcd: program == "etcd", other: program != "etcd"}
	}
	argv := w.lookedUp(c)
	at := ProgramAt(argv)
	if at < 0 || at >= len(argv) { // an assignment, exec with redirections alone, or command -v
		if len(argv) > 1 && argv[0] == "exec" {
			return ways{other: true}
		}
		return w.assigns(c)
	}
	name := path.Base(argv[at])
	if bodies := w.script.own.functions[argv[0]]; len(bodies) > 0 {
		return w.function(c, bodies, last)
	}
	switch {
	case name == "exit":
		return ways{exit: true}
	case name == "return":
		// Shells differ in whether it ends a script that isn't sourced.
		return ways{back: true, other: w.within+w.groups == 0}
	case name == "break" || name == "continue":
		return ways{leaves: true}
	case !w.trap && w.mayEnd(c, name, argv[at+1:]):
		return ways{other: true}
	case name == "alias" && commandOf(withoutCommand(c.Args)) != "alias": // it isn't among those of redefines
		return ways{other: true}
	case name == "trap" && w.traps(c), name == "set" && readSet(argv[at+1:]).noexec:
		return ways{other: true}
	case argv[0] == "exec", last && !brief[name]:
		return ways{other: true}
	}
	return w.mayFail(name)
}
