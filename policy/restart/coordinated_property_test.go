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

	// listed has the peer URLs of each member in etcd's list: a those of the old pods, b those of the new.
	listed string
	// secures is true if the new pods have TLS between members and the old ones have not, and false for
	// the reverse.
	secures bool
	// broke is true if the connections between old pods have ended, so that members dial each other again.
	broke bool
	// alone is true if one member has restarted by itself, with the new template.
	alone bool
}

const members, services = 3, 2

func (w world) facts(abort bool) Coordinated {
	letters, leader := []byte(w.pods), w.leader()
	for i, pod := range w.pods {
		switch healthy := leader >= 0 && w.contact(leader, i); {
		case pod == 'o' && healthy:
			letters[i] = 'v'
		case pod == 'o':
			letters[i] = 'x'
		case pod == 'h' && healthy:
			letters[i] = 'd'
		case pod == 'h':
			letters[i] = 'n'
		}
	}
	c := coordinated(string(letters), w.phase, w.replicas, members-strings.Count(w.pods, "-"))
	c.Abort, c.Mark, c.AllCut, c.AnyCut = abort, w.mark, w.cut == services, w.cut > 0
	if w.reached {
		c.Endpoints = 1
	}
	for i := range c.Members {
		right := w.right(i, c.ByNextPods())
		c.Members[i].PeersDiffer = right != 0 && w.listed[i] != right
		c.Members[i].PeersServed = w.right(i, false) == right
	}
	return c
}

// right returns the URLs that a member is to have in the list, 0 where nothing shows them.
func (w world) right(i int, next bool) byte {
	switch {
	case next, w.pods[i] == 'n', w.pods[i] == 'h':
		return 'b'
	case w.pods[i] == 'o':
		return 'a'
	}
	return 0
}

func (w world) runs(i int) bool { return w.pods[i] == 'o' || w.pods[i] == 'h' }

// dials reports whether one member can connect to another. One without TLS can't dial one with it,
// and one with TLS can dial both.
func (w world) dials(from, to int) bool {
	fits := w.listed[to] == 'a' // for what the other one serves
	if w.pods[to] == 'h' {
		fits = w.listed[to] == 'b'
	}
	fromTLS, toTLS := (w.pods[from] == 'h') == w.secures, (w.pods[to] == 'h') == w.secures
	return fits && (fromTLS || !toTLS)
}

func (w world) contact(i, j int) bool {
	kept := w.pods[i] == 'o' && w.pods[j] == 'o' && !w.broke
	return w.runs(i) && w.runs(j) && (i == j || kept || w.dials(i, j) || w.dials(j, i))
}

// leader returns the member that leads. Of those that can, it is the one that reaches the fewest others,
// -1 if there is no quorum.
func (w world) leader() int {
	best, fewest := -1, members+1
	for i := range members {
		reaches := 0
		for j := range members {
			if w.contact(i, j) {
				reaches++
			}
		}
		if reaches > members/2 && reaches < fewest {
			best, fewest = i, reaches
		}
	}
	return best
}

// command returns the world after one step of the command. A crash needs no case of its own: a new
// command begins with the same facts.
func (w world) command(abort bool) (world, Act) {
	facts := w.facts(abort)
	act, _ := NextCoordinated(facts)
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
	case UpdatePeers:
		at, _ := facts.NextUpdate()
		w.listed = w.listed[:at] + string(w.right(at, facts.ByNextPods())) + w.listed[at+1:]
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
	return append(all, w.podMoves()...)
}

// faults returns what can go wrong: connections end, or a member restarts by itself.
func (w world) faults() []world {
	var all []world
	if !w.broke {
		next := w
		next.broke = true
		all = append(all, next)
	}
	for i, pod := range w.pods {
		if pod == 'o' && !w.alone && !w.aborted && w.at() == Scheduled {
			next := w
			next.pods, next.alone = w.pods[:i]+"n"+w.pods[i+1:], true
			all = append(all, next)
		}
	}
	return all
}

func (w world) podMoves() []world {
	var all []world
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
	for _, secures := range []bool{true, false} {
		walk(t, world{phase: Scheduled, replicas: members, pods: "ooo", reached: true, listed: "aaa", secures: secures})
	}
}

func walk(t *testing.T, begin world) {
	t.Helper()
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
		for _, next := range append(w.moves(), w.faults()...) {
			visit(next)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d states", len(seen))
	}
}

// check requires what holds in every state.
//
//nolint:gocyclo // one check a promise
func (w world) check(t *testing.T) {
	t.Helper()
	before, after := strings.ContainsAny(w.pods, "os"), strings.ContainsAny(w.pods, "nh")
	if !w.aborted && !w.alone && before && after {
		t.Errorf("%+v: old and new members run at the same time", w)
	}
	if !w.aborted && !w.alone && w.cut < services && w.pods != "ooo" && w.pods != "hhh" {
		t.Errorf("%+v: clients reach a part of the members", w)
	}
	if w.over && (w.replicas != members || w.cut > 0 || w.mark != "" || strings.Contains(w.pods, "-")) {
		t.Errorf("%+v: it is over, and not as before", w)
	}
	if (w.pods == "ooo" || w.pods == "hhh") && w.leader() < 0 {
		t.Errorf("%+v: the members don't reach each other", w)
	}
	if w.over && (w.pods == "ooo" && w.listed != "aaa" || w.pods == "hhh" && !w.aborted && w.listed != "bbb") {
		t.Errorf("%+v: it is over, and the member list is not that of the pods", w)
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
	case UpdatePeers:
		bad = w.mark == "" || w.leader() < 0 || !abort && w.at() == Scheduled && (w.cut < services || w.reached)
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

// stranded reports whether an abort left old and new members that may not be in contact: connections had ended
// before, or it did not wait until they could change the list. Then --abort ends the restart, and another one
// begins.
func (w world) stranded() bool {
	return w.aborted && (w.broke || w.mark == "") && strings.Contains(w.pods, "o") && strings.ContainsAny(w.pods, "-snh")
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
	if abort || !w.stranded() {
		t.Errorf("%+v with abort %t never ends: %+v", from, abort, w)
	}
}
