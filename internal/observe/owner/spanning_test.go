// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// TestJoinedSetsListEachOther has random StatefulSets, in any order. Two are in one cluster only if a chain
// of StatefulSets leads from one to the other of which each lists an entry of the next, and is listed by
// it. One that lists another and is not listed by it is noted.
func TestJoinedSetsListEachOther(t *testing.T) {
	t.Parallel()
	random, joined, noted := seeded(t), 0, 0
	entries := func(most int) (out []etcdconf.Peer) {
		for range random.IntN(most) {
			out = append(out, entry(fmt.Sprint("e", random.IntN(9))))
		}
		return out
	}
	for range 3000 {
		all := make([]listedSet, 1+random.IntN(8))
		for i := range all {
			own := append(entries(2), entry(fmt.Sprint("e", i)))
			all[i] = listedSet{sts: &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s", i)}}, peers: source.Peers{Own: own, Others: entries(6)}}
		}
		want := naiveSets(all)
		got := setNames(joinSets(all))
		if !slices.Equal(got, want) {
			t.Fatalf("%+v\n got %q\nwant %q", all, got, want)
		}
		joined += len(all) - len(got)
		for i := range all {
			one := slices.ContainsFunc(all, func(by listedSet) bool { return listsOne(all, by, all[i]) && !listsOne(all, all[i], by) })
			if one != (len(all[i].listedBy) > 0) {
				t.Fatalf("%+v\n%s is listed by %d, want one: %t", all, all[i].sts.Name, len(all[i].listedBy), one)
			}
			noted += toInt(one)
		}
	}
	if joined < 100 || noted < 100 {
		t.Errorf("only %d StatefulSets joined another, and %d are listed by one that they do not list", joined, noted)
	}
}

// naiveSets joins StatefulSets until nothing changes.
func naiveSets(all []listedSet) []string {
	groups := make([][]listedSet, 0, len(all))
	for _, set := range all {
		groups = append(groups, []listedSet{set})
	}
	for {
		a, b := mutualGroups(all, groups)
		if a < 0 {
			return setNames(groups)
		}
		groups[a] = append(groups[a], groups[b]...)
		groups = slices.Delete(groups, b, b+1)
	}
}

func mutualGroups(all []listedSet, groups [][]listedSet) (a, b int) {
	for a := range groups {
		for b := a + 1; b < len(groups); b++ {
			for _, one := range groups[a] {
				for _, other := range groups[b] {
					if listsOne(all, one, other) && listsOne(all, other, one) {
						return a, b
					}
				}
			}
		}
	}
	return -1, -1
}

// listsOne reports whether a StatefulSet lists an entry that another one alone advertises.
func listsOne(all []listedSet, by, other listedSet) bool {
	return by.sts != other.sts && slices.ContainsFunc(by.peers.Others, func(e etcdconf.Peer) bool {
		claims := 0
		for _, set := range all {
			claims += toInt(slices.Contains(set.peers.Own, e))
		}
		return claims == 1 && slices.Contains(other.peers.Own, e)
	})
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
