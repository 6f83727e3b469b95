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

// Alarm is one that is raised in a cluster. It is in force on every member, and until
// somebody disarms it, also when whoever raised it is a member no more.
type Alarm struct {
	// MemberID is 0 where etcd knows that data differ, and not whose are wrong (etcd
	// 3.5.7, server/etcdserver/corrupt.go).
	MemberID uint64
	// Pod and Name are the member's that raised it, empty where they aren't known.
	Pod, Name string
	// Gone says that the member list has no such member any more.
	Gone bool
	// Type is NOSPACE or CORRUPT.
	Type string
}

// Where says in words who raised it.
func (a Alarm) Where() string {
	switch {
	case a.Pod != "":
		return a.Pod
	case a.Name != "":
		return "member " + a.Name
	case a.Gone:
		return fmt.Sprintf("member %016x (in no list any more)", a.MemberID)
	case a.MemberID == 0:
		return "a member that etcd doesn't name"
	}
	return fmt.Sprintf("member %016x", a.MemberID)
}

// NewAlarm is the alarm of a member, with what the member list says of that one; nil is
// no list.
func NewAlarm(id uint64, kind string, list []Listed) Alarm {
	a := Alarm{MemberID: id, Type: kind}
	if at := slices.IndexFunc(list, func(l Listed) bool { return l.ID == id }); at >= 0 {
		a.Pod, a.Name = list[at].Pod, list[at].Name
	} else {
		a.Gone = list != nil && id != 0
	}
	return a
}

// StrayTypes are the types of the stray alarms, each once.
func (s Survey) StrayTypes() []string {
	var types []string
	for _, a := range s.Strays {
		types = append(types, a.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// alarmText is an alarm as Status has it among its errors: a message's text, in which
// protobuf varies the spaces on purpose. It leaves a 0 out.
var alarmText = regexp.MustCompile(`^(?:memberID:(\d+)\s+)?alarm:(\w+)\s*$`)

func alarmIn(said string) (id uint64, alarm string, ok bool) {
	match := alarmText.FindStringSubmatch(said)
	if match == nil {
		return 0, "", false
	}
	id, err := strconv.ParseUint(cmp.Or(match[1], "0"), 10, 64)
	return id, match[2], err == nil
}

// shareAlarms gives each member the alarms that any of them knows for it.
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

// strays are the alarms that a member which is well knows for one that is not among
// those. What a member says that isn't well may be long disarmed.
func strays(members []Member, list []Listed) []Alarm {
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
