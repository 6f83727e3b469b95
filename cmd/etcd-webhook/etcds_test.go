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

// informed counts the informers that are asked for.
type informed struct {
	cache.Informers

	of []client.Object
}

func (i *informed) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	i.of = append(i.of, o)
	return nil, nil
}

// TestEtcdsServedLater: the informer is there as soon as the kind is, and no sooner, since
// one of a kind that isn't keeps the others from starting.
func TestEtcdsServedLater(t *testing.T) {
	t.Parallel()
	var _ manager.LeaderElectionRunnable = &etcds{}
	served, informers := meta.NewDefaultRESTMapper(nil), &informed{}
	e := &etcds{mapper: served, informers: informers}
	for range 2 {
		if err := e.look(t.Context()); err != nil || !e.absent.Load() || len(informers.of) > 0 {
			t.Fatalf("not served: %v, absent %t, informs of %v", err, e.absent.Load(), informers.of)
		}
	}
	served.Add(druidv1alpha1.SchemeGroupVersion.WithKind("Etcd"), meta.RESTScopeNamespace)
	if err := e.look(t.Context()); err != nil || e.absent.Load() || len(informers.of) != 1 {
		t.Errorf("served: %v, absent %t, informs of %v", err, e.absent.Load(), informers.of)
	}
	if e.NeedLeaderElection() {
		t.Error("replicas that don't lead have no informer")
	}
}
