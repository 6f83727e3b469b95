// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// suspendedEtcds returns the Etcds whose reconciliation a cut suspended. It includes those
// whose cut has ended, because etcd-webhook ends cuts but doesn't write Etcds.
func suspendedEtcds(ctx context.Context, kube client.Client) ([]Object, error) {
	etcds := kind{GroupVersionResource: druidv1alpha1.SchemeGroupVersion.WithResource("etcds"), Kind: "Etcd"}
	all, err := etcds.find(ctx, kube)
	return slices.DeleteFunc(all, func(p Object) bool { return !traffic.SuspendedByCut(etcdOf(p)) }), err
}

// etcdOf returns the owner of an object that is an Etcd.
func etcdOf(p Object) owner.Owner {
	return owner.OfEtcd(&druidv1alpha1.Etcd{ObjectMeta: p.ObjectMeta}, nil)
}

// resume lets etcd-druid reconcile an Etcd again. A failure is only a warning, because the
// suspension doesn't depend on etcd-webhook.
func (u *Uninstaller) resume(ctx context.Context, p Object) {
	resumed, err := u.mayResume(ctx, p)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		u.Warnf("etcd-druid does not reconcile %s until its annotation %s is removed: %v", p, druidv1alpha1.SuspendEtcdSpecReconcileAnnotation, err)
	case resumed:
		u.Logf("etcd-druid reconciles %s again", p)
	}
}

// mayResume resumes the reconciliation, unless the traffic is cut again or an operation is about to cut it. It reports
// whether the reconciliation was suspended.
func (u *Uninstaller) mayResume(ctx context.Context, p Object) (bool, error) {
	etcd := etcdOf(p)
	if err := lock.CheckHeld(ctx, u.Kube, etcd, []string{traffic.CutOperation, traffic.RestoreOperation}, u.Waiting); err != nil {
		return false, err
	}
	cut, err := cutServices(ctx, u.Kube)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(cut, func(s corev1.Service) bool { return s.Namespace == p.Namespace }) {
		return false, errors.New("client traffic in its namespace is cut again")
	}
	return traffic.Resume(ctx, u.Kube, etcd)
}
