// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import "slices"

// take does a step, in one write. It returns a text for what must not
// happen, empty when all is well.
func (w *world) take(s Step, before world, r Record) string {
	quorate := w.quorate()
	switch s.Act {
	case MoveLeader:
		w.leader = int(s.TransferTo)
	case AddLearner, Promote, RemoveMember:
		if fault := w.change(s); fault != "" {
			return fault
		}
	case SetReplicas, DeleteClaims, DeletePod, AdoptPod:
		w.touch(s)
	case SetPartition, SetOnDelete, SetBootstrap, RestoreTemplate, RestoreStrategy:
		w.write(s, before, r)
	case Done, Stop, Wait:
	}
	if quorate && !w.quorate() {
		return "lost quorum"
	}
	return ""
}

func (w *world) touch(s Step) {
	if s.Act == SetReplicas {
		w.spec.replicas = s.Number
		return
	}
	p := &w.pods[s.Ordinal]
	p.terminating = p.terminating || s.Act == DeletePod
	if s.Act == AdoptPod {
		p.revision = w.update()
	}
	if s.Act == DeleteClaims {
		w.dying[s.Ordinal] = true
		w.reap(s.Ordinal)
	}
}

// write is the update strategy and the template.
func (w *world) write(s Step, before world, r Record) {
	switch s.Act { //nolint:exhaustive // the others are take's
	case SetPartition:
		w.spec.partition = s.Number
	case SetOnDelete:
		w.spec.onDelete, w.spec.partition = true, 0
	case SetBootstrap:
		w.spec.template = modelTemplate(s.Bootstrap)
	case RestoreTemplate:
		w.spec.template = before.spec.template
	default:
		w.spec.onDelete, w.spec.partition = r.OnDelete, r.Partition
	}
}

// change is etcd's part.
func (w *world) change(s Step) string {
	if !w.quorate() {
		return "asked etcd without a quorum"
	}
	voters, healthy := w.votes()
	m := &w.members[s.Ordinal]
	switch s.Act { //nolint:exhaustive // the others are not etcd's
	case AddLearner:
		if voters != healthy || slices.ContainsFunc(w.members[:], func(m modelMember) bool { return m.learner }) {
			return "etcd refuses a learner"
		}
		*m = modelMember{id: w.nextID, learner: true}
		w.nextID++
	case Promote:
		if !m.learner || !m.caught || !w.healthy(s.Ordinal) {
			return "promoted too early"
		}
		m.learner = false
	default:
		if m.id != int(s.Member) {
			return "removed another member"
		}
		if w.leader == m.id {
			return "removed the leader"
		}
		*m = modelMember{}
	}
	return ""
}

// moves are all that may happen by itself from here, one thing at a time.
func (w world) moves() []world {
	var next []world
	add := func(change func(*world)) {
		n := w
		change(&n)
		if n != w {
			next = append(next, n)
		}
	}
	add((*world).observe)
	for at := range ordinals {
		add(func(n *world) { n.labels[at] = n.pods[at].revision; n.count() })
		add(func(n *world) { n.control(at) })
		add(func(n *world) { n.kubelet(at) })
	}
	return next
}

// accidents are what may happen and need not.
func (w world) accidents() []world {
	var next []world
	for at := range ordinals {
		if w.deaths > 0 && w.healthy(at) {
			n := w
			n.deaths--
			n.members[at].dead = true
			n.elect()
			next = append(next, n)
		}
		m := w.members[at]
		if m.dead {
			n := w
			n.members[at].dead = false
			next = append(next, n)
		}
		if w.elections > 0 && w.healthy(at) && !m.learner && w.leader != m.id {
			n := w
			n.elections--
			n.leader = m.id
			next = append(next, n)
		}
	}
	return next
}

func (w *world) elect() {
	for at, m := range w.members {
		if m.id == w.leader && w.healthy(at) && !m.learner {
			return
		}
	}
	for at, m := range w.members {
		if w.healthy(at) && !m.learner {
			w.leader = m.id
			return
		}
	}
}

// observe is the StatefulSet's controller reading its object and writing status.
func (w *world) observe() {
	w.seen = w.spec
	w.count()
}

func (w *world) count() {
	w.settled = true
	for at := range w.seen.replicas {
		w.settled = w.settled && w.pods[at].uid != 0 && !w.pods[at].terminating && w.labels[at] == w.update()
	}
	if w.settled && !w.seen.onDelete {
		w.current = w.update()
	}
}

// control is what the controller does about one pod.
func (w *world) control(at int) {
	p := &w.pods[at]
	switch {
	case p.terminating:
	case p.uid == 0:
		if at < w.seen.replicas && !w.dying[at] {
			w.create(at)
		}
	case at >= w.seen.replicas:
		p.terminating = true
	case w.outdated(at):
		p.terminating = true
		if w.members[at].id != 0 && w.data[at] == w.members[at].id && w.restarted == "" {
			w.restarted = modelURL(at)
		}
	}
}

func (w *world) outdated(at int) bool {
	return !w.seen.onDelete && at >= w.seen.partition && w.labels[at] != w.update()
}

func (w *world) create(at int) {
	revision := w.update()
	if !w.seen.onDelete && at < w.seen.partition {
		revision = w.current
	}
	w.pods[at] = modelPod{uid: 2, revision: revision}
	w.labels[at] = revision
	if w.claims[at] == 0 {
		w.claims[at], w.data[at] = 2, 0
	}
}

// kubelet ends a pod, starts its member, or lets a learner catch up.
func (w *world) kubelet(at int) {
	p, m := &w.pods[at], &w.members[at]
	switch {
	case p.terminating:
		*p = modelPod{}
		w.reap(at)
	case p.uid != 0 && w.data[at] == 0 && !w.dying[at]:
		if m.id != 0 && w.flagsOf(*p) == template(true, w.list()) {
			w.data[at] = m.id
		}
	case w.healthy(at) && m.learner && w.quorate():
		m.caught = true
	}
}

// reap removes a claim once no pod uses it.
func (w *world) reap(at int) {
	if w.dying[at] && w.pods[at].uid == 0 {
		w.claims[at], w.data[at], w.dying[at] = 0, 0, false
	}
}
