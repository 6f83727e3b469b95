// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// strict refuses to get what has no name, as a client of the API server does.
type strict struct{ client.Reader }

func (s strict) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if key.Name == "" {
		return errors.New("resource name may not be empty")
	}
	return s.Reader.Get(ctx, key, obj, opts...)
}

// TestNothingWithoutAName asks for no object that a cluster doesn't name.
func TestNothingWithoutAName(t *testing.T) {
	t.Parallel()
	r := flavours(t)
	r.Reader = strict{r.Reader}
	owners, err := r.Clusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range owners {
		if _, found, err := r.MemberPod(t.Context(), o); err != nil || found == o.WithoutStatefulSet() {
			t.Errorf("the next pod of %s: %t, %v", o, found, err)
		}
		if _, err := r.PeerService(t.Context(), o); err != nil {
			t.Errorf("the peer Service of %s: %v", o, err)
		}
	}
}

// TestPeersWithoutAService is of a StatefulSet that names no Service, as is allowed.
func TestPeersWithoutAService(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects, err := observetest.Parse(scheme, []byte("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {namespace: team, name: main}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &Reader{Reader: strict{objects}}
	peer, err := r.PeerService(t.Context(), owner.Owner{WorkloadKind: owner.StatefulSet, Namespace: "team", Name: "main", StatefulSet: "main"})
	if err != nil || peer != nil {
		t.Errorf("got %v, %v", peer, err)
	}
}
