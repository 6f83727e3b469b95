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

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func entry(name string) etcdconf.Peer {
	return etcdconf.Peer{Name: name, URL: "http://" + name + ":2380"}
}

func entriesOf(names []string) (out []etcdconf.Peer) {
	for _, name := range names {
		out = append(out, entry(name))
	}
	return out
}

// joined returns the groups by what they list, at whatever time they were added.
func joined(all []lister) partition {
	parts, _ := listingsOf(all).join()
	return parts
}

// named returns the groups of listers by their first own entries, in order.
func named(all []lister, parts partition) []string {
	var out []string
	for _, group := range grouped(parts, all) {
		var names []string
		for _, one := range group {
			names = append(names, one.self[0].Name)
		}
		slices.Sort(names)
		out = append(out, strings.Join(names, " "))
	}
	slices.Sort(out)
	return out
}

// grown returns the members of a cluster that was started with some members and changed one by one, as
// etcd admits it: each lists those that were there when it was added.
func grown(random *rand.Rand, name string) []lister {
	made := 0
	next := func() string { made++; return fmt.Sprintf("%s%d", name, made-1) }
	var now []string
	lists := map[string][]string{}
	for range 1 + random.IntN(3) {
		now = append(now, next())
	}
	for _, member := range now {
		lists[member] = slices.Clone(now)
	}
	for range random.IntN(8) {
		if at := random.IntN(len(now)); len(now) > 1 && random.IntN(2) == 0 {
			now = slices.Delete(now, at, at+1)
		} else if len(now) < 7 {
			member := next()
			now = append(now, member)
			lists[member] = slices.Clone(now)
		}
	}
	var out []lister
	for _, member := range now {
		out = append(out, lister{namespace: "n", self: entriesOf([]string{member}), listed: entriesOf(lists[member])})
	}
	return out
}

// TestClustersThatGrew holds that the members of each of several clusters that etcd could have changed so
// are one cluster, and that what others list merges no two of them.
func TestClustersThatGrew(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	for range 3000 {
		var all []lister
		var want []string
		of, entries := map[string]string{}, []string{}
		for _, name := range []string{"a", "b", "c"}[:1+random.IntN(3)] {
			members := grown(random, name)
			want = append(want, named(members, one(len(members)))...)
			for _, m := range members {
				of[m.self[0].Name], entries = name, append(entries, m.self[0].Name)
			}
			all = append(all, members...)
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := named(all, joined(all)); !slices.Equal(got, want) {
			t.Fatalf("%+v\n got %q\nwant %q", all, got, want)
		}
		for i := range 1 + random.IntN(3) {
			x := fmt.Sprint("x", i)
			stray := lister{namespace: "n", self: entriesOf([]string{x}), listed: entriesOf([]string{x})}
			for range random.IntN(8) {
				stray.listed = append(stray.listed, entry(entries[random.IntN(len(entries))]))
			}
			if entries = append(entries, x); random.IntN(5) == 0 { // it advertises what another one does
				stray.self = append(stray.self, entry(entries[random.IntN(len(entries))]))
			}
			all = append(all, stray)
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, group := range named(all, joined(all)) {
			clusters := map[string]bool{}
			for member := range strings.FieldsSeq(group) {
				clusters[of[member]] = true
			}
			if delete(clusters, ""); len(clusters) > 1 {
				t.Fatalf("%+v\nmerges %q", all, group)
			}
		}
	}
}

// one is a partition in which all are of one group.
func one(n int) partition { return make(partition, n) }

// TestJoiningHasNoOrder holds that the order of random listers doesn't matter, that those with one key and
// those that list each other are together, and that namespaces are apart.
func TestJoiningHasNoOrder(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	for range 3000 {
		all := randomListers(random)
		l := listingsOf(all)
		parts := joined(all)
		got := named(all, parts)
		for i, a := range all {
			for j, b := range all {
				together := parts.first(i) == parts.first(j)
				mutual := l.of[l.keys.first(i)][l.keys.first(j)] && l.of[l.keys.first(j)][l.keys.first(i)]
				if (mutual || a.key != "" && a.key == b.key && a.namespace == b.namespace) && !together || together && a.namespace != b.namespace {
					t.Fatalf("%+v\n%d and %d: %q", all, i, j, got)
				}
			}
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if again := named(all, joined(all)); !slices.Equal(got, again) {
			t.Fatalf("%+v\n got %q\nthen %q", all, got, again)
		}
	}
}

func randomListers(random *rand.Rand) []lister {
	all := make([]lister, 1+random.IntN(9))
	for i := range all {
		all[i] = lister{namespace: fmt.Sprint("n", random.IntN(2)), key: []string{"", "", "", "k"}[random.IntN(4)], self: entriesOf([]string{fmt.Sprint("e", i)})}
		for range random.IntN(5) {
			all[i].listed = append(all[i].listed, entry(fmt.Sprint("e", random.IntN(10))))
		}
		if random.IntN(9) == 0 {
			all[i].self = append(all[i].self, entry(fmt.Sprint("e", random.IntN(10))))
		}
	}
	return all
}

// TestManyListers holds that more listers than any cluster has are not joined by what they list alone.
func TestManyListers(t *testing.T) {
	t.Parallel()
	all := []lister{{namespace: "n", self: entriesOf([]string{"a"}), listed: entriesOf([]string{"a", "b"})}, {namespace: "n", self: entriesOf([]string{"b"}), listed: entriesOf([]string{"a", "b"})}}
	for i := range 3000 {
		x := fmt.Sprint("x", i)
		all = append(all, lister{namespace: "n", self: entriesOf([]string{x}), listed: entriesOf([]string{"a", "b", x})})
	}
	if got := named(all, joined(all)); len(got) != 3001 || got[0] != "a b" {
		t.Errorf("%d groups, %q first", len(got), got[0])
	}
}
