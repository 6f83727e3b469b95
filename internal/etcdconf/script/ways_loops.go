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
	succeeds, known := w.outcomeOfRounds(c.Cond)
	if known && succeeds == c.Until {
		return ways{on: true}
	}
	leaves, perhaps := w.leaves(c, "break")
	behindLoop := follows
	follows = w.behindRounds(w.leadsAny(c.Do) || w.leadsAny(c.Cond), follows, known && !leaves)
	again := follows
	if w.isEtcd(c.Cond) {
		again = etcdBehind
	}
	body := w.rounds(c.Do, again, follows)
	if known && !leaves {
		return w.forever(body, perhaps, behindLoop)
	}
	if w.leadsAny(c.Do) && (w.target != nil || c.Until == c.Cond[len(c.Cond)-1].Negated) { // else only if the condition fails
		follows = etcdBehind
	}
	return w.list(c.Cond, follows).then(ways{on: true}.or(body))
}

// behindRounds returns what follows the rounds of a loop. Nothing follows one that nothing leaves. Another round may come
// to etcd, or never does, so only a tool before it is a preparation.
func (w *walk) behindRounds(leads bool, follows behind, endless bool) behind {
	if w.target != nil {
		return etcdBehind
	}
	if endless && !w.trap {
		follows = endBehind
	}
	if leads {
		return min(follows, failureBehind)
	}
	return follows.within()
}

// outcomeOfRounds reports whether the condition of a loop holds. A sleep does, which only makes the rounds slow.
func (w *walk) outcomeOfRounds(condition []*syntax.Stmt) (succeeds, known bool) {
	if c, is := w.onlyCall(condition); is && firstOf(w.script.lookedUp(c)) == "sleep" && w.script.own.functions["sleep"] == nil {
		return !condition[0].Negated, w.target == nil
	}
	return w.script.listOutcome(condition)
}

// isEtcd reports whether a condition is etcd alone, so that each round comes to it.
func (w *walk) isEtcd(condition []*syntax.Stmt) bool {
	c, is := w.onlyCall(condition)
	return is && w.leads(c) && len(w.script.own.functions[firstOf(w.script.lookedUp(c))]) == 0
}

// onlyCall returns the command that a list is.
func (w *walk) onlyCall(list []*syntax.Stmt) (*syntax.CallExpr, bool) {
	if len(list) != 1 || list[0].Background {
		return nil, false
	}
	c, is := list[0].Cmd.(*syntax.CallExpr)
	return c, is
}

// rounds follows the body of a loop, with what is behind a round and behind a break.
func (w *walk) rounds(body []*syntax.Stmt, follows, loop behind) ways {
	defer func(before ends) { w.after = before }(w.after)
	w.after.round, w.after.loop = follows, loop
	w.loops++
	defer func() { w.loops-- }()
	return w.list(body, follows).left()
}

// left returns the ways of a body for what follows its loop.
func (w ways) left() ways {
	w.on, w.beside, w.leaves = w.on || w.leaves, w.beside && !w.leaves, false
	return w
}

// forever returns the ways of a loop that nothing known leaves, by those of its body. It idles if a round runs nothing that
// counts, and etcd is not behind the loop.
func (w *walk) forever(body ways, perhaps bool, follows behind) ways {
	body.idles = body.idles || body.on && !body.runsEtcd() && w.target == nil && w.counted(follows) != etcdBehind
	body.on = false
	body.other = body.other || perhaps && !body.runsEtcd()
	return body
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
	again := w.behindRounds(w.leadsAny(c.Do), follows, forever)
	body := w.rounds(c.Do, again, again)
	if forever {
		return w.forever(body, perhaps, follows)
	}
	if !is || !slices.ContainsFunc(items.Items, isLiteral) {
		return ways{on: true}.or(body)
	}
	switch leaves, perhaps := w.leaves(c, "break", "continue"); {
	case leaves, perhaps && body.on:
		return ways{on: true}.or(body)
	case perhaps && !body.runsEtcd():
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
