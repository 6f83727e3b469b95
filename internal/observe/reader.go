// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package observe turns Kubernetes and druid objects into policy's facts: which
// pods belong to an etcd cluster, who owns it, which policy governs it, where
// its members may run and where their volumes are. It decides nothing and
// writes nothing. webhook, controller and the plugin call it.
package observe

import (
	"context"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// Reader reads facts about etcd clusters, through the manager's cache where it
// may, past it (Live) where a cache would be late.
type Reader struct {
	client.Reader
	// Live reads from the API server. Nil where Reader does so already.
	Live client.Reader
	// Leases tells how old members' leases are, and the time. Facts, Cluster
	// and Budgets need it; nothing else does.
	Leases *LeaseClock
	// NoEtcds says that druid's kind was not served a moment ago, so that Owners needn't
	// ask for it. Nil asks each time.
	NoEtcds func() bool
}

// AddToScheme makes a scheme know every kind that this package reads.
func AddToScheme(s *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, druidv1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}

// fetch gets an object that may have been made a moment ago: what the cache
// doesn't have is asked for live. False when it isn't there, which includes
// that its kind is not served: etcd-druid may be installed later or never.
func (r *Reader) fetch(ctx context.Context, namespace, name string, obj client.Object) (bool, error) {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	err := r.Get(ctx, key, obj)
	if apierrors.IsNotFound(err) && r.Live != nil {
		err = r.Live.Get(ctx, key, obj)
	}
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}
