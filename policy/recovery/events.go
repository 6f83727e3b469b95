// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import "time"

// The programs that act by themselves.
const (
	kubelet     = "the kubelet"
	scheduler   = "the scheduler"
	statefulSet = "the StatefulSet controller"
)

// eventsOf returns what other programs will do about members.
func (s *state) eventsOf(members []Member) []Event {
	var out []Event
	for _, m := range members {
		switch {
		case (!m.Asked || s.Bare) && m.Pod == PodMissing: // no object shows what runs it again
		case m.Pod == PodMissing:
			out = append(out, Event{Who: statefulSet, What: "creates pod " + m.Name + " again, unless a pod before it must be Ready first"})
		case m.Pod == PodPending:
			out = append(out, Event{Who: scheduler, What: "gives " + m.Name + " a node as soon as one fits"})
		case m.Pod == PodStopping && s.Bare: // as above
		case m.Pod == PodStopping:
			out = append(out, Event{Who: statefulSet, What: "creates pod " + m.Name + " again when the old one is gone; on a lost node, the old one stays"})
		case m.Pod == PodWaiting:
			out = append(out, Event{Who: kubelet, What: "starts the container of " + m.Name + " again, at the latest 5m after it ended"})
		case conditionOf(m) != well && m.Liveness:
			out = append(out, Event{Who: kubelet, What: "restarts the container of " + m.Name + " if its liveness probe fails"})
		}
		out = append(out, s.markings(m)...)
	}
	return out
}

// markings returns what the operator will report of a member that is not well.
func (s *state) markings(m Member) []Event {
	if !s.reports() || m.Since.IsZero() || conditionOf(m) != silent && conditionOf(m) != notReady {
		return nil
	}
	var out []Event
	for _, mark := range []struct {
		after time.Duration
		as    Status
	}{{UnknownGrace, StatusUnknown}, {UnknownGrace + NotReadyGrace, StatusNotReady}} {
		if at := m.Since.Add(mark.after); s.At.Before(at) && m.Status != mark.as && (m.Status != StatusNotReady) {
			out = append(out, Event{Who: s.Reporter, What: "marks " + m.Name + " " + string(mark.as) + " in the status", At: at})
		}
	}
	return out
}

// operatorEvents returns what the operator will do about the whole, or that nothing will be done.
func (s *state) operatorEvents(id string) []Event {
	switch {
	case s.unconfirmed():
		return []Event{{Who: s.Reporter, What: "gives no sign of life, so it does nothing before it runs again"}}
	case id == quorumLost.id && s.HealsNothing:
		return []Event{{Who: s.Reporter, What: "recovers no lost quorum and deletes no pod, according to its source code; DEP-01's action has to be done by hand"}}
	case id == minorityDown.id && s.HealsNothing:
		return []Event{{Who: s.Reporter, What: "deletes no pod, according to its source code, although DEP-01 asks for it"}}
	case (id == quorumLost.id || id == minorityDown.id) && !s.Managed:
		return []Event{{Who: "Nothing", What: "acts when the grace period ends"}}
	case id == superfluous.id && s.reports():
		return []Event{{Who: s.Reporter, What: "removes entries from the status whose leases are gone, according to its source code"}}
	}
	return nil
}
