// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"slices"
	"testing"
)

// story is one operation on the model, from its first step on.
type story struct {
	name   string
	before world
	record Record
}

// manners are the ways in which a StatefulSet may be set up.
var manners = []struct {
	name string
	set  func(*world)
}{
	{"rolling", func(*world) {}},
	{"rolling, held back", func(w *world) { w.spec.partition = 2 }},
	{"on delete", func(w *world) { w.spec.onDelete = true }},
	{"by ConfigMap", func(w *world) { w.configMap = true }},
}

func stories() []story {
	var all []story
	for _, m := range manners {
		add := func(name string, w world, r Record) {
			m.set(&w)
			w.begin()
			r.OnDelete, r.Partition = w.spec.onDelete, w.spec.partition
			all = append(all, story{m.name + ", " + name, w, r})
		}
		for _, sizes := range [][2]int{{1, 3}, {3, 5}, {5, 3}, {3, 1}} {
			r := Record{Operation: ScaleOut, Target: sizes[1], Replicas: sizes[0]}
			if sizes[1] < sizes[0] {
				r.Operation = ScaleIn
			}
			w := newWorld(sizes[0])
			w.leader = sizes[0]
			add(fmt.Sprintf("%d to %d", sizes[0], sizes[1]), w, r)
		}
		for ordinal := range 3 {
			r := Record{Operation: Replace, Replicas: 3, Ordinal: ordinal, Member: uint64(ordinal + 1), UID: "1", Claims: []string{"1"}}
			w := newWorld(3)
			w.leader = ordinal + 1
			add(fmt.Sprintf("replace %d", ordinal), w, r)
			w.members[ordinal].dead, w.deaths = true, 0
			add(fmt.Sprintf("replace %d, which is dead", ordinal), w, r)
		}
	}
	return all
}

// TestMembershipConverges tries everything: from every state that can be reached
// by doing the next step, by whatever may happen in between (the controller is
// late, pods start, a voter dies and comes back) and by undoing at any moment,
// the operation comes to its end or is undone. The journal aside, nothing of the
// program is part of the state, so that it may be killed and started again
// between any two writes. Throughout: no quorum is lost, no member restarts for
// no need, etcd is asked for nothing that it would refuse.
func TestMembershipConverges(t *testing.T) {
	t.Parallel()
	total := 0
	for _, s := range stories() {
		e := explorer{t: t, story: s, ends: map[world]bool{}}
		total += e.explore()
	}
	t.Logf("%d states", total)
	if total < 40_000 {
		t.Errorf("%d states: the state space has shrunk", total)
	}
}

type explorer struct {
	t     *testing.T
	story story
	ends  map[world]bool
}

func (e *explorer) explore() int {
	seen := map[world]bool{e.story.before: true}
	queue := []world{e.story.before}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		if !e.converges(w) {
			e.t.Fatalf("%s: no end from %+v: next is %+v", e.story.name, w, e.next(w))
		}
		for _, n := range e.after(w) {
			if n.restarted != "" {
				e.t.Fatalf("%s: restarted %s: %+v then %+v", e.story.name, n.restarted, w, n)
			}
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return len(seen)
}

func (e *explorer) record(w world) Record {
	r := e.story.record
	r.Undo = w.undo
	return r
}

func (e *explorer) next(w world) Step { return Next(w.observed(e.story.before), e.record(w)) }

// after is every state that may follow.
func (e *explorer) after(w world) []world {
	next := append(w.moves(), w.accidents()...)
	if n, moved := e.step(w); moved {
		next = append(next, n)
	}
	if !w.undo {
		w.undo = true
		next = append(next, w)
	}
	return next
}

func (e *explorer) step(w world) (world, bool) {
	s := e.next(w)
	if s.Act == Stop {
		e.t.Fatalf("%s: stops with %s at %+v", e.story.name, s.Message, w)
	}
	if w.undo && s.Act == RemoveMember && e.story.record.Operation == ScaleIn {
		e.t.Fatalf("%s: undone, and takes member %d away at %+v", e.story.name, s.Member, w)
	}
	n := w
	if fault := n.take(s, e.story.before, e.record(w)); fault != "" {
		e.t.Fatalf("%s: %+v %s at %+v", e.story.name, s, fault, w)
	}
	return n, n != w
}

// converges lets everything happen that will, and checks the end. With a voter
// dead the operation may wait for ever; undone, it must end all the same.
func (e *explorer) converges(w world) bool {
	path := []world{}
	for range 300 {
		if end, known := e.ends[w]; known {
			return e.remember(path, end)
		}
		path = append(path, w)
		if moves := w.moves(); len(moves) > 0 {
			w = moves[0]
			continue
		}
		n, moved := e.step(w)
		if !moved {
			return e.remember(path, e.ended(w))
		}
		w = n
	}
	return e.remember(path, false)
}

func (e *explorer) remember(path []world, end bool) bool {
	for _, w := range path {
		e.ends[w] = end
	}
	return end
}

func (e *explorer) ended(w world) bool {
	s, before := e.next(w), e.story.before.spec
	if s.Act == Wait {
		return w.ill() && (!w.undo || !w.quorate())
	}
	if s.Act != Done || w.spec.onDelete != before.onDelete || w.spec.partition != before.partition {
		return false
	}
	if slices.ContainsFunc(w.members[:], func(m modelMember) bool { return m.learner }) {
		return false
	}
	if e.story.record.Operation == Replace {
		return w.spec.template == before.template && (w.undo || e.replaced(w))
	}
	return e.scaled(w)
}

func (e *explorer) replaced(w world) bool {
	at := e.story.record.Ordinal
	voters, _ := w.votes()
	return voters == 3 && w.claims[at] == 2 && w.members[at].id > 3
}

// scaled wants members, replicas and claims to be the same in number, the number
// asked for unless it was undone, and an unchanged template where nothing came of it.
func (e *explorer) scaled(w world) bool {
	r := e.story.record
	voters, _ := w.votes()
	for at, m := range w.members {
		if (m.id == 0) != (w.claims[at] == 0) {
			return false
		}
	}
	if w.undo {
		return w.spec.replicas == voters && (voters > r.Replicas || w.spec.template == e.story.before.spec.template)
	}
	return w.spec.replicas == r.Target && voters == r.Target
}
