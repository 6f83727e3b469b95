// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

const letters = "vLlxmbs-ncdD?"

// everyState calls f with each combination of up to size members, with at most one leader.
func everyState(size int, f func(string)) {
	var fill func(string)
	fill = func(state string) {
		if state != "" {
			f(state)
		}
		if len(state) == size {
			return
		}
		for _, letter := range letters {
			if strings.ContainsRune("LD", letter) && strings.ContainsAny(state, "LD") {
				continue
			}
			fill(state + string(letter))
		}
	}
	fill("")
}

// TestNeverAtRisk asks in every state of up to five members: a naive reading of etcd never loses
// what a step takes.
func TestNeverAtRisk(t *testing.T) {
	t.Parallel()
	states, restarts := 0, 0
	everyState(5, func(state string) {
		states++
		s := Next(facts(state))
		if s.Kind != Restart && s.Kind != MoveLeader {
			return
		}
		restarts++
		at := int(s.Pod[len(s.Pod)-1] - '0')
		if strings.ContainsAny(state, "s-nc") {
			t.Errorf("%s: %s, while another member restarts", state, s.Pod)
		}
		if strings.ContainsRune("dDnc?", rune(state[at])) {
			t.Errorf("%s: %s is restarted twice", state, s.Pod)
		}
		if s.Kind == Restart && state[at] == 'L' && voters(state) > 1 {
			t.Errorf("%s: the leader %s stops", state, s.Pod)
		}
		without := state[:at] + "x" + state[at+1:]
		if state[at] == 'l' {
			without = state[:at] + state[at+1:]
		}
		if voters(state) > 1 && 2*answering(without) <= voters(state) {
			t.Errorf("%s: quorum is lost without %s", state, s.Pod)
		}
		if repairable := strings.ContainsAny(state, "xm"); repairable != strings.ContainsRune("xm", rune(state[at])) {
			t.Errorf("%s: %s is restarted, and a broken member waits", state, s.Pod)
		}
	})
	t.Logf("%d states, %d restarts", states, restarts)
	if restarts < 1000 {
		t.Errorf("only %d restarts", restarts)
	}
}

// voters counts the voters of a state, and answering those that take part in etcd.
func voters(state string) int { return len(state) - strings.Count(state, "l") }

func answering(state string) (n int) {
	for _, letter := range state {
		n += policytest.ToInt(strings.ContainsRune("vLmbcdD", letter))
	}
	return n
}

// TestEnds plays every healthy cluster of three to five members to the end, with elections at
// random: each member restarts once, one at a time, and the leader is the last wherever it stays
// the leader.
func TestEnds(t *testing.T) {
	t.Parallel()
	random := policytest.Seed(t)
	for range 2000 {
		state := []byte(strings.Repeat("v", 3+random.IntN(3)))
		state[random.IntN(len(state))] = 'L'
		elections := random.IntN(2) == 0
		var done []string
		for step := 0; ; step++ {
			if step > 200 {
				t.Fatalf("%s never ends", state)
			}
			if elections && random.IntN(6) == 0 {
				elect(state, random.IntN(len(state)))
			}
			s := Next(facts(string(state)))
			if s.Kind == Done {
				break
			}
			at := slices.IndexFunc(facts(string(state)).Members, func(m Member) bool { return m.Pod == s.Pod })
			switch s.Kind {
			case Wait:
				state[at] = map[byte]byte{'s': '-', '-': 'n', 'n': 'c', 'c': 'd'}[state[at]]
			case MoveLeader:
				elect(state, (at+1)%len(state))
			case Restart:
				state[at] = 's'
				done = append(done, s.Pod)
			case Blocked, Done:
				t.Fatalf("%s: blocked: %s", state, s.Message)
			}
		}
		slices.Sort(done)
		if len(done) != len(state) || len(slices.Compact(done)) != len(state) {
			t.Fatalf("%s: restarted %v", state, done)
		}
	}
}

// elect has the member at an index lead, if it can.
func elect(state []byte, to int) {
	if !strings.ContainsRune("vd", rune(state[to])) {
		return
	}
	for i := range state {
		switch state[i] {
		case 'L':
			state[i] = 'v'
		case 'D':
			state[i] = 'd'
		}
	}
	state[to] = map[byte]byte{'v': 'L', 'd': 'D'}[state[to]]
}
