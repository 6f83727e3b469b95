// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
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
	// cleared is true where env gives etcd only what it assigns itself.
	cleared bool
	// changed is true where a file or text that isn't read may have set any variable.
	changed bool
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
		vars: map[string]string{}, exported: map[string]bool{}, given: map[string]bool{}, open: map[*syntax.Stmt]bool{}, budget: maxExpansion,
	}
}

// etcdArgs runs the script up to etcd and returns etcd's arguments.
func (r *run) etcdArgs() []string {
	r.entries = r.script.entries(r.script.etcd)
	r.statements(r.script.Statements, false)
	if r.script.work.exceeded() {
		r.makeAllUnknown()
	}
	w := r.script.etcdFields
	at := etcdAt(w.Argv)
	before := at - slices.Index(w.args, w.args[at]) // fields of the same argument
	args := r.fields(r.script.etcd.Args[w.args[at]:])
	if len(args) <= before+1 {
		return nil
	}
	return args[before+1:]
}

// environ returns a variable of the environment that the script gives to etcd.
func (r *run) environ(name string) (string, bool) {
	v, ok := r.vars[name]
	if r.cleared {
		return r.render(v), ok && r.given[name]
	}
	inherited, was := r.inherit(name)
	switch {
	case ok && (was || r.exported[name]):
		return r.render(v), true
	case ok:
		return "", false
	}
	return inherited, was
}

func (r *run) inherit(name string) (string, bool) {
	if r.inherited == nil {
		return "", false
	}
	value, ok := r.inherited(name)
	if !ok {
		return "", false
	}
	return strings.ToValidUTF8(value, "\uFFFD"), true
}

// variable returns a variable of the shell.
func (r *run) variable(name string) (string, bool) {
	if v, ok := r.vars[name]; ok {
		return v, true
	}
	if r.changed && !setByShell[name] {
		return r.asWritten("${" + name + "}"), true // what is not read may have set it
	}
	if v, ok := r.inherit(name); ok || name != "HOSTNAME" {
		return v, ok
	}
	return r.hostname, true
}

// leadsToEtcd reports whether the command that runs etcd is in a node.
func (r *run) leadsToEtcd(node syntax.Node) bool {
	return r.script.work.spend(len(r.entries)) && slices.ContainsFunc(r.entries, func(entry syntax.Node) bool { return contains(node, entry) })
}

// statements follows statements in order. It returns true at the command that runs etcd,
// where the script ends for us. perhaps is true for statements that the shell may or may
// not run on its way to etcd. It also ends beyond the bounds of work.
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

// branch follows statements that the shell runs on a condition: for certain where they
// lead to etcd, and otherwise perhaps.
func (r *run) branch(list []*syntax.Stmt) bool {
	for _, s := range list {
		if r.leadsToEtcd(s) {
			return r.statements(list, false)
		}
	}
	return r.statements(list, true)
}

//nolint:gocyclo // one case a kind of command, as the grammar of the shell has them
func (r *run) command(cmd syntax.Command, perhaps bool) bool {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return r.call(c, perhaps)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			r.assign(a, perhaps, c.Variant.Value == "export")
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
		return r.branch(c.Cond) || r.branch(c.Do)
	case *syntax.ForClause:
		r.makeUnknownIn(c)
		return r.branch(c.Do)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			if r.branch(item.Stmts) {
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

// child follows what runs in a process of its own: its assignments are lost with it.
func (r *run) child(s *syntax.Stmt) bool {
	return r.leadsToEtcd(s) && r.statements([]*syntax.Stmt{s}, false)
}

func (r *run) ifClause(c *syntax.IfClause) bool {
	for ; c != nil; c = c.Else {
		if r.branch(c.Cond) || r.branch(c.Then) {
			return true
		}
	}
	return false
}

// call follows a command. What is assigned before a command is for that command alone.
func (r *run) call(c *syntax.CallExpr, perhaps bool) bool {
	if !r.script.work.spend(workOf(c)) {
		return true
	}
	isEtcd := c == r.script.etcd
	if isEtcd || len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.assign(a, perhaps, isEtcd)
		}
	}
	if isEtcd {
		r.envAssigns(c)
		return true
	}
	if len(c.Args) == 0 {
		return false
	}
	return r.builtin(c, perhaps)
}

// envAssigns follows the assignments of env in `env NAME=value etcd`.
func (r *run) envAssigns(c *syntax.CallExpr) {
	w := r.script.etcdFields
	for _, field := range r.fields(c.Args[:w.args[etcdAt(w.Argv)]+1]) {
		if name, value, ok := strings.Cut(field, "="); ok && isName(name) {
			r.vars[name], r.exported[name], r.given[name] = value, true, true
		}
		r.clears(field)
		if path.Base(field) == "etcd" {
			return
		}
	}
}

// setPositional follows set: its options, and its operands, which replace $1 and following.
func (r *run) setPositional(args []*syntax.Word, perhaps bool) {
	o := readSet(textsOf(args))
	r.allexport = r.allexport || o.allexport
	r.reset = r.reset || o.unclear
	if o.replaces {
		r.operands(args[o.operand:], perhaps)
	}
}

func (r *run) operands(args []*syntax.Word, perhaps bool) {
	zero := r.positional[:min(1, len(r.positional))]
	if len(zero) == 0 {
		zero = []string{"sh"}
	}
	r.positional = append(zero[:1:1], r.raw(args)...)
	r.reset = r.reset || perhaps
}

func (r *run) assign(a *syntax.Assign, perhaps, export bool) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	r.exported[name] = r.exported[name] || export || r.allexport
	if a.Naked {
		return
	}
	before, set := r.variable(name)
	var value string
	if a.Array != nil || a.Index != nil {
		value = r.asWritten("${" + name + "}")
	} else {
		value = r.literal(a.Value)
	}
	switch {
	case a.Append && r.spend(before):
		value = before + value
	case a.Append:
		value = r.asWritten("${" + name + "}")
	}
	if perhaps && (!set || before != value) { // it is the one or the other
		value = r.asWritten("${" + name + "}")
	}
	r.vars[name] = value
}

// Get, Each and Set implement expand.WriteEnviron.

// Get returns a variable or a parameter of the shell.
func (r *run) Get(name string) expand.Variable {
	switch name {
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: r.arguments()}
	}
	value, ok := r.parameter(name)
	if !ok {
		return expand.Variable{}
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: value}
}

// Each calls nothing: no expansion that is done here lists variables.
func (r *run) Each(func(string, expand.Variable) bool) {}

// Set assigns what ${NAME:=default} does.
func (r *run) Set(name string, v expand.Variable) error {
	r.vars[name] = v.String()
	return nil
}

// arguments are what "$@" stands for.
func (r *run) arguments() []string { return r.positional[min(1, len(r.positional)):] }
