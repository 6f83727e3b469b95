// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// warnOfAlarms warns of alarms that the restored cluster has from the snapshot.
func (r Plan) warnOfAlarms(warn func(format string, args ...any)) {
	for _, alarm := range r.Snapshot.Alarms {
		switch alarm {
		case maintenance.NoSpace:
			warn("the snapshot has the alarm %s: its cluster was out of space, and refused all writes. If every database has at most %d %% of its quota after the restore, the alarm is disarmed; otherwise the restored cluster also refuses all writes, until you run %s",
				alarm, maintenance.QuotaRoom, r.plugin("defrag %s", r.Target()))
		case maintenance.Corrupt:
			warn("the snapshot has the alarm %s: the data of its members differed, and the snapshot may have the wrong data. The restored cluster refuses all writes until you run %s",
				alarm, r.plugin("alarm disarm %s", r.Target()))
		default:
			warn("the snapshot has the alarm %s, and the restored cluster has it, too", alarm)
		}
	}
}

// disarms reports whether the steps disarm an alarm of the snapshot. With CORRUPT, a user decides.
func (r Plan) disarms() bool {
	return slices.Contains(r.Snapshot.Alarms, maintenance.NoSpace) && !slices.Contains(r.Snapshot.Alarms, maintenance.Corrupt)
}

// explained adds to a wait for ready members of a snapshot with CORRUPT why it may not end. Nothing disarms that alarm
// before a user has checked the data, so the restore ends there.
func (r Plan) explained(wait step.Action) step.Action {
	if !slices.Contains(r.Snapshot.Alarms, maintenance.Corrupt) {
		return wait
	}
	return step.Explained{Action: wait, Cause: fmt.Sprintf("the snapshot has the alarm %s, and a readiness probe that asks etcd for alarms fails while the alarm is in force. Check first that the snapshot has the right data. This compares the data of the members and disarms the alarm: %s",
		maintenance.Corrupt, r.plugin("alarm disarm %s", r.Target()))}
}

// Unready returns why members may never be ready, empty if no alarm is in force. With CORRUPT, the error ends the
// restore before clients are let in.
func (r Plan) Unready(alarms []etcd.Alarm, room policy.Verdict) (string, error) {
	text := r.InForce(alarms, room, nil)
	if slices.ContainsFunc(alarms, func(a etcd.Alarm) bool { return a.Type == maintenance.Corrupt }) {
		return "", operate.Halt("%s", text)
	}
	return text, nil
}

// InForce returns which alarms are in force after a restore, and the commands that end them and the restore. room is
// the verdict about NOSPACE. It is empty if no alarm is in force.
func (r Plan) InForce(alarms []etcd.Alarm, room policy.Verdict, steps []step.Step) string {
	var types []string
	for _, a := range alarms {
		types = append(types, a.Type)
	}
	slices.Sort(types)
	types = slices.Compact(types)
	has := func(alarm string) bool { return slices.Contains(types, alarm) }
	var text string
	switch {
	case len(types) == 0:
		return ""
	case has(maintenance.Corrupt):
		text = fmt.Sprintf("the cluster refuses all writes. Check first that the snapshot has the right data. This compares the data of the members and disarms the alarm: %s", r.plugin("alarm disarm %s", r.Target()))
	case has(maintenance.NoSpace) && room.Allowed:
		text = fmt.Sprintf("the cluster refuses all writes: the alarm was raised again after it was disarmed. This compacts and defragments the databases, and disarms it if there is room: %s", r.plugin("defrag %s", r.Target()))
	case has(maintenance.NoSpace):
		text = fmt.Sprintf("the cluster refuses all writes: %s. This compacts and defragments the databases, and disarms the alarm if there is room: %s", room.Message, r.plugin("defrag %s", r.Target()))
	default:
		text = fmt.Sprintf("to show it: %s", r.plugin("alarm list %s", r.Target()))
	}
	which := "alarm %s is in force: %s"
	if len(types) > 1 {
		which = "the alarms %s are in force: %s"
	}
	text = fmt.Sprintf(which, policy.List(types), text)
	for _, s := range steps {
		for _, act := range s.Acts {
			if s.After {
				text += fmt.Sprintf("; then %s", act.Command(r.Flags))
			}
		}
	}
	return text
}
