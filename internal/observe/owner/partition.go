// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

// partition has, for each thing, another one of its group, or itself. The last one in that chain
// is the first of the group.
type partition []int

// newPartition returns a partition of n things, each in a group of its own.
func newPartition(n int) partition {
	p := make(partition, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func (p partition) first(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

func (p partition) join(i, j int) {
	low, high := min(p.first(i), p.first(j)), max(p.first(i), p.first(j))
	p[high] = low
}

// grouped returns the things of each group, in the order of the first ones.
func grouped[T any](p partition, things []T) [][]T {
	var out [][]T
	at := map[int]int{}
	for i, thing := range things {
		first := p.first(i)
		if _, known := at[first]; !known {
			at[first] = len(out)
			out = append(out, nil)
		}
		out[at[first]] = append(out[at[first]], thing)
	}
	return out
}
