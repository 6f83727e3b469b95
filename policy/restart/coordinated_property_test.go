// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"
)

// world is a cluster of three members during a coordinated restart. Its pods are letters: o an old
// pod, s one that stops, - none, n a new one, h a new one that is healthy.
type world struct {
	// phase is what the record has, and mark what the workload has.
	phase, mark Phase
	replicas    int
	pods        string
	// cut is how many of the two Services are cut.
	cut int
	// reached is true while clients reach endpoints.
	reached bool
	// aborted is true if any command with --abort has acted.
	aborted bool
	// over is true if the record is removed.
	over bool
}

const members, services = 3, 2

func (w world) facts(abort bool) Coordinated {
	letters := strings.NewReplacer("o", "v", "h", "d").Replace(w.pods)
	c := coordinated(letters, w.phase, w.replicas, members-strings.Count(w.pods, "-"))
	c.Abort, c.Mark, c.AllCut, c.AnyCut = abort, w.mark, w.cut == services, w.cut > 0
	if w.reached {
		c.Endpoints = 1
	}
	return c
}

// command returns the world after one step of the command. A crash needs no case of its own: a new
// command begins with the same facts.
func (w world) command(abort bool) (world, Act) {
	act, _ := NextCoordinated(w.facts(abort))
	w.aborted = w.aborted || abort && w.at() != Scheduled
	switch act {
	case MarkWorkload, UnmarkWorkload:
		if w.mark = ""; act == MarkWorkload {
			w.mark = Scheduled
		}
	case CutTraffic:
		w.cut = services
	case RestoreTraffic:
		w.cut, w.reached = 0, true
	case EnterStopping:
		w.phase, w.mark = Stopping, Stopping
	case EnterStarting:
		w.phase, w.mark = Starting, Starting
	case StopAll:
		w.replicas = 0
	case StartAll:
		w.replicas = members
	case Finish:
		w.over = true
	case Refuse, Await:
	}
	return w, act
}

func (w world) at() Phase { return w.facts(false).At() }

// halves returns what is left of an act of several writes if the command dies between them.
func (w world) halves(next world, act Act) []world {
	half := w
	half.aborted = next.aborted
	switch act { //nolint:exhaustive // the others change nothing here
	case EnterStopping, EnterStarting:
		half.phase = next.phase
	case CutTraffic, RestoreTraffic:
		half.cut, half.reached = 1, true
	default:
		return nil
	}
	return []world{half}
}

// moves returns what can happen in the cluster by itself: one pod stops, starts or becomes healthy,
// or clients lose their endpoints.
func (w world) moves() []world {
	var all []world
	if w.cut == services && w.reached {
		next := w
		next.reached = false
		all = append(all, next)
	}
	for i, pod := range w.pods {
		to := rune(0)
		switch {
		case pod == 's':
			to = '-'
		case w.replicas == 0 && pod != '-':
			to = 's'
		case w.replicas > 0 && pod == '-':
			to = 'n'
		case pod == 'n':
			to = 'h'
		}
		if to != 0 {
			next := w
			next.pods = w.pods[:i] + string(to) + w.pods[i+1:]
			all = append(all, next)
		}
	}
	return all
}

// TestCoordinatedWalk visits every state that commands, with and without --abort, crashes and the
// cluster can reach in any order.
func TestCoordinatedWalk(t *testing.T) {
	t.Parallel()
	begin := world{phase: Scheduled, replicas: members, pods: "ooo", reached: true}
	seen, queue := map[world]bool{begin: true}, []world{begin}
	visit := func(w world) {
		if !seen[w] {
			seen[w] = true
			queue = append(queue, w)
		}
	}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		w.check(t)
		if w.over {
			continue
		}
		for _, abort := range []bool{false, true} {
			next, act := w.command(abort)
			w.checkAct(t, act, abort)
			visit(next)
			for _, half := range w.halves(next, act) {
				visit(half)
			}
			w.ends(t, abort)
		}
		for _, next := range w.moves() {
			visit(next)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d states", len(seen))
	}
}

// check requires what holds in every state.
func (w world) check(t *testing.T) {
	t.Helper()
	before, after := strings.ContainsAny(w.pods, "os"), strings.ContainsAny(w.pods, "nh")
	if !w.aborted && before && after {
		t.Errorf("%+v: old and new members run at the same time", w)
	}
	if !w.aborted && w.cut < services && w.pods != "ooo" && w.pods != "hhh" {
		t.Errorf("%+v: clients reach a part of the members", w)
	}
	if w.over && (w.replicas != members || w.cut > 0 || w.mark != "" || strings.Contains(w.pods, "-")) {
		t.Errorf("%+v: it is over, and not as before", w)
	}
}

// checkAct requires what holds for an act in a state.
//
//nolint:gocyclo // one check after the other
func (w world) checkAct(t *testing.T, act Act, abort bool) {
	t.Helper()
	bad := false
	switch act {
	case StopAll:
		bad = w.mark != Stopping || abort
	case StartAll:
		bad = w.mark != Starting
	case EnterStopping:
		bad = w.mark != Scheduled || w.cut < services || w.reached
	case EnterStarting:
		bad = w.mark != Stopping || !abort && w.pods != "---"
	case CutTraffic, MarkWorkload:
		bad = w.at() != Scheduled
	case RestoreTraffic, UnmarkWorkload, Finish:
		bad = strings.ContainsAny(w.pods, "-s") || !abort && strings.Contains(w.pods, "n")
	case Refuse:
		bad = true
	case Await:
	}
	if bad {
		t.Errorf("%+v with abort %t: act %d", w, abort, act)
	}
}

// ends requires that the same command, repeated, ends the restart in a cluster that does its work.
func (w world) ends(t *testing.T, abort bool) {
	t.Helper()
	from := w
	for range 50 {
		for moves := w.moves(); len(moves) > 0; moves = w.moves() {
			w = moves[0]
		}
		if w, _ = w.command(abort); w.over {
			w.check(t)
			return
		}
	}
	t.Errorf("%+v with abort %t never ends: %+v", from, abort, w)
}
