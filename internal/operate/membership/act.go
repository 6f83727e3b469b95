// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// act does one step. Every write has a precondition from the observation, so that it fails where
// another client has changed the object meanwhile.
func (m *Members) act(ctx context.Context, s *observation, j *Change, step membership.Step) error {
	if why := m.distrust(s, j); why != "" {
		return operate.Halt("%s", why)
	}
	switch step.Act {
	case membership.SetPartition, membership.SetOnDelete, membership.SetReplicas, membership.RestoreStrategy:
		return m.patchSpec(ctx, s, step)
	case membership.SetBootstrap, membership.RestoreTemplate:
		return m.patchTemplate(ctx, s, step)
	case membership.AdoptPod:
		return m.adopt(ctx, s, step.Ordinal)
	case membership.DeleteClaims:
		return m.deleteClaims(ctx, s, j, step.Ordinal)
	case membership.DeletePod:
		pod := s.pods[s.Ordinals[step.Ordinal].Pod]
		return client.IgnoreNotFound(m.Kube.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}))
	case membership.AddLearner, membership.Promote, membership.RemoveMember, membership.MoveLeader:
		return m.changeMembers(ctx, s, step)
	case membership.Done, membership.Stop, membership.Wait:
	}
	return fmt.Errorf("step %s is nothing to do", step.Act)
}

// patchSpec changes the replicas or the update strategy. The first change of the strategy marks the StatefulSet.
func (m *Members) patchSpec(ctx context.Context, s *observation, step membership.Step) error {
	mark, err := s.before.mark()
	if err != nil {
		return err
	}
	author, err := rollouts.AuthorAnnotation(s.before.Strategy)
	if err != nil {
		return err
	}
	var options []client.PatchOption
	if step.Releases {
		options = append(options, client.FieldOwner(v1alpha1.PluginReleasesFieldManager))
	}
	return m.patch(ctx, s.sts, func(sts *appsv1.StatefulSet) {
		if step.Act != membership.SetReplicas {
			setMark(sts, mark)
		}
		switch step.Act { //nolint:exhaustive // the others are not the spec's
		case membership.SetPartition:
			rolling := &appsv1.RollingUpdateStatefulSetStrategy{}
			if sts.Spec.UpdateStrategy.RollingUpdate != nil {
				rolling = sts.Spec.UpdateStrategy.RollingUpdate
			}
			rolling.Partition = new(int32(step.Number)) //nolint:gosec // a number of members
			sts.Spec.UpdateStrategy.RollingUpdate = rolling
		case membership.SetOnDelete:
			sts.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
		case membership.SetReplicas:
			m.setReplicas(sts, step.Number)
		default:
			sts.Spec.UpdateStrategy = *s.before.Strategy.DeepCopy()
			// Of a rollout that is held, the strategy in force may be the same. Without the annotation, admission would
			// take the write for one that leaves the author's strategy.
			if onDelete, _ := strategyOf(s.before.Strategy); s.Held && !onDelete {
				maps.Copy(sts.Annotations, author)
			}
		}
	}, options...)
}

// patch changes a StatefulSet. It fails where the StatefulSet has changed since it was read.
func (m *Members) patch(ctx context.Context, before *appsv1.StatefulSet, change func(*appsv1.StatefulSet), options ...client.PatchOption) error {
	after := before.DeepCopy()
	change(after)
	return m.Kube.Patch(ctx, after, client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{}), options...)
}

