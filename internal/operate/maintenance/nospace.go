// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// Alarms reads the alarms that are raised from the leader, in the order of the members' IDs.
func Alarms(ctx context.Context, members *etcd.Cluster, s etcd.Survey) ([]etcd.Alarm, error) {
	pod, err := respondingMember(s)
	if err != nil {
		return nil, err
	}
	client, err := members.Client(ctx, pod)
	if err != nil {
		return nil, err
	}
	response, err := client.AlarmList(ctx)
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", explain(members, pod, err))
	}
	var alarms []etcd.Alarm
	for _, raised := range response.Alarms {
		alarms = append(alarms, etcd.NewAlarm(raised.MemberID, raised.Alarm.String(), s.List))
	}
	// etcd lists alarms in a random order. The plan must not depend on it.
	slices.SortFunc(alarms, func(a, b etcd.Alarm) int {
		return cmp.Or(cmp.Compare(a.MemberID, b.MemberID), cmp.Compare(a.Type, b.Type))
	})
	return alarms, nil
}

// Disarm disarms an alarm. It asks no rule; see maintenance.MayDisarm.
func Disarm(ctx context.Context, members *etcd.Cluster, s etcd.Survey, a etcd.Alarm) error {
	pod, err := respondingMember(s)
	if err != nil {
		return err
	}
	client, err := members.Client(ctx, pod)
	if err != nil {
		return err
	}
	kind, ok := pb.AlarmType_value[a.Type]
	if !ok {
		return fmt.Errorf("alarm %s is unknown to this version of the plugin", a.Type)
	}
	if _, err := client.AlarmDisarm(ctx, &clientv3.AlarmMember{MemberID: a.MemberID, Alarm: pb.AlarmType(kind)}); err != nil {
		return fmt.Errorf("disarm %s of member %016x: %w", a.Type, a.MemberID, explain(members, pod, err))
	}
	return nil
}

// respondingMember returns the leader's pod, for requests that need quorum.
func respondingMember(s etcd.Survey) (string, error) {
	if leader, ok := s.Leader(); ok {
		return leader.Pod, nil
	}
	if s.ListErr != nil {
		return "", s.ListErr
	}
	return "", errors.New("no member is the leader: without a leader etcd changes nothing")
}

// Compact deletes the history of all keys up to now and returns when it is deleted, so that a
// defragmentation frees its space.
func (m *Job) Compact(ctx context.Context, s State) error {
	pod, err := respondingMember(s.Survey)
	if err != nil {
		return err
	}
	client, err := m.Members.Client(ctx, pod)
	if err != nil {
		return err
	}
	if err := m.StillHeld(); err != nil {
		return err
	}
	now := m.Members.Status(ctx, pod)
	if now.Err != nil {
		return now.Err
	}
	m.Progressf("compacting up to revision %d", now.Revision)
	_, err = client.Compact(ctx, now.Revision, clientv3.WithCompactPhysical())
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		m.Logf("the history up to revision %d was compacted already", now.Revision)
		return nil
	case err != nil:
		return fmt.Errorf("compact up to revision %d: %w", now.Revision, explain(m.Members, pod, err))
	}
	m.Logf("the history up to revision %d is compacted", now.Revision)
	return nil
}

// Relieve disarms NOSPACE if there is enough space, and returns the alarms that stay in force. room is the verdict
// about NOSPACE, if that is raised.
func (m *Job) Relieve(ctx context.Context, s etcd.Survey) (stay []etcd.Alarm, room policy.Verdict, err error) {
	stay, err = Alarms(ctx, m.Members, s)
	if err != nil || !slices.ContainsFunc(stay, isNoSpace) {
		return stay, room, err
	}
	if room, err = m.disarmWithRoom(ctx, s); err != nil || !room.Allowed {
		return stay, room, err
	}
	stay, err = Alarms(ctx, m.Members, s)
	return stay, room, err
}

func isNoSpace(a etcd.Alarm) bool { return a.Type == maintenance.NoSpace }

// disarmNoSpace disarms every NOSPACE alarm if there is enough space again. It returns the verdict.
func (m *Job) disarmNoSpace(ctx context.Context) (policy.Verdict, error) {
	s, err := m.Members.Survey(ctx)
	if err != nil {
		return policy.Verdict{}, err
	}
	verdict, err := m.disarmWithRoom(ctx, s)
	if err != nil || !verdict.Allowed {
		return verdict, err
	}
	return verdict, m.verifyDisarmed(ctx, s)
}

// disarmWithRoom does what disarmNoSpace does, for the members of a survey. It doesn't verify that the alarms are gone.
func (m *Job) disarmWithRoom(ctx context.Context, s etcd.Survey) (policy.Verdict, error) {
	facts, err := m.Facts(ctx)
	if err != nil {
		return policy.Verdict{}, err
	}
	verdict := maintenance.MayDisarm(facts, Databases(s), maintenance.NoSpace, maintenance.Comparison{})
	if !verdict.Allowed {
		return verdict, nil
	}
	alarms, err := Alarms(ctx, m.Members, s)
	if err != nil {
		return verdict, err
	}
	for _, a := range alarms {
		if !isNoSpace(a) {
			continue
		}
		if err := m.StillHeld(); err != nil {
			return verdict, err
		}
		if err := Disarm(ctx, m.Members, s, a); err != nil {
			return verdict, err
		}
		m.Logf("alarm %s of %s is disarmed", a.Type, a.Where())
	}
	return verdict, nil
}

// verifyDisarmed verifies that etcd takes writes again.
func (m *Job) verifyDisarmed(ctx context.Context, s etcd.Survey) error {
	alarms, err := Alarms(ctx, m.Members, s)
	if err != nil {
		return err
	}
	for _, a := range alarms {
		if isNoSpace(a) {
			return fmt.Errorf("alarm %s of %s is raised again: something writes more than there is room for", a.Type, a.Where())
		}
	}
	return nil
}
