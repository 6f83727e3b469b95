// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"

	"mvdan.cc/sh/v3/syntax"
)

// ways are how the ways through a part of a script can end. Each field is true if some way ends
// like that.
type ways struct {
	// etcd runs etcd, and other runs another program instead of it.
	etcd, other bool
	// on continues with what follows. A way that exits has no field: its container runs nothing.
	on bool
}

func (w ways) or(v ways) ways {
	return ways{etcd: w.etcd || v.etcd, other: w.other || v.other, on: w.on || v.on}
}

// then returns the ways through two parts, one after the other.
func (w ways) then(v ways) ways {
	if !w.on {
		return w
	}
	return ways{etcd: w.etcd || v.etcd, other: w.other || v.other, on: v.on}
}

// walk follows the ways through a script.
type walk struct {
	script    *script
	functions map[string]*syntax.Stmt
	// calls bounds the functions that are followed, which may call each other.
	calls int
}

// maxCalls is how many calls of its own functions a script may have that are followed.
const maxCalls = 100

// runsAnother reports whether a script that runs etcd has ways on which it runs another program
// instead, such as the other branches of an entry point for several programs.
func (s *script) runsAnother() bool {
	w := &walk{script: s, functions: map[string]*syntax.Stmt{}}
	return w.list(s.statements, true).other
}

// list follows statements. They are last if nothing follows them: then a program at their end
// is what the container runs.
func (w *walk) list(statements []*syntax.Stmt, last bool) ways {
	all := ways{on: true}
	for i, s := range statements {
		all = all.then(w.statement(s, last && i == len(statements)-1))
	}
	return all
}

func (w *walk) statement(s *syntax.Stmt, last bool) ways {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.call(c, last && !s.Background)
	case *syntax.Block:
		return w.list(c.Stmts, last)
	case *syntax.Subshell:
		return w.list(c.Stmts, last)
	case *syntax.BinaryCmd:
		return w.binary(c, last)
	case *syntax.IfClause:
		return w.ifClause(c, last)
	case *syntax.CaseClause:
		return w.caseClause(c, last)
	case *syntax.WhileClause:
		return w.list(c.Cond, false).then(ways{on: true}.or(w.list(c.Do, false)))
	case *syntax.ForClause:
		return ways{on: true}.or(w.list(c.Do, false))
	case *syntax.FuncDecl:
		w.functions[c.Name.Value] = c.Body
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.statement(c.Stmt, last)
		}
	}
	return ways{on: true}
}

// binary follows a && b, a || b and a | b. Of a pipe, either side may be etcd.
func (w *walk) binary(c *syntax.BinaryCmd, last bool) ways {
	x := w.statement(c.X, false)
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt {
		if y := w.statement(c.Y, last); !x.etcd {
			return y
		}
		return x
	}
	return x.then(ways{on: true}.or(w.statement(c.Y, last)))
}

func (w *walk) ifClause(c *syntax.IfClause, last bool) ways {
	if c == nil {
		return ways{on: true}
	}
	if c.Cond == nil { // else
		return w.list(c.Then, last)
	}
	return w.list(c.Cond, false).then(w.list(c.Then, last).or(w.ifClause(c.Else, last)))
}

func (w *walk) caseClause(c *syntax.CaseClause, last bool) ways {
	all, complete := ways{}, false
	for _, item := range c.Items {
		all = all.or(w.list(item.Stmts, last))
		for _, p := range item.Patterns {
			text, ok := literal(p)
			complete = complete || ok && text == "*"
		}
	}
	if !complete {
		all.on = true
	}
	return all
}

// ending are the commands that end a script without another program.
var ending = map[string]bool{"exit": true, "return": true}

// brief are commands that a script can end with, and that are not what its container is for.
var brief = map[string]bool{
	":": true, ".": true, "[": true, "cat": true, "cd": true, "chmod": true, "chown": true, "cp": true, "date": true, "echo": true,
	"export": true, "false": true, "kill": true, "mkdir": true, "mv": true, "printf": true, "rm": true, "set": true, "source": true,
	"sleep": true, "sync": true, "test": true, "touch": true, "trap": true, "true": true, "unset": true, "wait": true,
}

// call follows a command. A program is run instead of etcd if exec starts it, or if it is the
// last one.
func (w *walk) call(c *syntax.CallExpr, last bool) ways {
	if program, is := w.script.etcdProgram(c); is {
		return ways{etcd: program == "etcd", other: program != "etcd"}
	}
	argv := w.script.argv(c)
	at := programAt(argv)
	if at < 0 || at >= len(argv) {
		return ways{on: true} // an assignment, or exec with redirections alone
	}
	name := path.Base(argv[at])
	body := w.functions[name]
	switch {
	case ending[name]:
		return ways{}
	case body != nil && w.calls < maxCalls:
		w.calls++
		return w.statement(body, last)
	case argv[0] == "exec", last && !brief[name]:
		return ways{other: true}
	}
	return ways{on: true}
}