// patchTemplate changes the bootstrap settings of new pods. It writes ConfigMaps first: a change of
// the template makes a new revision, whose pods read them. The first change of the template marks the StatefulSet.
func (m *Members) patchTemplate(ctx context.Context, s *observation, step membership.Step) error {
	edited := s.template.clone()
	if step.Act == membership.RestoreTemplate {
		s.before.restore(&edited)
	} else if err := s.setBootstrap(ctx, m, &edited, step.Bootstrap); err != nil {
		return err
	}
	for name, data := range edited.configs {
		for key, value := range data {
			if s.template.configs[name][key] == value {
				continue
			}
			before := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.Owner.Namespace, Name: name, ResourceVersion: s.template.versions[name]}}
			after := before.DeepCopy()
			after.Data = map[string]string{key: value}
			if err := m.Kube.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
				return fmt.Errorf("write ConfigMap %s/%s: %w", m.Owner.Namespace, name, err)
			}
			s.template.versions[name] = after.ResourceVersion
		}
	}
	if equality.Semantic.DeepEqual(edited.template, s.template.template) {
		return m.patch(ctx, s.sts, func(*appsv1.StatefulSet) {})
	}
	mark, err := s.before.mark()
	if err != nil {
		return err
	}
	return m.patch(ctx, s.sts, func(sts *appsv1.StatefulSet) {
		sts.Spec.Template = edited.template
		setMark(sts, mark)
	})
}

// setBootstrap writes bootstrap flags into a template, and then reads the template as etcd would, to
// check that etcd will use them.
func (s *observation) setBootstrap(ctx context.Context, m *Members, edited *podTemplate, l membership.BootstrapFlags) error {
	last := len(s.configs) - 1
	if err := edited.setBootstrap(s.configs[last], s.initialCluster(l), stateExisting); err != nil {
		return err
	}
	for ordinal := range s.configs {
		config, err := edited.etcdConfig(ctx, m.Reader, s.sts, s.Ordinals[ordinal].Pod)
		if err != nil {
			return err
		}
		if config.InitialClusterState != stateExisting || config.InitialCluster != s.initialCluster(l) {
			return fmt.Errorf("%s would not read the initial cluster that is written into the template, but %s %q: its start script decides",
				s.Ordinals[ordinal].Pod, config.InitialClusterState, config.InitialCluster)
		}
	}
	return nil
}

// adopt marks a pod as one of the update revision.
func (m *Members) adopt(ctx context.Context, s *observation, ordinal int) error {
	before := s.pods[s.Ordinals[ordinal].Pod]
	after := before.DeepCopy()
	after.Labels[appsv1.StatefulSetRevisionLabel] = s.sts.Status.UpdateRevision
	return m.Kube.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// deleteClaims deletes the claims of an ordinal. Of a pod that is replaced it deletes only the claims
// that existed before.
func (m *Members) deleteClaims(ctx context.Context, s *observation, j *Change, ordinal int) error {
	for _, claim := range s.claims[s.Ordinals[ordinal].Pod] {
		if claim.DeletionTimestamp != nil || j.Operation == membership.Replace && !j.hasClaim(claim) {
			continue
		}
		if err := client.IgnoreNotFound(m.Kube.Delete(ctx, claim, client.Preconditions{UID: &claim.UID})); err != nil {
			return err
		}
	}
	return nil
}

func (j *Change) hasClaim(claim *corev1.PersistentVolumeClaim) bool {
	return slices.Contains(j.Claims, string(claim.UID))
}

// changeMembers changes etcd's member list, or moves the leadership.
func (m *Members) changeMembers(ctx context.Context, s *observation, step membership.Step) error {
	if step.Act == membership.MoveLeader {
		return maintenance.MoveLeaderTo(ctx, m.cluster, s.survey, step.TransferTo, m.Clock)
	}
	leader, err := memberlist.LeaderOf(ctx, m.cluster, s.survey)
	if err != nil {
		return err
	}
	switch step.Act { //nolint:exhaustive // the others are not etcd's
	case membership.Promote:
		return leader.Promote(ctx, step.Member)
	case membership.RemoveMember:
		return leader.Remove(ctx, step.Member)
	}
	if _, err = leader.Add(ctx, s.configs[step.Ordinal].AdvertisePeer); errors.Is(err, rpctypes.ErrUnhealthy) {
		err = fmt.Errorf("%w: its leader counts a member as disconnected; if that persists, interrupt this command, transfer leadership with kubectl etcd move-leader %s -n %s, and run it again",
			err, m.Owner.Target(), m.Owner.Namespace)
	}
	return err
}

// permanent reports whether a retry won't help.
func permanent(err error) bool { return operate.Permanent(err) || etcd.Denied(err) }
