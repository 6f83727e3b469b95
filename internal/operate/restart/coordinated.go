// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// cutLength is how long client traffic is cut at most. If a restart takes longer, clients come back
// before its end.
const cutLength = time.Hour

// coordinated returns the facts for the rule. The record gets the size of the mark.
func (j *Job) coordinated(ctx context.Context, s *state, r *Record) (rules.Coordinated, error) {
	t := r.Together
	m, err := markOf(s.sets[0])
	if err != nil {
		return rules.Coordinated{}, err
	}
	if m.phase != "" {
		t.Replicas = m.size
	}
	c := rules.Coordinated{
		Facts: s.Facts, Phase: t.Phase, Mark: m.phase, Abort: j.Abort, Replicas: s.replicas(), Size: t.Replicas, Pods: len(s.pods),
		Intact: s.intact, Cuts: len(t.Services) > 0, AllCut: true, Other: s.different(t),
	}
	if hasAllPods(s.sets[0]) {
		c.Cluster.Operation = "" // a rollout, which all members start with
	}
	for _, name := range t.Services {
		is, ready, err := j.readCut(ctx, name)
		if err != nil {
			return c, err
		}
		c.AllCut, c.AnyCut = c.AllCut && is != uncut, c.AnyCut || is == cut
		c.Endpoints += ready
	}
	return c, j.addPeers(ctx, s, &c)
}

// cutState is whether a Service leads clients to the members.
type cutState int

const (
	uncut cutState = iota
	cut
	// gone is a Service that doesn't exist any more, so it leads clients nowhere.
	gone
)

// readCut returns whether a Service is cut, and how many endpoints are ready although it is.
func (j *Job) readCut(ctx context.Context, name string) (is cutState, ready int, err error) {
	var service corev1.Service
	key := client.ObjectKey{Namespace: j.Owner.Namespace, Name: name}
	if err := j.Kube.Get(ctx, key, &service); err != nil {
		if apierrors.IsNotFound(err) {
			return gone, 0, nil
		}
		return uncut, 0, fmt.Errorf("read Service %s: %w", name, err)
	}
	if !observe.IsCut(&service) {
		return uncut, 0, nil
	}
	endpoints, err := traffic.ReadyEndpoints(ctx, j.Kube, key)
	return cut, len(endpoints), err
}

// different returns how a member that answers differs from the one that its pod had when the restart
// began, empty if none does. After a start, the leader has every revision that was confirmed before.
func (s *state) different(t *Together) string {
	for _, m := range s.survey.Members {
		id, known := t.Members[m.Pod]
		switch {
		case m.ClusterID == 0:
		case t.ClusterID != 0 && m.ClusterID != t.ClusterID:
			return fmt.Sprintf("%s has cluster ID %016x, and had %016x", m.Pod, m.ClusterID, t.ClusterID)
		case known && m.ID != 0 && m.ID != id:
			return fmt.Sprintf("%s has member ID %016x, and had %016x", m.Pod, m.ID, id)
		}
	}
	if leader, ok := s.survey.Leader(); ok && leader.Revision < t.Revision {
		return fmt.Sprintf("%s leads with revision %d, and the cluster had %d", leader.Pod, leader.Revision, t.Revision)
	}
	return ""
}

// stepCoordinated does the next step of a coordinated restart, and reports whether none is left.
func (j *Job) stepCoordinated(ctx context.Context, s *state, r *Record) (done bool, err error) {
	c, err := j.coordinated(ctx, s, r)
	if err != nil {
		return false, err
	}
	if c.At() == rules.Scheduled && !j.Abort && c.Replicas >= c.Size {
		if err := j.checkStop(ctx, s); err != nil {
			return false, err
		}
		c.Intact = s.intact
	}
	act, v := rules.NextCoordinated(c)
	switch {
	case act == rules.Finish:
		j.noteCut(c, r)
		j.notePeers(s, c)
		return true, nil
	case act == rules.Refuse && v.Reason == rules.MarkMissing:
		sts := s.sets[0]
		return false, operate.HaltForGood("%s: set them as they should be: kubectl scale statefulset %s -n %s --replicas N; then delete the record: kubectl delete configmap %s -n %s",
			v.Message, sts.Name, sts.Namespace, r.journal.Name(), sts.Namespace)
	case act == rules.Refuse && v.Reason == rules.OtherMember:
		return false, operate.Halt("%s", v.Message)
	case act == rules.Refuse, act == rules.Await:
		j.waiter.Await(j.Logf, "%s%s", v.Message, j.stuckAny(s))
		return false, nil
	}
	if err := j.StillHeld(); err != nil {
		return false, err
	}
	j.waiter.Reset()
	if act == rules.UpdatePeers {
		return false, j.updatePeers(ctx, s, c)
	}
	return false, j.write(ctx, s, r, act)
}

// noteCut notes how to go on with client traffic that stays cut after the end.
func (j *Job) noteCut(c rules.Coordinated, r *Record) {
	if !c.AnyCut || !c.StaysCut() {
		return
	}
	why, target := "", fmt.Sprintf("%s -n %s", j.Owner.Target(), j.Owner.Namespace)
	if c.Other != "" {
		why = ": " + c.Other
	}
	j.notes = append(j.notes, policy.NewNote(rules.OtherMember, "client traffic through Service %s stays cut%s; compare the members first: kubectl etcd diagnose %s; to restore it: kubectl etcd restore-client-traffic %s",
		strings.Join(r.Together.Services, ", "), why, target, target))
}

