// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// run follows a script's assignments up to the command that runs etcd, and expands that command's
// arguments. It executes nothing: what only a command in the pod could compute remains as written.
type run struct {
	script *Script
	// inherited is the container's environment, nil for none.
	inherited func(name string) (string, bool)
	// hostname is what the command of that name prints.
	hostname string
	// positional are $0 and following. reset is true where the script may have changed
	// them.
	positional []string
	reset      bool

	vars     map[string]string // may hold references to unknown
	exported map[string]bool
	// given are the variables that env assigns.
	given     map[string]bool
	allexport bool // set -a
	// cleared is true where env gives etcd only what it assigns itself, and removed are the variables that it
	// removes.
	cleared bool
	removed map[string]bool
	// changed is true where a file or text that isn't read may have set any variable.
	changed bool
	// before are the fields of the command that runs etcd up to etcd, and behind those from the one with etcd on. before is nil
	// until they are expanded.
	before, behind []string
	// entries are the commands that lead to etcd: itself, and the calls of the function that it is in.
	entries []syntax.Node
	// open are the functions that are followed.
	open    map[*syntax.Stmt]bool
	unknown []string // texts that can't be expanded, as they are written
	budget  int      // what expansions may still cost
}

func newRun(s *Script, inherited func(string) (string, bool), hostname string, positional []string) *run {
	return &run{
		script: s, inherited: inherited, hostname: hostname, positional: positional,
		vars: map[string]string{}, exported: map[string]bool{}, given: map[string]bool{}, removed: map[string]bool{}, open: map[*syntax.Stmt]bool{}, budget: maxExpansion,
	}
}

// etcdArgs runs the script up to etcd and returns etcd's arguments.
func (r *run) etcdArgs() []string {
	r.entries = r.script.entries(r.script.etcd)
	r.statements(r.script.Statements, false)
	if r.script.work.exceeded() {
		r.makeAllUnknown()
		r.before = nil
	}
	w := r.script.etcdFields
	at := etcdAt(w.Argv)
	if w.split {
		return w.Texts[at+1:]
	}
	before := at - slices.Index(w.args, w.args[at]) // fields of the same argument
	if r.before == nil {                            // beyond the bounds of work, or not reached
		r.expand(r.script.etcd)
	}
	args := r.behind
	if len(args) <= before || !namesEtcd(strings.ReplaceAll(args[before], `\`, "")) { // the fields before it are not known here
		return []string{r.script.Source(r.script.etcd)}
	}
	if len(args) == before+1 {
		return nil
	}
	return args[before+1:]
}

// leadsToEtcd reports whether the command that runs etcd is in a node.
func (r *run) leadsToEtcd(node syntax.Node) bool {
	return r.script.work.spend(len(r.entries)) && slices.ContainsFunc(r.entries, func(entry syntax.Node) bool { return contains(node, entry) })
}

// statements follows statements in order, and reports whether one is the command that runs etcd, where the script ends
// for us. perhaps is true for statements that the shell may or may not run on its way to etcd. It also ends beyond the
// bounds of work.
func (r *run) statements(list []*syntax.Stmt, perhaps bool) bool {
	for _, s := range list {
		switch {
		case !r.script.work.spend(1):
			return true
		case s.Cmd == nil:
		case s.Background && r.leadsToEtcd(s) && r.command(s.Cmd, false), !s.Background && r.command(s.Cmd, perhaps):
			return true
		}
	}
	return false
}

// branch follows statements that the shell runs on a condition, and reports whether one runs etcd. The shell runs them
// for certain where they lead to etcd, and otherwise perhaps.
func (r *run) branch(list []*syntax.Stmt) bool {
	for _, s := range list {
		if r.leadsToEtcd(s) {
			return r.statements(list, false)
		}
	}
	return r.statements(list, true)
}

// command follows a command, and reports whether it runs etcd.
//
//nolint:gocyclo // one case a kind of command, as the grammar of the shell has them
func (r *run) command(cmd syntax.Command, perhaps bool) bool {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return r.call(c, perhaps)
	case *syntax.DeclClause:
		export := exports(c)
		for _, a := range c.Args {
			r.assign(a, perhaps, export)
			if a.Name == nil { // its name is in a text
				r.makeUnknownIn(a)
			}
		}
	case *syntax.Block:
		return r.statements(c.Stmts, perhaps)
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			return r.statements([]*syntax.Stmt{c.X}, perhaps) || r.branch([]*syntax.Stmt{c.Y})
		}
		return r.child(c.X) || r.child(c.Y)
	case *syntax.IfClause:
		return r.ifClause(c)
	case *syntax.WhileClause:
		r.makeUnknownIn(c)
		r.reset = r.reset || r.script.mayChangeArguments(c)
		return r.branch(c.Cond) || r.branch(c.Do)
	case *syntax.ForClause:
		r.makeUnknownIn(c)
		r.reset = r.reset || r.script.mayChangeArguments(c)
		return r.branch(c.Do)
	case *syntax.CaseClause:
		elsewhere := r.leadsToEtcd(c) && !slices.ContainsFunc(c.Items, fallsThrough)
		for _, item := range c.Items {
			if r.alternative(item.Stmts, elsewhere) {
				return true
			}
		}
	case *syntax.FuncDecl:
		return false // followed where it is called
	case *syntax.TimeClause:
		return c.Stmt != nil && r.statements([]*syntax.Stmt{c.Stmt}, perhaps)
	case *syntax.Subshell:
		return r.leadsToEtcd(c) && r.statements(c.Stmts, false)
	case *syntax.CoprocClause:
		return r.child(c.Stmt)
	}
	return false
}

// child follows what runs in a process of its own, and reports whether that runs etcd. Its assignments are lost with the
// process.
func (r *run) child(s *syntax.Stmt) bool {
	return r.leadsToEtcd(s) && r.statements([]*syntax.Stmt{s}, false)
}

// alternative follows one of several branches, and reports whether it runs etcd. If etcd is elsewhere in them, the
// arguments that this one sets are not those of etcd.
func (r *run) alternative(list []*syntax.Stmt, elsewhere bool) bool {
	positional, reset := r.positional, r.reset
	if r.branch(list) {
		return true
	}
	if elsewhere {
		r.positional, r.reset = positional, reset
	}
	return false
}

func (r *run) ifClause(c *syntax.IfClause) bool {
	for elsewhere := r.leadsToEtcd(c); c != nil; c = c.Else {
		if r.branch(c.Cond) || r.alternative(c.Then, elsewhere) {
			return true
		}
	}
	return false
}

// expand expands the arguments of the command that runs etcd: a shell does so before it assigns what stands before it.
func (r *run) expand(c *syntax.CallExpr) {
	w := r.script.etcdFields
	if r.before = w.Texts; w.split {
		return
	}
	at := w.args[etcdAt(w.Argv)]
	r.before, r.behind = r.fields(c.Args[:at+1]), r.fields(c.Args[at:])
}

// call follows a command, and reports whether it runs etcd. What is assigned before a command is for that command alone.
func (r *run) call(c *syntax.CallExpr, perhaps bool) bool {
	if !r.script.work.spend(workOf(c)) {
		return true
	}
	isEtcd := c == r.script.etcd
	if isEtcd {
		r.expand(c)
	}
	if isEtcd || len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.assign(a, perhaps, isEtcd)
		}
	}
	if isEtcd {
		r.launch(environmentOf(r.before))
		return true
	}
	if len(c.Args) == 0 {
		return false
	}
	return r.builtin(c, perhaps)
}
