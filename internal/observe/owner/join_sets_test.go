// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// TestJoinSetsLikeNaively compares the clusters of random StatefulSets with those that a search
// without any index finds, in any order of the StatefulSets.
func TestJoinSetsLikeNaively(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	entries := func(most int) (out []etcdconf.Peer) {
		for range random.IntN(most) {
			out = append(out, etcdconf.Peer{Name: fmt.Sprint("e", random.IntN(9))})
		}
		return out
	}
	for range 3000 {
		all := make([]listedSet, 1+random.IntN(8))
		for i := range all {
			all[i] = listedSet{&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s", i)}}, source.Peers{Own: entries(3), Others: entries(5)}}
		}
		got, want := setNames(joinSets(all)), setNames(setsNaively(all))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if again := setNames(joinSets(all)); !slices.Equal(got, want) || !slices.Equal(again, want) {
			t.Fatalf("seed %d: %+v\n got %q\nagain %q\nwant %q", seed, all, got, again, want)
		}
	}
}

// setsNaively grows each cluster until no other StatefulSet belongs to it.
func setsNaively(all []listedSet) [][]listedSet {
	lists := func(a, b listedSet) bool {
		return slices.ContainsFunc(a.peers.Others, func(e etcdconf.Peer) bool {
			owners := 0
			for _, s := range all {
				if slices.Contains(s.peers.Own, e) {
					owners++
				}
			}
			return owners == 1 && slices.Contains(b.peers.Own, e)
		})
	}
	var out [][]listedSet
	rest := slices.Clone(all)
	for len(rest) > 0 {
		group := rest[:1:1]
		rest = rest[1:]
		for grown := true; grown; {
			grown = false
			for i, s := range rest {
				if slices.ContainsFunc(group, func(g listedSet) bool { return lists(g, s) && lists(s, g) }) {
					group, rest, grown = append(group, s), slices.Delete(slices.Clone(rest), i, i+1), true
					break
				}
			}
		}
		out = append(out, group)
	}
	return out
}

func setNames(groups [][]listedSet) []string {
	var out []string
	for _, g := range groups {
		var names []string
		for _, s := range g {
			names = append(names, s.sts.Name)
		}
		slices.Sort(names)
		out = append(out, strings.Join(names, " "))
	}
	slices.Sort(out)
	return out
}
