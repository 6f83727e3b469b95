// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestTrialPodIsAMember finds, as admission does, the cluster of the pod that is
// asked for: whatever owns the cluster, its StatefulSet must own the pod.
func TestTrialPodIsAMember(t *testing.T) {
	t.Parallel()
	r := &observe.Reader{Reader: flavours(t)}
	owners, err := r.Owners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// There a StatefulSet that is none of the Etcd's has its name.
	anothers := owner.Key{Kind: "Etcd", Namespace: "mixed", Name: "store"}
	tried := map[string]int{}
	for _, o := range owners {
		if there := memberOf(t.Context(), r, o) != nil; there != (o.Key() != anothers) {
			t.Errorf("a pod like a member's of %s: %t", o, there)
		}
		tried[o.Kind]++
	}
	if tried["Etcd"] < 2 || tried["StatefulSet"] < 2 {
		t.Errorf("owners by their kind: %v", tried)
	}
}

// flavours are the clusters of all kinds that observe is tested with.
func flavours(t *testing.T) observetest.Objects {
	t.Helper()
	return observetest.ReadFile(t, observe.AddToScheme, filepath.Join("..", "..", "internal", "observe", "testdata", "flavours.yaml"))
}
