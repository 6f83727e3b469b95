// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxExpansion bounds what the expansions of one script cost together, in bytes read:
	// A=$A$A doubles a value with each line.
	maxExpansion = 1 << 20
	// maxPattern bounds a pattern and a replacement: each costs a pass over the value.
	maxPattern = 64
	// maxWritten bounds the text that stands for an expansion which isn't known.
	maxWritten = 1 << 10
	// mark stands around the number of a text in unknown.
	mark = "\x01"
)

// fields expands what the shell grammar calls a word, each to any number of arguments.
func (r *run) fields(list []*syntax.Word) []string {
	raw := r.raw(list)
	for i := range raw {
		raw[i] = r.render(raw[i])
	}
	return raw
}

// raw returns the fields of a list, with references to what is unknown.
func (r *run) raw(list []*syntax.Word) []string {
	var out []string
	for _, word := range list {
		fields, err := expand.Fields(&expand.Config{Env: r}, r.prepare(word))
		if err != nil {
			fields = []string{r.asWritten(r.script.Source(word))}
		}
		out = append(out, fields...)
	}
	return out
}

// literal expands the value of an assignment, which is one word.
func (r *run) literal(word *syntax.Word) string {
	if word == nil {
		return ""
	}
	value, err := expand.Literal(&expand.Config{Env: r}, r.prepare(word))
	if err != nil {
		return r.asWritten(r.script.Source(word))
	}
	return value
}

// asWritten returns a reference to a text that is not known better.
func (r *run) asWritten(text string) string {
	r.unknown = append(r.unknown, cut(text, maxWritten))
	return mark + strconv.Itoa(len(r.unknown)-1) + mark
}

// render replaces references with the texts that they stand for.
func (r *run) render(value string) string {
	parts := strings.Split(value, mark)
	for i := 1; i < len(parts); i += 2 {
		at, err := strconv.Atoi(parts[i])
		if err != nil || at < 0 || at >= len(r.unknown) {
			at = -1
		}
		if parts[i] = ""; at >= 0 {
			parts[i] = r.unknown[at]
		}
	}
	return strings.Join(parts, "")
}

func known(value string) bool { return !strings.Contains(value, mark) }

// spend takes the cost of an expansion from the budget and reports whether it sufficed.
func (r *run) spend(values ...string) bool {
	for _, v := range values {
		r.budget -= len(v) + strings.Count(v, mark)*maxWritten/2 + 1
	}
	return r.budget >= 0
}

// prepare returns a copy of a word of which only that is left to expand what is known and
// bounded. Braces and tildes remain as written, as in a POSIX shell: the former may grow without
// bound, the latter read the file system.
func (r *run) prepare(word *syntax.Word) *syntax.Word {
	if word == nil {
		return nil
	}
	return &syntax.Word{Parts: r.parts(word.Parts, false)}
}

func (r *run) parts(parts []syntax.WordPart, quoted bool) []syntax.WordPart {
	out := make([]syntax.WordPart, len(parts))
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			out[i] = p
			if !quoted {
				out[i] = &syntax.Lit{Value: escape(p.Value)}
			}
		case *syntax.SglQuoted:
			out[i] = p
			if p.Dollar {
				out[i] = r.reference(p)
			}
		case *syntax.DblQuoted:
			out[i] = &syntax.DblQuoted{Parts: r.parts(p.Parts, true)}
		case *syntax.ParamExp:
			out[i] = r.paramExp(p)
		case *syntax.CmdSubst:
			out[i] = r.output(p)
		default:
			out[i] = r.reference(p)
		}
	}
	return out
}

func (r *run) reference(node syntax.Node) *syntax.Lit {
	return &syntax.Lit{Value: r.asWritten(r.script.Source(node))}
}

