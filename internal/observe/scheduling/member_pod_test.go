// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// strict refuses to get what has no name, as a client of the API server does.
type strict struct{ client.Reader }

func (s strict) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if key.Name == "" {
		return errors.New("resource name may not be empty")
	}
	return s.Reader.Get(ctx, key, obj, opts...)
}

// TestMemberPodWithoutAName asks for no object that a cluster doesn't name.
func TestMemberPodWithoutAName(t *testing.T) {
	t.Parallel()
	r := &observe.Reader{Reader: strict{load(t, "../testdata/flavours.yaml")}}
	owners, err := r.Clusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range owners {
		if _, found, err := MemberPod(t.Context(), r, o); err != nil || found == o.WithoutStatefulSet() {
			t.Errorf("the next pod of %s: %t, %v", o, found, err)
		}
	}
}
