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
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestJoinedSetsAreNoLooser has random StatefulSets, in any order. If those that joined a cluster by a list
// that is not returned are no members of it, then its quorum still leaves a quorum of the others.
func TestJoinedSetsAreNoLooser(t *testing.T) {
	t.Parallel()
	random, late := seeded(t), 0
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
		groups := joinSets(all)
		got := setNames(groups)
		for _, group := range groups {
			late += noLooser(t, group)
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if again := setNames(joinSets(all)); !slices.Equal(got, again) {
			t.Fatalf("%+v\n got %q\nagain %q", all, got, again)
		}
	}
	if late < 100 {
		t.Errorf("only %d StatefulSets joined by a list that is not returned", late)
	}
}

// noLooser checks one cluster, and returns how many joined it by a list that is not returned.
func noLooser(t *testing.T, group []listedSet) int {
	t.Helper()
	if len(group) == 1 {
		return 0
	}
	joined, missing := 0, map[etcdconf.Peer]bool{}
	for _, set := range group {
		joined += toInt(set.late)
		for _, e := range set.peers.Others {
			missing[e] = true
		}
	}
	for _, set := range group {
		for _, e := range set.peers.Own {
			delete(missing, e)
		}
	}
	o := ownerOfSets(group)[0]
	real := len(group) - joined + len(missing)
	if left := policy.Quorum(int(o.Replicas)+o.Elsewhere) - joined; left < policy.Quorum(real) {
		t.Errorf("%q: %d of %d are left", setNames([][]listedSet{group}), left, real)
	}
	return joined
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
