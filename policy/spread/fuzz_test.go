// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"math"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// FuzzSpread takes any facts: no panic, each key at most once and none of the
// user's own, minDomains only where the term is required and the zones are
// there, and nothing required of what no node could meet.
func FuzzSpread(f *testing.F) {
	f.Add(3, 0, "aabbcc", "a b c", "Zone", "Required", "TopologySpread", ZoneKey, "", false)
	f.Add(5, 4, "aabbcc", "a1 a1 ? ! -", "Zone", "Required", "AntiAffinity", ZoneKey, HostnameKey, true)
	f.Add(math.MaxInt, math.MaxInt, "", "gone", "", "", "", "", "", true)
	f.Add(math.MinInt, math.MinInt, "a.", "- - -", "x", "y", "z", HostnameKey, ZoneKey, false)
	f.Add(9, 1, "abcdefgh", "a,b,c,d,e,f,g,h a,b,c,d,e,f,g,h - - - - - - -", "Auto", "Required", "", ZoneKey, "", true)
	f.Fuzz(func(t *testing.T, size, ordinal int, zones, claims, topology, enforcement, form, zoneKey, own string, ordered bool) {
		at := nodesIn(zones)
		facts := Facts{Size: size, Ordinal: ordinal, Nodes: at, Volumes: volumes(claims, at), Ordered: ordered, OwnKeys: []string{own}}
		v := Evaluate(facts, Settings{Topology: Topology(topology), Enforcement: Enforcement(enforcement), Form: Form(form), ZoneKey: zoneKey})
		if size <= 1 && len(v.Terms) > 0 || len(v.Terms) > 2 {
			t.Errorf("%d members get %s", size, inShort(v.Terms))
		}
		for _, term := range v.Terms {
			if term.TopologyKey == own || term.TopologyKey == "" {
				t.Errorf("term for %q beside the user's own for %q", term.TopologyKey, own)
			}
			checkTerm(t, term, size, Enforcement(enforcement) != Preferred)
		}
		for _, n := range v.Notes {
			if n.Reason == (policy.Reason{}) || n.Message == "" {
				t.Errorf("empty note %+v", n)
			}
		}
	})
}

func checkTerm(t *testing.T, term Term, size int, required bool) {
	t.Helper()
	if term.MinDomains > 0 && (!term.Hard || term.Kind != TopologySpread || term.MinDomains != size) {
		t.Errorf("minDomains in %+v", term)
	}
	if term.Hard && !required {
		t.Errorf("required: %+v", term)
	}
}
