// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// withoutDruid counts how often it is asked for Etcds, which aren't served.
type withoutDruid struct {
	observetest.Objects

	asked int
}

func (w *withoutDruid) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, is := list.(*druidv1alpha1.EtcdList); is {
		w.asked++
		return &meta.NoKindMatchError{GroupKind: owner.EtcdKind.GroupKind()}
	}
	return w.Objects.List(ctx, list, opts...)
}

// TestOwnersWithoutDruid: who is known not to be served isn't asked for.
func TestOwnersWithoutDruid(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		absent func() bool
		asked  int
	}{
		{"unknown", nil, 3},
		{"known to be absent", func() bool { return true }, 0},
		{"known to be there", func() bool { return false }, 3},
	} {
		from := &withoutDruid{}
		r := &Reader{Reader: from, NoEtcds: row.absent}
		for range 3 {
			if _, err := r.Owners(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if from.asked != row.asked {
			t.Errorf("%s: asked for Etcds %d times, want %d", row.name, from.asked, row.asked)
		}
	}
}
