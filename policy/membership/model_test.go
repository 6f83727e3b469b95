// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// ordinals is how many ordinals the model has.
const ordinals = 5

// world is a model of etcd, of a StatefulSet with its controller, and of the
// volumes: what a step is tried on. Comparable, so that states can be distinguished.
type world struct {
	members [ordinals]modelMember
	pods    [ordinals]modelPod
	// claims are 0 for none, 1 for one that was there before us, 2 for a later
	// one; data is the ID of the member whose data is on it, 0 for none.
	claims [ordinals]int
	dying  [ordinals]bool
	data   [ordinals]int
	// spec is what the StatefulSet asks for, seen what its controller has read.
	spec, seen modelSpec
	// current is the template of the revision before the update.
	current string
	// labels are the pods' revisions as the controller has read them.
	labels  [ordinals]string
	settled bool
	leader  int
	nextID  int
	// configMap is true if the bootstrap flags are not part of the pod template.
	configMap bool
	// deaths and elections are how many may still happen for no reason.
	deaths, elections int
	undo              bool
	// restarted notes the first member that was restarted for no need.
	restarted string
}

type modelMember struct {
	id      int
	learner bool
	caught  bool
	dead    bool
}

type modelPod struct {
	uid         int // 0 none, 1 from before us, 2 later
	terminating bool
	revision    string
}

type modelSpec struct {
	replicas  int
	onDelete  bool
	partition int
	template  string // "state 0,1,2"
}

func template(existing bool, members []int) string {
	state := "new"
	if existing {
		state = "existing"
	}
	return state + " " + strings.Trim(strings.ReplaceAll(fmt.Sprint(members), " ", ","), "[]")
}

// newWorld has a cluster of n members that was begun as in the template.
func newWorld(n int) world {
	var members []int
	w := world{nextID: n + 1, deaths: 1, elections: 1}
	for at := range n {
		members = append(members, at)
		w.members[at] = modelMember{id: at + 1}
		w.claims[at], w.data[at] = 1, at+1
	}
	w.spec = modelSpec{replicas: n, template: template(false, members)}
	return w
}

// begin lets the controller have seen everything.
func (w *world) begin() {
	w.seen, w.settled = w.spec, true
	w.current = w.update()
	for at := range w.spec.replicas {
		w.pods[at] = modelPod{uid: 1, revision: w.current}
		w.labels[at] = w.current
	}
	w.elect()
}

func (w *world) healthy(at int) bool {
	m, p := w.members[at], w.pods[at]
	return m.id != 0 && !m.dead && p.uid != 0 && !p.terminating && w.claims[at] != 0 && w.data[at] == m.id
}

func (w *world) votes() (voters, healthy int) {
	for at, m := range w.members {
		if m.id != 0 && !m.learner {
			voters++
			healthy += policytest.ToInt(w.healthy(at))
		}
	}
	return voters, healthy
}

func (w *world) quorate() bool {
	voters, healthy := w.votes()
	return healthy >= policy.Quorum(voters)
}

// ill is true for a dead member.
func (w *world) ill() bool {
	return slices.ContainsFunc(w.members[:], func(m modelMember) bool { return m.dead })
}

func (w *world) list() []int {
	var members []int
	for at, m := range w.members {
		if m.id != 0 {
			members = append(members, at)
		}
	}
	return members
}

// update is the revision of what the controller has read.
func (w *world) update() string {
	if w.configMap {
		return "the only one"
	}
	return w.seen.template
}

// flagsOf returns what a pod's member reads when it starts.
func (w *world) flagsOf(p modelPod) string {
	if w.configMap {
		return w.spec.template
	}
	return p.revision
}

func modelURL(at int) string { return fmt.Sprintf("http://main-%d:2380", at) }

func modelLaunch(template string) BootstrapFlags {
	state, members, _ := strings.Cut(template, " ")
	l := BootstrapFlags{Existing: state == "existing"}
	for ordinal := range strings.SplitSeq(members, ",") {
		l.URLs = append(l.URLs, "http://main-"+ordinal+":2380")
	}
	return l
}

func modelTemplate(l BootstrapFlags) string {
	var members []int
	for at := range ordinals {
		if slices.Contains(l.URLs, modelURL(at)) {
			members = append(members, at)
		}
	}
	return template(l.Existing, members)
}

// observed returns what an observer sees of the world.
func (w *world) observed(before world) ClusterState {
	s := ClusterState{
		Replicas: w.spec.replicas, OnDelete: w.spec.onDelete, Partition: w.spec.partition,
		Bootstrap: modelLaunch(w.spec.template), InTemplate: !w.configMap, Original: w.spec.template == before.spec.template,
		Observed: w.seen == w.spec, AllUpdated: w.seen == w.spec && w.settled,
	}
	for at, m := range w.members {
		replica := Replica{Pod: fmt.Sprintf("main-%d", at), URL: modelURL(at)}
		if p := w.pods[at]; p.uid != 0 {
			replica.UID, replica.Terminating, replica.Updated = fmt.Sprint(p.uid), p.terminating, p.revision == w.update()
		}
		switch {
		case w.dying[at]:
			replica.TerminatingClaims = 1
		case w.claims[at] != 0:
			replica.Claims = []string{fmt.Sprint(w.claims[at])}
		}
		s.Ordinals = append(s.Ordinals, replica)
		if m.id != 0 {
			s.Members = append(s.Members, Peer{
				ID: uint64(m.id), URL: modelURL(at), Ordinal: at, Learner: m.learner,
				Healthy: w.healthy(at) && w.quorate(), Leader: w.leader == m.id, CaughtUp: m.caught,
			})
		}
	}
	return s
}