// output returns what a command substitution prints: only the pod's own name is known.
func (r *run) output(c *syntax.CmdSubst) syntax.WordPart {
	inner := strings.TrimSuffix(strings.TrimPrefix(r.script.Source(c), "$("), ")")
	switch strings.Join(strings.Fields(strings.Trim(inner, "`")), " ") {
	case "hostname", "hostname -s", "uname -n":
		return &syntax.Lit{Value: r.hostname}
	}
	return r.reference(c)
}

// paramExp returns a parameter expansion that can be done, or a reference to its text.
func (r *run) paramExp(p *syntax.ParamExp) syntax.WordPart {
	unusual := p.Param == nil || p.NestedParam != nil || p.Index != nil || p.Flags != nil || len(p.Modifiers) > 0 ||
		p.Excl || p.Width || p.IsSet || p.Names != 0
	if unusual || !r.expandable(p) {
		return r.reference(p)
	}
	done := *p
	if p.Exp != nil && p.Exp.Word != nil && !trims(p.Exp.Op) {
		done.Exp = &syntax.Expansion{Op: p.Exp.Op, Word: r.prepare(p.Exp.Word)}
	}
	return &done
}

// parameter returns a variable or a positional parameter as text.
func (r *run) parameter(name string) (string, bool) {
	switch at, err := strconv.Atoi(name); {
	case name == "@" || name == "*":
		return strings.Join(r.arguments(), " "), !r.reset
	case name == "#":
		return strconv.Itoa(len(r.arguments())), !r.reset
	case err == nil && at >= 0 && at < len(r.positional):
		return r.positional[at], at == 0 || !r.reset
	case err == nil:
		return "", false
	}
	return r.variable(name)
}

// expandable reports whether the value of an expansion is known and can be computed
// within bounds.
func (r *run) expandable(p *syntax.ParamExp) bool {
	value, set := r.parameter(p.Param.Value)
	switch {
	case !r.spend(value):
		return false
	case p.Length:
		return set && known(value)
	case p.Slice != nil:
		return set && known(value) && isNumber(p.Slice.Offset) && isNumber(p.Slice.Length)
	case p.Repl != nil:
		return set && known(value) && short(p.Repl.Orig) && short(p.Repl.With) && r.spendTimes(value, maxPattern)
	case p.Exp == nil:
		return set
	}
	return r.operable(p, value, set)
}

// operable reports whether an expansion with an operator, as in ${NAME:-default}, is expandable.
func (r *run) operable(p *syntax.ParamExp, value string, set bool) bool {
	switch p.Exp.Op { //nolint:exhaustive // trims judges the others
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return isName(p.Param.Value) || set
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return value != ""
	}
	return trims(p.Exp.Op) && set && known(value) && short(p.Exp.Word) && r.spendTimes(value, maxPattern)
}

func (r *run) spendTimes(value string, times int) bool {
	r.budget -= len(value) * times
	return r.budget >= 0
}

// trims reports whether an operator cuts a pattern off a value.
func trims(op syntax.ParExpOperator) bool {
	switch op { //nolint:exhaustive // the others cut nothing off
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return true
	}
	return false
}

// short reports whether a word of a pattern is plain text within bounds.
func short(word *syntax.Word) bool {
	if word == nil {
		return true
	}
	text, ok := Literal(word)
	return ok && len(text) <= maxPattern && !strings.HasPrefix(text, "~")
}

// isNumber reports whether an offset is nothing, a number, or one below zero.
func isNumber(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.Word:
		_, err := strconv.ParseInt(x.Lit(), 10, 32)
		return err == nil
	case *syntax.UnaryArithm:
		return x.Op == syntax.Minus && !x.Post && isNumber(x.X)
	}
	return false
}

// escape returns a text in which braces and tildes are not expanded.
func escape(text string) string {
	if !strings.ContainsAny(text, "{},~") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			out.WriteByte('\\')
			i++
		case strings.IndexByte("{},~", text[i]) >= 0:
			out.WriteByte('\\')
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

func isName(s string) bool {
	return syntax.ValidName(s)
}
