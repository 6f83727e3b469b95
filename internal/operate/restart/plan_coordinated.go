// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// PlanCoordinated checks whether all members may be restarted at once, and returns the record and the
// plan.
func (j *Job) PlanCoordinated(ctx context.Context) (*Record, operate.Plan, error) {
	r := &Record{Strategy: Coordinated, Pods: map[string]types.UID{}, Together: &Together{Phase: rules.Scheduled, Members: map[string]uint64{}}}
	f := &operate.Findings{}
	if why := j.notCoordinated(); why != "" {
		return nil, operate.Plan{}, &operate.RefusedError{What: j.what(r), Why: []string{why}}
	}
	s, err := j.check(ctx, r, f)
	if err != nil {
		return nil, operate.Plan{}, err
	}
	r.Together.Replicas = s.replicas()
	checkUnmarked(s.sets[0], f)
	j.checkStart(s, f)
	j.identify(s, r, f)
	if err := j.planCut(ctx, s, r, f); err != nil {
		return nil, operate.Plan{}, err
	}
	c, err := j.coordinated(ctx, s, r)
	if err != nil {
		return nil, operate.Plan{}, err
	}
	s.checkPeers(f)
	act, v := rules.NextCoordinated(c)
	switch {
	case act != rules.Refuse:
		f.Fact("%s", v.Message)
	case v.Reason == rules.PeersUnreachable:
		f.Refuse("%s; restore the pod template that listens on the listed URLs%s, and run the same command again", v.Message, j.undo(ctx, s))
	case v.Reason != rules.DataAtRisk || len(f.Refusals) == 0: // else the reasons are there
		f.Refuse("%s", v.Message)
	}
	if err := f.Refused(j.what(r)); err != nil {
		return nil, operate.Plan{}, err
	}
	f.Warn("etcd answers no requests until the members have started again.")
	f.Warn("Helm, GitOps and autoscalers must leave the replicas of StatefulSet %s alone until the restart has ended.", s.sets[0].Name)
	return r, operate.Plan{
		Title: j.what(r), Facts: f.Facts, Steps: coordinatedSteps(r.Together, planPeers(s, c)), Warnings: f.Warnings,
		Subject: subject(s, r, append(podNames(s), r.Together.Services...)), Needs: j.coordinatedNeeds(r.Together.Services),
	}, nil
}

// undo returns how the template is restored that the pods run, as a clause. It is empty for unknown.
func (j *Job) undo(ctx context.Context, s *state) string {
	if undo := rollouts.UndoCommand(ctx, j.Kube, s.sets[0], s.pods, ""); undo != "" {
		return ", for example with " + undo
	}
	return ""
}

// notCoordinated returns why the replicas of a cluster can't be set to 0 and back, empty where they can.
func (j *Job) notCoordinated() string {
	m, o := j.Owner.Membership(), j.Owner
	switch {
	case m.ByPlugin:
		scale := fmt.Sprintf("kubectl etcd scale %s -n %s --replicas", o.Target(), o.Namespace)
		return fmt.Sprintf("%s sets the replicas of its StatefulSet; to stop all members and start them again, run: %s 0; then: %s %d", m.ManagerName, scale, scale, max(o.Replicas, 1))
	case o.WithoutStatefulSet():
		return "" // restartable refuses it
	case len(o.PodsBeside) > 0:
		return j.podsBeside()
	case o.Spans():
		return "its members are in several StatefulSets, and no single write stops or starts all of them; restart them one at a time, without --strategy"
	case m.Manager != flavour.Unmanaged:
		return m.ManagerName + " changes the members with the replicas, so they can't be set to 0 and back; restart the members one at a time, without --strategy"
	}
	return ""
}

// checkStart refuses what would not start, or not with the same pod template.
func (j *Job) checkStart(s *state, f *operate.Findings) {
	sts := s.sets[0]
	if p := sts.Spec.PersistentVolumeClaimRetentionPolicy; p != nil && p.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
		f.Refuse("StatefulSet %s deletes the volume claims of removed replicas (persistentVolumeClaimRetentionPolicy.whenScaled): set it to Retain first", sts.Name)
	}
	probed := func(c *corev1.Container) bool { return c.ReadinessProbe != nil || c.StartupProbe != nil }
	if len(s.pods) > 1 && sts.Spec.PodManagementPolicy != appsv1.ParallelPodManagement && slices.ContainsFunc(containers.Of(&sts.Spec.Template.Spec), probed) {
		f.Refuse("StatefulSet %s starts a pod when the one before it is Ready (podManagementPolicy OrderedReady), and the first member isn't Ready without a quorum: create the StatefulSet again with podManagementPolicy Parallel first (kubectl delete statefulset %s -n %s --cascade=orphan, then kubectl create)",
			sts.Name, sts.Name, sts.Namespace)
	}
	if sts.Spec.UpdateStrategy.RollingUpdate == nil || sts.Status.CurrentRevision == sts.Status.UpdateRevision {
		return
	}
	partition, old := int(ptr.Deref(sts.Spec.UpdateStrategy.RollingUpdate.Partition, 0)), 0
	for _, p := range s.pods {
		if owner.OfStatefulSet(sts).Ordinal(p.Name) < partition {
			old++
		}
	}
	if old > 0 && old < len(s.pods) {
		f.Refuse("the partition of StatefulSet %s gives %d of %d pods the old template, so members would start with different ones: set spec.updateStrategy.rollingUpdate.partition to 0 for the new one, or to %d for the old one",
			sts.Name, old, len(s.pods), len(s.pods))
	}
}

