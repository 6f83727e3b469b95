// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// informers stores the kinds of the requested informers.
type informers struct {
	cache.Informers

	kinds []client.Object
}

func (i *informers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	i.kinds = append(i.kinds, o)
	return nil, nil
}

// TestEtcdInformer checks that the informer is started as soon as the kind is served, and not
// before: an informer of a missing kind keeps the others from starting.
func TestEtcdInformer(t *testing.T) {
	t.Parallel()
	var _ manager.LeaderElectionRunnable = &etcdInformer{}
	served, started := meta.NewDefaultRESTMapper(nil), &informers{}
	e := &etcdInformer{mapper: served, informers: started}
	for range 2 {
		if err := e.check(t.Context()); err != nil || !e.absent.Load() || len(started.kinds) > 0 {
			t.Fatalf("not served: %v, absent %t, informers of %v", err, e.absent.Load(), started.kinds)
		}
	}
	served.Add(druidv1alpha1.SchemeGroupVersion.WithKind("Etcd"), meta.RESTScopeNamespace)
	if err := e.check(t.Context()); err != nil || e.absent.Load() || len(started.kinds) != 1 {
		t.Errorf("served: %v, absent %t, informers of %v", err, e.absent.Load(), started.kinds)
	}
	if e.NeedLeaderElection() {
		t.Error("replicas that don't lead have no informer")
	}
}