// write does an act of the rule.
func (j *Job) write(ctx context.Context, s *state, r *Record, act rules.Act) error {
	size := r.Together.Replicas
	switch act {
	case rules.MarkWorkload:
		return j.mark(ctx, s, mark{rules.Scheduled, size})
	case rules.UnmarkWorkload:
		return j.mark(ctx, s, mark{})
	case rules.CutTraffic:
		return j.cut(ctx, r)
	case rules.RestoreTraffic:
		return j.Traffic.RestoreLocked(ctx, j.Lock, r.Together.Services)
	case rules.EnterStopping:
		return j.enter(ctx, s, r, rules.Stopping, r.Config)
	case rules.EnterStarting:
		return j.enterStarting(ctx, s, r)
	case rules.StopAll:
		if err := j.checkStop(ctx, s); err != nil {
			return err
		}
		return j.setReplicas(ctx, s, mark{rules.Stopping, size}, 0)
	case rules.StartAll:
		return j.setReplicas(ctx, s, mark{rules.Starting, size}, size)
	case rules.Refuse, rules.Await, rules.Finish, rules.UpdatePeers: // the caller has returned
	}
	return nil
}

// checkStop checks again what the plan has checked, before all members stop.
func (j *Job) checkStop(ctx context.Context, s *state) (err error) {
	f := &operate.Findings{}
	if s.intact, err = j.checkIntact(ctx, s, f); err != nil {
		return err
	}
	j.checkHooks(f)
	j.checkStart(s, f)
	s.checkPeers(f)
	if _, err := j.readConfig(ctx, s.sets, f); err != nil {
		return err
	}
	if len(f.Refusals) > 0 {
		return operate.Halt("the members must not be stopped: %s", strings.Join(f.Refusals, "; "))
	}
	return nil
}

// enter records the next phase before anything of it is done: in the journal, and then in the mark, which
// counts. The journal may have it already, from a command that died in between.
func (j *Job) enter(ctx context.Context, s *state, r *Record, phase rules.Phase, config map[string]string) error {
	if r.Together.Phase != phase {
		err := r.enter(ctx, j.Kube, phase, config)
		switch {
		case apierrors.IsNotFound(err):
			sts := s.sets[0]
			return operate.HaltForGood("%v; to end the restart without it: %s; kubectl scale statefulset %s -n %s --replicas %d; kubectl etcd restore-client-traffic %s -n %s",
				err, operate.UnmarkCommand(sts, v1alpha1.RestartAnnotation), sts.Name, sts.Namespace, r.Together.Replicas, j.Owner.Target(), sts.Namespace)
		case errors.Is(err, journal.ErrChanged):
			return operate.Halt("%v", err)
		case err != nil:
			return err
		}
	}
	return j.mark(ctx, s, mark{phase, r.Together.Replicas})
}

// enterStarting also records what the members that start read.
func (j *Job) enterStarting(ctx context.Context, s *state, r *Record) error {
	if len(s.pods) == 0 {
		j.Logf("all members have stopped")
	}
	config, err := j.readConfig(ctx, s.sets, &operate.Findings{})
	if err != nil {
		return err
	}
	return j.enter(ctx, s, r, rules.Starting, config)
}

// cut cuts client traffic. Only the Services of the journal are cut, because no others are restored.
func (j *Job) cut(ctx context.Context, r *Record) error {
	request := j.cutRequest()
	request.PlanOnly = false
	if err := j.judgeCut(ctx, request); err != nil {
		return err
	}
	chosen := &j.Traffic.Services.Chosen
	*chosen = slices.DeleteFunc(*chosen, func(s corev1.Service) bool { return !slices.Contains(r.Together.Services, s.Name) })
	names := j.Traffic.Names()
	for _, name := range r.Together.Services {
		if slices.Contains(names, name) {
			continue
		}
		if is, _, err := j.readCut(ctx, name); err != nil || is == uncut {
			return cmp.Or(err, operate.Halt("Service %s doesn't lead clients to the members any more, so it is not cut", name))
		}
	}
	return j.Traffic.Cut(ctx, j.Lock, request)
}

func (j *Job) cutRequest() traffic.Request {
	return traffic.Request{Length: cutLength, Reason: "coordinated restart", Detach: true, AllStop: true, PlanOnly: j.PlanOnly}
}

// judgeCut finds the Services to cut, and returns an error if they can't be cut.
func (j *Job) judgeCut(ctx context.Context, request traffic.Request) error {
	j.Traffic.Owner, j.Traffic.Members, j.Traffic.Unreached = j.Owner, j.members, nil
	if j.members == nil {
		j.Traffic.Unreached = errors.New("no member can be reached")
	}
	_, err := j.Traffic.Judge(ctx, request)
	return err
}

// tryCoordinated does the dry run of the first write to the StatefulSet.
func (j *Job) tryCoordinated(ctx context.Context, s *state, r *Record) error {
	return j.patchSet(ctx, s, mark{rules.Scheduled, r.Together.Replicas}.at(j.Clock.Now()), nil, client.DryRunAll)
}

// stuckAny returns how to complete the deletion of a pod that can't complete by itself.
func (j *Job) stuckAny(s *state) string {
	for _, p := range s.pods {
		if text := podstate.DeletionStuck(p, s.nodeLost(p.Name), j.Clock.Now()); text != "" {
			return " (" + text + ")"
		}
	}
	return ""
}
