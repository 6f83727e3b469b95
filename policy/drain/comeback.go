// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"cmp"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Back is how an evicted member comes back.
type Back struct {
	Eviction
	// Reason is AwaitMember, AwaitUncordon, HostsUnknown or, for a member that nothing waits for
	// because its pod was not Ready, the zero Reason.
	Reason policy.Reason
	// Uncordon is the node to uncordon if no other node can run the member.
	Uncordon string
	// Message is for users.
	Message string
}

// placement is where the members run, and which nodes get new pods, during the waves.
type placement struct {
	board *board
	open  map[string]bool
	zone  map[string]string
	node  map[string]string // of each member by its name
}

// newPlacement returns the placement while all nodes to drain are cordoned.
func (b *board) newPlacement() *placement {
	s := &placement{board: b, open: map[string]bool{}, zone: map[string]string{}, node: map[string]string{}}
	for _, h := range b.facts.Hosts {
		s.open[h.Name], s.zone[h.Name] = h.Open, h.Zone
	}
	for node := range b.fails {
		s.open[node] = false
	}
	for i := range b.facts.Clusters {
		c := &b.facts.Clusters[i]
		for _, pod := range c.Pods {
			s.node[member{cluster: c, pod: pod}.name()] = pod.Node
		}
	}
	return s
}

// find returns a node for a member, empty if there is none. Members in leaving occupy no node.
func (s *placement) find(m member, leaving map[string]bool) string {
	for _, host := range slices.Sorted(slices.Values(m.pod.Hosts)) {
		if s.open[host] && s.admits(m, host, leaving) {
			return host
		}
	}
	return ""
}

// admits reports whether the terms of a member admit a node beside the other members.
func (s *placement) admits(m member, host string, leaving map[string]bool) bool {
	there, before := 0, 0
	for _, o := range m.cluster.Pods {
		other := member{cluster: m.cluster, pod: o}
		at := s.node[other.name()]
		if o.Name == m.pod.Name || at == "" || leaving[other.name()] {
			continue
		}
		if at == host && m.pod.ApartByHost {
			return false
		}
		if s.zone[at] == s.zone[host] {
			there++
		}
		if s.zone[at] == s.zone[m.pod.Node] {
			before++
		}
	}
	return !m.pod.ApartByZone || there <= before
}

// comeBack adds to each wave what is to be awaited after it.
func (b *board) comeBack(p *Plan) {
	s := b.newPlacement()
	for i := range p.Blocked { // they are not cordoned
		s.open[p.Blocked[i].Node] = b.opens(p.Blocked[i].Node)
	}
	for i := range p.Waves {
		w := &p.Waves[i]
		members := slices.DeleteFunc(b.podsOn(w.Nodes...), func(m member) bool { return m.pod.Idle })
		leaving := map[string]bool{}
		for _, m := range members {
			leaving[m.name()] = true
		}
		// Those with the fewest nodes choose first.
		slices.SortStableFunc(members, func(x, y member) int { return cmp.Compare(len(x.pod.Hosts), len(y.pod.Hosts)) })
		var uncordon []string
		for _, m := range members {
			back := s.findNode(m, leaving)
			if back.Uncordon != "" {
				uncordon = append(uncordon, back.Uncordon)
			}
			w.Back = append(w.Back, back)
		}
		slices.SortFunc(w.Back, func(x, y Back) int {
			return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Cluster, y.Cluster), cmp.Compare(x.Pod, y.Pod))
		})
		for _, node := range uncordon {
			s.open[node] = true
		}
	}
}

// opens reports whether a node gets new pods if it is not drained.
func (b *board) opens(node string) bool {
	return slices.ContainsFunc(b.facts.Hosts, func(h Host) bool { return h.Name == node && h.Open })
}

// findNode finds a node for an evicted member, and describes what is awaited.
func (s *placement) findNode(m member, leaving map[string]bool) Back {
	back := Back{Eviction: m.eviction()}
	if m.pod.HostsUnknown != "" {
		s.node[m.name()] = ""
		if m.pod.Ready {
			back.Reason = HostsUnknown
			back.Message = "wait until pod " + m.name() + " is ready. It is not known whether another node can run it: " + m.pod.HostsUnknown
		}
		return back
	}
	host := s.find(m, leaving)
	delete(leaving, m.name())
	s.node[m.name()] = cmp.Or(host, m.pod.Node)
	if host == "" && slices.Contains(m.pod.Hosts, m.pod.Node) {
		back.Uncordon = m.pod.Node
	}
	switch {
	case !m.pod.Ready:
	case host != "":
		back.Reason, back.Message = AwaitMember, "wait until pod "+m.name()+" is ready"
	case back.Uncordon != "":
		back.Reason = AwaitUncordon
		back.Message = "no other node can run pod " + m.name() + ": uncordon " + m.pod.Node + " after its maintenance, and wait until the pod is ready"
	default:
		back.Reason, back.Message = AwaitUncordon, "no node can run pod "+m.name()+": add one, and wait until the pod is ready"
	}
	return back
}
