// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// cutLength is how long client traffic is cut at most. If a restart takes longer, clients come back
// before its end.
const cutLength = time.Hour

// coordinated returns the facts for the rule.
func (j *Job) coordinated(ctx context.Context, s *state, r *Record) (rules.Coordinated, error) {
	t := r.Together
	c := rules.Coordinated{
		Facts: s.Facts, Phase: t.Phase, Abort: j.Abort, Replicas: s.replicas(), Size: t.Replicas, Pods: len(s.pods),
		Intact: s.intact, Marked: s.sets[0].Annotations[v1alpha1.RestartAnnotation] != "", Cuts: len(t.Services) > 0, Other: s.different(t),
	}
	if settled(s.sets[0]) {
		c.Cluster.Operation = "" // a rollout, which all members start with
	}
	for _, name := range t.Services {
		cut, ready, err := j.readCut(ctx, name)
		if err != nil {
			return c, err
		}
		c.Cut = c.Cut || cut
		c.Endpoints += ready
	}
	return c, nil
}

// readCut returns whether a Service is cut, and how many endpoints are ready although it is.
func (j *Job) readCut(ctx context.Context, name string) (cut bool, ready int, err error) {
	var service corev1.Service
	key := client.ObjectKey{Namespace: j.Owner.Namespace, Name: name}
	if err := j.Kube.Get(ctx, key, &service); err != nil {
		if apierrors.IsNotFound(err) {
			return false, 0, nil
		}
		return false, 0, fmt.Errorf("read Service %s: %w", name, err)
	}
	if !observe.IsCut(&service) {
		return false, 0, nil
	}
	endpoints, err := traffic.ReadyEndpoints(ctx, j.Kube, key)
	return true, len(endpoints), err
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
	if r.Together.Phase == rules.Scheduled && !j.Abort {
		if err := j.checkStop(ctx, s); err != nil {
			return false, err
		}
	}
	c, err := j.coordinated(ctx, s, r)
	if err != nil {
		return false, err
	}
	act, v := rules.NextCoordinated(c)
	switch {
	case act == rules.Finish:
		return true, nil
	case act == rules.Refuse && r.Together.Phase == rules.Starting:
		return false, operate.Halt("%s", v.Message)
	case act == rules.Refuse, act == rules.Await:
		j.waiter.Await(j.Logf, "%s%s", v.Message, j.stuckAny(s))
		return false, nil
	}
	if err := j.StillHeld(); err != nil {
		return false, err
	}
	j.waiter.Reset()
	return false, j.write(ctx, s, r, act)
}

// write does an act of the rule.
func (j *Job) write(ctx context.Context, s *state, r *Record, act rules.Act) error {
	switch act {
	case rules.MarkWorkload:
		return j.mark(ctx, s, rules.Scheduled)
	case rules.UnmarkWorkload:
		return j.mark(ctx, s, "")
	case rules.CutTraffic:
		return j.cut(ctx)
	case rules.RestoreTraffic:
		return j.Traffic.RestoreLocked(ctx, j.Lock, r.Together.Services)
	case rules.EnterStopping:
		return j.enter(ctx, r, rules.Stopping)
	case rules.EnterStarting:
		return j.enterStarting(ctx, s, r)
	case rules.StopAll:
		if err := j.checkStop(ctx, s); err != nil {
			return err
		}
		return j.setReplicas(ctx, s, rules.Stopping, 0)
	case rules.StartAll:
		return j.setReplicas(ctx, s, rules.Starting, r.Together.Replicas)
	case rules.Refuse, rules.Await, rules.Finish: // the caller has returned
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
	if _, err := j.readConfig(ctx, s.sets, f); err != nil {
		return err
	}
	if len(f.Refusals) > 0 {
		return operate.Halt("the members must not be stopped: %s", strings.Join(f.Refusals, "; "))
	}
	return nil
}

// enter records the next phase before anything of it is done.
func (j *Job) enter(ctx context.Context, r *Record, phase rules.Phase) error {
	r.Together.Phase = phase
	return r.update(ctx, j.Kube)
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
	r.Config = config
	return j.enter(ctx, r, rules.Starting)
}

// cut cuts client traffic. The journal has the Services already.
func (j *Job) cut(ctx context.Context) error {
	request := j.cutRequest()
	request.PlanOnly = false
	if err := j.judgeCut(ctx, request); err != nil {
		return err
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

// tryCoordinated is the dry run of the first write to the StatefulSet.
func (j *Job) tryCoordinated(ctx context.Context, s *state, _ *Record) error {
	return j.patchSet(ctx, s, j.marked(rules.Scheduled), nil, client.DryRunAll)
}

// stuckAny returns how to complete the deletion of a pod that can't complete by itself.
func (j *Job) stuckAny(s *state) string {
	for _, p := range s.pods {
		if text := s.stuck(p.Name, j.Clock.Now()); text != "" {
			return fmt.Sprintf(" (%s%s)", p.Name, text)
		}
	}
	return ""
}
