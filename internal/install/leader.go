// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leaseTime returns how long a lease is valid without a renewal.
func leaseTime(lease *coordinationv1.Lease) time.Duration {
	return time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 15)) * time.Second
}

// readLeader reads the holder of the lease, which is POD_ID, or since when there is none.
func (l *Inspector) readLeader(ctx context.Context) error {
	lease, err := l.lease(ctx)
	if apierrors.IsNotFound(err) {
		l.st.Program.LeaderlessSince = l.readySince()
		return nil
	}
	if err != nil {
		return err
	}
	holder, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	leads := holder != "" && lease.Spec.RenewTime != nil
	if leads && l.serverClock.Since(lease.Spec.RenewTime.Time) > 2*leaseTime(lease) {
		// The clock of the holder's node may be slow, so wait for a renewal.
		if leads, err = l.renewed(ctx, lease); err != nil {
			return err
		}
	}
	if !leads { // the lease has the last leader
		since := l.readySince()
		if renewed := lease.Spec.RenewTime; renewed != nil {
			since = &metav1.Time{Time: renewed.UTC()}
		}
		l.st.Program.LeaderlessSince = since
		return nil
	}
	l.st.Program.Leader = holder
	for i := range l.st.Program.Replicas {
		r := &l.st.Program.Replicas[i]
		r.Leader = r.Pod == holder
	}
	return nil
}

func (l *Inspector) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	var lease coordinationv1.Lease
	err := l.kube.Get(ctx, client.ObjectKey{Namespace: cmp.Or(l.st.Program.Namespace, webhookSpace), Name: webhookLease}, &lease)
	return &lease, err
}

// renewed waits for as long as a lease is valid, and reports whether it was renewed.
func (l *Inspector) renewed(ctx context.Context, before *coordinationv1.Lease) (bool, error) {
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-l.clock.After(min(leaseTime(before), longestLease)):
	}
	after, err := l.lease(ctx)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return after.Spec.RenewTime != nil && !after.Spec.RenewTime.Equal(before.Spec.RenewTime), nil
}

// longestLease is the maximum wait for a renewal.
const longestLease = 15 * time.Second

// readySince returns when the first of the ready replicas became ready. It is nil if none is.
func (l *Inspector) readySince() *metav1.Time {
	var first *metav1.Time
	for i := range l.pods {
		for _, c := range l.pods[i].Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && (first == nil || c.LastTransitionTime.Before(first)) {
				first = &metav1.Time{Time: c.LastTransitionTime.UTC()}
			}
		}
	}
	return first
}
