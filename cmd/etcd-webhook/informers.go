// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// addInformers starts every informer with the manager. An informer that the first admission
// review starts would use up that review's time for its list, and readiness would not wait
// for it. It also sets how the reader knows whether the API server serves Etcds.
func addInformers(ctx context.Context, mgr ctrl.Manager, reader *observe.Reader) error {
	for _, kind := range []client.Object{
		&v1alpha1.EtcdTopologyPolicy{}, &corev1.Namespace{}, &corev1.Node{}, &corev1.Pod{}, &corev1.Service{},
		&corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{}, &storagev1.StorageClass{},
		&appsv1.StatefulSet{}, &policyv1.PodDisruptionBudget{},
	} {
		_, err := mgr.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if meta.IsNoMatchError(err) {
			return fmt.Errorf("%w: apply manifests/crd first", err)
		}
		if err != nil {
			return fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	etcds := &etcdInformer{mapper: mgr.GetRESTMapper(), informers: mgr.GetCache()}
	if err := etcds.check(ctx); err != nil {
		return err
	}
	reader.NoEtcds = etcds.absent.Load
	if err := mgr.Add(etcds); err != nil {
		return err
	}
	return reader.Leases.Watch(ctx, mgr.GetCache())
}
