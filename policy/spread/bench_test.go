// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"testing"
)

// BenchmarkSpread has clusters of nodes up to the size that Kubernetes
// supports, and the layouts of volumes that take longest to judge.
func BenchmarkSpread(b *testing.B) {
	for _, nodes := range []int{6, 500, 5000} {
		var at []Node
		var everywhere []string
		inZone := make([][]string, 3)
		for i := range nodes {
			p := Node{Name: fmt.Sprintf("node-%d", i), Zone: string(rune('a' + i%3))}
			at = append(at, p)
			everywhere = append(everywhere, p.Name)
			inZone[i%3] = append(inZone[i%3], p.Name)
		}
		layouts := map[string]func(i int) Volume{
			"free":       func(int) Volume { return Volume{} },
			"zonal":      func(i int) Volume { return Volume{State: Bound, Nodes: inZone[i%3]} },
			"local":      func(i int) Volume { return Volume{State: Bound, Nodes: everywhere[i%nodes : i%nodes+1]} },
			"everywhere": func(int) Volume { return Volume{State: Bound, Nodes: everywhere} },
		}
		for _, layout := range []string{"free", "zonal", "local", "everywhere"} {
			for _, size := range []int{3, 5, 9} {
				f := Facts{Size: size, Ordinal: size - 1, Nodes: at, Ordered: true}
				for i := range size {
					f.Volumes = append(f.Volumes, layouts[layout](i))
				}
				b.Run(fmt.Sprintf("%s/members=%d/nodes=%d", layout, size, nodes), func(b *testing.B) {
					for b.Loop() {
						Evaluate(f, Settings{Topology: TopologyZone})
					}
				})
			}
		}
	}
	b.Run("everywhere in eight zones/members=9/nodes=5000", func(b *testing.B) {
		f := Facts{Size: 9}
		for i := range 5000 {
			f.Nodes = append(f.Nodes, Node{Name: fmt.Sprintf("node-%d", i), Zone: string(rune('a' + i%8))})
		}
		var all []string
		for _, p := range f.Nodes {
			all = append(all, p.Name)
		}
		for range f.Size {
			f.Volumes = append(f.Volumes, Volume{State: Bound, Nodes: all})
		}
		for b.Loop() {
			Evaluate(f, Settings{Topology: TopologyZone})
		}
	})
}