// identify records what has to be the same again at the end.
func (j *Job) identify(s *state, r *Record, f *operate.Findings) {
	t := r.Together
	for _, m := range s.survey.Members {
		if m.Err != nil || m.ClusterID == 0 {
			continue
		}
		if t.ClusterID != 0 && t.ClusterID != m.ClusterID {
			f.Refuse("its members belong to different clusters: %s has cluster ID %016x, and another one %016x; compare them first: kubectl etcd status %s -n %s",
				m.Pod, m.ClusterID, t.ClusterID, j.Owner.Target(), j.Owner.Namespace)
		}
		t.ClusterID, t.Members[m.Pod], t.Revision = m.ClusterID, m.ID, max(t.Revision, m.Revision)
	}
	switch {
	case t.ClusterID == 0:
		f.Warn("No member answers, so the cluster ID and the member IDs can't be compared at the end.")
	case len(t.Members) < len(s.pods):
		f.Warn("Only %d of %d members answer, so the IDs of the others can't be compared at the end.", len(t.Members), len(s.pods))
	}
}

// planCut finds the Services whose client traffic is cut.
func (j *Job) planCut(ctx context.Context, s *state, r *Record, f *operate.Findings) error {
	switch {
	case j.WithoutCut:
		f.Warn("Client traffic is not cut: clients can reach members that have started while others have not.")
		return nil
	case s.Cluster.TrafficCut:
		f.Refuse("client traffic is cut already, and this restart would restore it: restore it first (kubectl etcd restore-client-traffic %s -n %s), or add --without-cut to leave that cut as it is",
			j.Owner.Target(), j.Owner.Namespace)
		return nil
	}
	err := j.judgeCut(ctx, j.cutRequest())
	if refused, is := errors.AsType[*operate.RefusedError](err); is {
		f.Refuse("client traffic can't be cut: %s; to restart all members without a cut, add --without-cut", strings.Join(refused.Why, "; "))
		return nil
	}
	if err != nil {
		return err
	}
	r.Together.Services = j.Traffic.Names()
	if left := j.Traffic.Services.Left; len(left) > 0 {
		f.Warn("Clients can still use Service %s.", strings.Join(left, ", "))
	}
	if !j.PlanOnly && !j.Traffic.Maintained() {
		f.Warn("etcd-webhook doesn't answer for Service %s: if this command is interrupted, client traffic stays cut until the same command, or --abort, has restored it.", strings.Join(r.Together.Services, ", "))
	}
	return nil
}

// coordinatedSteps returns the steps of a coordinated restart. The last half of the updates of peer URLs,
// rounded down, follows the start.
func coordinatedSteps(t *Together, updates []string) []string {
	var steps []string
	services := strings.Join(t.Services, ", ")
	if len(t.Services) > 0 {
		steps = append(steps, fmt.Sprintf("cut client traffic through Service %s, and wait until no endpoint is ready", services))
	}
	same := ""
	if t.ClusterID != 0 {
		same = fmt.Sprintf(" with cluster ID %016x and the same member IDs", t.ClusterID)
	}
	before := min(len(updates), max(0, len(updates)-t.Replicas/2))
	steps = append(steps, updates[:before]...)
	steps = append(steps,
		"set the replicas to 0, and wait until all members have stopped; the volumes stay",
		fmt.Sprintf("set the replicas to %d, and wait until every member is healthy%s", t.Replicas, same))
	steps = append(steps, updates[before:]...)
	if len(t.Services) > 0 {
		steps = append(steps, "restore client traffic through Service "+services)
	}
	return steps
}

// planCoordinatedAgain returns the plan of a coordinated restart that was interrupted.
func (j *Job) planCoordinatedAgain(ctx context.Context, s *state, r *Record, p operate.Plan) (operate.Plan, error) {
	c, err := j.coordinated(ctx, s, r)
	if err != nil {
		return p, err
	}
	c.Intact = c.Size // it is checked again before the members stop
	_, v := rules.NextCoordinated(c)
	p.Facts = append(p.Facts, "phase "+string(c.At()), v.Message)
	f := &operate.Findings{}
	s.checkPeers(f)
	p.Steps = coordinatedSteps(r.Together, planPeers(s, c))
	p.Warnings = append(p.Warnings, f.Warnings...)
	if j.Abort {
		p.Steps = abortSteps(r.Together, c)
	}
	return p, nil
}

// abortSteps returns the steps that end a coordinated restart.
func abortSteps(t *Together, c rules.Coordinated) []string {
	steps := []string{fmt.Sprintf("if members have stopped, set the replicas to %d, and wait until every member has a pod, but not until it is healthy", t.Replicas)}
	if c.PeersDiffer() {
		steps = append(steps, "if there is a quorum, set the peer URLs in etcd's member list to those of the pods")
	}
	switch services := strings.Join(t.Services, ", "); {
	case services == "":
	case c.StaysCut():
		steps = append(steps, "leave client traffic through Service "+services+" as it is")
	default:
		steps = append(steps, "restore client traffic through Service "+services)
	}
	return steps
}

// coordinatedNeeds returns the permissions of a coordinated restart beyond those of any restart.
func (j *Job) coordinatedNeeds(services []string) []operate.Need {
	need := operate.NeedIn(j.Owner.Namespace)
	needs := []operate.Need{need("patch", "apps", "statefulsets", "", j.Owner.StatefulSet)}
	if len(services) == 0 {
		return needs
	}
	needs = append(needs, need("patch", "coordination.k8s.io", "leases", "", lock.Name(j.Owner)), need("list", "discovery.k8s.io", "endpointslices", "", ""))
	for _, name := range services {
		needs = append(needs, need("get", "", "services", "", name), need("patch", "", "services", "", name))
	}
	return needs
}
