// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package eviction

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// world is a cluster as it is. It is written as policytest.Kinds in order, with two more letters:
// e is a voter that is being evicted, with a record, and still there; r is a voter that has no
// replica any more and is still there; - is a voter that is gone.
type world string

// lives reports whether the member behind a letter takes part in etcd, and votes whether it
// is a voter.
func lives(letter rune) bool { return strings.ContainsRune("vmVM", letter) }
func votes(letter rune) bool { return strings.ContainsRune("vxpmer-", letter) }

// hasQuorum is a naive reading of etcd: do more than half of all voters live? An evicted
// member is as good as gone.
func (w world) hasQuorum() bool {
	alive, voters := 0, 0
	for _, letter := range w {
		voters += policytest.ToInt(votes(letter))
		alive += policytest.ToInt(votes(letter) && lives(letter))
	}
	return 2*alive > voters
}

// facts are what the guard sees of the world when the pod of an ordinal is to be evicted. If named is false, nothing
// shows which members are learners, and they joined a moment ago.
func (w world) facts(at int, named bool) Facts {
	f := Facts{Cluster: policytest.ClusterOf(strings.Repeat("v", len(w))), Settle: time.Minute}
	members := f.Cluster.Members
	f.Cluster.Members = nil
	for i, letter := range w {
		m := members[i]
		kind := strings.ToLower(string(letter))
		m.PodReady, m.Ready = strings.Contains("vper", kind), strings.Contains("vmer", kind)
		m.Learner, m.Joined = named && !votes(letter), !votes(letter)
		if kind == "e" {
			f.UnderWay = append(f.UnderWay, UnderWay{Pod: m.Pod})
		}
		if kind == "r" {
			f.Removed = append(f.Removed, m.Pod)
		}
		if letter != '-' {
			f.Cluster.Members = append(f.Cluster.Members, m)
		}
	}
	f.Pod = members[at].Pod
	return f
}

// next returns the worlds after an admitted eviction: the pod is still there, or gone. A pod
// that the guard doesn't record is gone at once, as its member was of no use.
func (w world) next(at int, record bool) []world {
	put := func(letter string) world {
		sorted := []byte(string(w[:at]) + letter + string(w[at+1:]))
		slices.Sort(sorted)
		return world(sorted)
	}
	gone := put("-")
	if !votes(rune(w[at])) {
		return []world{put("")}
	}
	if record {
		return []world{put("e"), gone}
	}
	return []world{gone}
}

// everyWorld calls f with all clusters of up to size members, one for each combination.
func everyWorld(size int, f func(world)) {
	var fill func(w string, from int)
	fill = func(w string, from int) {
		if w != "" {
			f(world(w))
		}
		if len(w) == size {
			return
		}
		for k := from; k < len(letters); k++ {
			fill(w+letters[k:k+1], k)
		}
	}
	fill("", 0)
}

const letters = "-MPVXmprvx" // in the order of their bytes

// TestNoSequenceLosesQuorum walks through all sequences of evictions that the guard admits,
// from every cluster of two to seven members. No sequence may lose a quorum that was there.
func TestNoSequenceLosesQuorum(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		walkWorlds(t, named)
	}
}

func walkWorlds(t *testing.T, named bool) {
	t.Helper()
	seen, admitted := map[world]bool{}, 0
	var walk func(w, from world)
	walk = func(w, from world) {
		if seen[w] {
			return
		}
		seen[w] = true
		if !w.hasQuorum() {
			t.Errorf("%s became %s, which has no quorum; learners are named: %t", from, w, named)
			return
		}
		for at, letter := range w {
			if strings.ContainsRune("-er", letter) || at > 0 && w[at-1] == w[at] {
				continue // members of a kind are alike
			}
			if r := Evaluate(w.facts(at, named)); r.Allowed {
				admitted++
				for _, after := range w.next(at, r.Record) {
					walk(after, from)
				}
			}
		}
	}
	everyWorld(7, func(w world) {
		if len(w) > 1 && w.hasQuorum() {
			walk(w, w)
		}
	})
	if admitted < 900 {
		t.Errorf("only %d evictions were admitted", admitted)
	}
	t.Logf("%d worlds, %d evictions", len(seen), admitted)
}

// TestBrokenMemberCanGo holds that an unhealthy member may be evicted wherever the healthy voters
// beside it are a quorum, and that one eviction of a healthy cluster of three or more is admitted.
func TestBrokenMemberCanGo(t *testing.T) {
	t.Parallel()
	everyWorld(7, func(w world) {
		healthy := strings.Count(string(w), "v")
		voters := len(w)
		for _, letter := range w {
			voters -= policytest.ToInt(!votes(letter))
		}
		for at, letter := range w {
			if strings.ContainsRune("-r", letter) || at > 0 && w[at-1] == w[at] {
				continue
			}
			r := Evaluate(w.facts(at, true))
			switch {
			case strings.ContainsRune("xpm", letter) && 2*healthy > voters && !r.Allowed:
				t.Errorf("%s: unhealthy %d may not go: %s", w, at, r.Message)
			case letter == 'v' && 2*(healthy-1) > voters && !r.Allowed:
				t.Errorf("%s: healthy %d may not go: %s", w, at, r.Message)
			}
		}
	})
}
