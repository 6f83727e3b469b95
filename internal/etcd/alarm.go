// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Alarm is an alarm that is raised in a cluster. It is in force on every member until it is
// disarmed, even when the member that raised it has been removed.
type Alarm struct {
	// MemberID is the member that raised it. It is 0 if etcd knows that data differ but not
	// which member's are wrong (etcd 3.5.7, server/etcdserver/corrupt.go).
	MemberID uint64
	// Pod and Name are those of the member that raised it, empty if they are unknown.
	Pod, Name string
	// Gone reports whether the member list no longer has this member.
	Gone bool
	// Type is NOSPACE or CORRUPT.
	Type string
}

// Where describes the member that raised it.
func (a Alarm) Where() string {
	switch {
	case a.Pod != "":
		return a.Pod
	case a.Name != "":
		return "member " + a.Name
	case a.Gone:
		return fmt.Sprintf("member %016x (no longer in the member list)", a.MemberID)
	case a.MemberID == 0:
		return "a member that etcd doesn't name"
	}
	return fmt.Sprintf("member %016x", a.MemberID)
}

// NewAlarm returns the alarm of a member, with the member's data from the member list. A nil
// list means that the list is unknown.
func NewAlarm(id uint64, kind string, list []Listed) Alarm {
	a := Alarm{MemberID: id, Type: kind}
	if at := slices.IndexFunc(list, func(l Listed) bool { return l.ID == id }); at >= 0 {
		a.Pod, a.Name = list[at].Pod, list[at].Name
	} else {
		a.Gone = list != nil && id != 0
	}
	return a
}

// StrayTypes returns the types of the stray alarms, each of them once.
func (s Survey) StrayTypes() []string {
	var types []string
	for _, a := range s.Strays {
		types = append(types, a.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// alarmText matches an alarm among the errors of Status. It is the text form of a message,
// in which protobuf deliberately varies the spaces and omits a 0.
var alarmText = regexp.MustCompile(`^(?:memberID:(\d+)\s+)?alarm:(\w+)\s*$`)

// alarmIn parses an alarm from an error of Status.
func alarmIn(text string) (id uint64, alarm string, ok bool) {
	match := alarmText.FindStringSubmatch(text)
	if match == nil {
		return 0, "", false
	}
	id, err := strconv.ParseUint(cmp.Or(match[1], "0"), 10, 64)
	return id, match[2], err == nil
}

// shareAlarms adds to each member the alarms that any member reports for it.
func shareAlarms(members []Member) {
	for i := range members {
		for _, m := range members {
			if m.ClusterID == members[i].ClusterID {
				members[i].Alarms = append(members[i].Alarms, m.raised[members[i].ID]...)
			}
		}
		slices.Sort(members[i].Alarms)
		members[i].Alarms = slices.Compact(members[i].Alarms)
	}
}

// unmappedAlarms returns the alarms that a healthy member reports for a member that isn't among the
// healthy ones. Alarms that an unhealthy member reports may have been disarmed.
func unmappedAlarms(members []Member, list []Listed) []Alarm {
	var found []Alarm
	for _, m := range members {
		if m.Err != nil {
			continue
		}
		for id, types := range m.raised {
			if slices.ContainsFunc(members, func(o Member) bool { return o.Err == nil && o.ID == id }) {
				continue
			}
			for _, kind := range types {
				found = append(found, NewAlarm(id, kind, list))
			}
		}
	}
	slices.SortFunc(found, func(a, b Alarm) int {
		return cmp.Or(cmp.Compare(a.MemberID, b.MemberID), cmp.Compare(a.Type, b.Type))
	})
	return slices.Compact(found)
}
