// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// endLimit is the timeout of the end of one fault after a failure.
const endLimit = 30 * time.Second

// prepare creates a namespace with a cluster, and a policy with all guards. It returns the world
// also with an error, if there is something to remove.
func prepare(ctx context.Context, bed *testbed.Testbed, kube client.Client, s Sequence, log func(string)) (*world, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "faults-"}}
	if err := kube.Create(ctx, ns); err != nil {
		return nil, err
	}
	spec := specOf(s)
	w := &world{
		history: &history{log: log}, bed: bed, kube: kube, kind: s.Kind, size: s.Size, initial: s.Size, policy: guards(ns.Name),
		open: map[Step]func(context.Context) error{}, returning: map[string]bool{}, instances: map[string]string{}, allowed: map[string]int{},
		facts: facts{guarded: true, disturbed: map[string]bool{}},
	}
	var err error
	if w.cluster, err = clusters.At(bed, ns.Name, "main", spec); err != nil {
		return nil, errors.Join(err, kube.Delete(ctx, ns))
	}
	var members []string
	for member := range s.Size {
		members = append(members, w.pod(member))
	}
	w.judge = newJudge(members)
	at := metav1.NewMicroTime(now())
	backup := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: backupLease}, Spec: coordinationv1.LeaseSpec{RenewTime: &at}}
	for _, o := range []client.Object{backup, w.policy.DeepCopy()} {
		if err := kube.Create(ctx, o); err != nil {
			return w, err
		}
	}
	// A pod that is created before etcd-webhook knows the policy is not spread.
	err = clusters.Await(ctx, limit, "etcd-webhook to read the policy", func(ctx context.Context) (string, bool, error) {
		p := w.policy.DeepCopy()
		err := kube.Get(ctx, client.ObjectKeyFromObject(p), p)
		return "it has no status", err == nil && p.Status.ObservedGeneration == p.Generation, err
	})
	if err != nil {
		return w, err
	}
	if _, err := clusters.Apply(ctx, bed, ns.Name, "main", spec); err != nil {
		return w, err
	}
	if err := w.cluster.WaitReady(ctx); err != nil {
		return w, err
	}
	_, err = w.cluster.AwaitMin(ctx, limit, policy.Quorum(s.Size), policy.AllReady.Name())
	return w, err
}

// specOf returns the cluster of a sequence. etcd-druid creates the StatefulSet, the budget and the backups of its
// own clusters.
func specOf(s Sequence) clusters.Spec {
	if s.Kind == Druid {
		return clusters.Spec{Flavour: clusters.Druid, Size: s.Size}
	}
	return clusters.Spec{Flavour: clusters.Plain, Size: s.Size, Mutate: soonReady, Annotations: map[string]string{
		v1alpha1.BackupLeaseAnnotation: backupLease, v1alpha1.BackupMaxAgeAnnotation: backupMaxAge.String(),
	}}
}

// guards returns the policy of a namespace. All guards are in force, and nothing waits for long.
func guards(ns string) *v1alpha1.EtcdTopologyPolicy {
	p := &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	p.Spec.NamespaceSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{corev1.LabelMetadataName: v1alpha1.LabelValue(ns)}}
	p.Spec.Disruption.Settle = &metav1.Duration{Duration: time.Second}
	p.Spec.Disruption.CreateMissing = true
	p.Spec.Disruption.Evictions = v1alpha1.ModeEnforce
	p.Spec.Disruption.Deletes = v1alpha1.ModeEnforce
	p.Spec.Scale.Guard = v1alpha1.ModeEnforce
	p.Spec.Rollout.Guard = v1alpha1.ModeEnforce
	return p
}

// soonReady makes the kubelet check a member's readiness often, because the steps wait for it. A
// frozen member is unready after about twenty seconds.
func soonReady(set *appsv1.StatefulSet) {
	for _, c := range set.Spec.Template.Spec.Containers {
		if p := c.ReadinessProbe; p != nil {
			p.InitialDelaySeconds, p.PeriodSeconds, p.FailureThreshold = 1, 2, 4
		}
	}
}

// remove deletes the cluster and all that prepare created.
func (w *world) remove(ctx context.Context) error {
	left := w.cluster.Delete(ctx)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.cluster.Namespace}}
	for _, o := range []client.Object{w.policy.DeepCopy(), ns} {
		left = errors.Join(left, client.IgnoreNotFound(w.kube.Delete(ctx, o)))
	}
	return left
}
