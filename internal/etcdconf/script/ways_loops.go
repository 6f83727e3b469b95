// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// while follows a loop, which runs any number of times: none if its condition never holds, and for
// ever if it always does and nothing leaves the loop.
func (w *walk) while(c *syntax.WhileClause, follows behind) ways {
	succeeds, known := w.script.listOutcome(c.Cond)
	if known && succeeds == c.Until {
		return ways{on: true}
	}
	leaves, perhaps := w.leaves(c, "break")
	follows = w.behindRounds(c.Do, follows, known && !leaves)
	body := w.rounds(c.Do, follows)
	if known && !leaves {
		return body.forever(perhaps)
	}
	if w.leadsAny(c.Do) {
		follows = etcdBehind
	}
	return w.list(c.Cond, follows).then(ways{on: true}.or(body))
}

// behindRounds returns what follows the rounds of a loop. Nothing follows one that nothing leaves. Another round may come
// to etcd, or never does, so only a tool before it is a preparation.
func (w *walk) behindRounds(body []*syntax.Stmt, follows behind, endless bool) behind {
	if w.target != nil {
		return etcdBehind
	}
	if endless && !w.trap {
		follows = endBehind
	}
	if w.leadsAny(body) {
		return min(follows, failureBehind)
	}
	return follows.within()
}

// rounds follows the body of a loop.
func (w *walk) rounds(body []*syntax.Stmt, follows behind) ways {
	defer func(before ends) { w.after = before }(w.after)
	w.after.round, w.after.loop = follows, follows
	w.loops++
	defer func() { w.loops-- }()
	return w.list(body, follows).left()
}

// left returns the ways of a body for what follows its loop.
func (w ways) left() ways {
	w.on, w.beside, w.leaves = w.on || w.leaves, w.beside && !w.leaves, false
	return w
}

// forever returns the ways of a loop that nothing known leaves, by those of its body.
func (w ways) forever(perhaps bool) ways {
	w.on = false
	w.other = w.other || perhaps && !w.etcd
	return w
}

// forClause follows a loop, which runs at least once if its list has a literal word.
func (w *walk) forClause(c *syntax.ForClause, follows behind) ways {
	items, is := c.Loop.(*syntax.WordIter)
	if is && items.InPos.IsValid() && len(items.Items) == 0 {
		return ways{on: true}
	}
	forever, perhaps := false, false
	if endless(c.Loop) {
		forever, perhaps = w.leaves(c, "break")
		forever = !forever
	}
	body := w.rounds(c.Do, w.behindRounds(c.Do, follows, forever))
	if forever {
		return body.forever(perhaps)
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
		if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 0 && w.script.work.spend(w.script.workOfCall(call)) {
			name := firstOf(w.script.lookedUp(call))
			leaves = leaves || slices.Contains(commands, name)
			perhaps = perhaps || strings.HasSuffix(name, UnknownWord)
		}
		return !leaves && w.script.work.spend(1)
	})
	return leaves, perhaps
}
