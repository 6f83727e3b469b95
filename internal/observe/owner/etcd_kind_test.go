// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// TestEtcdKindIsTheProducts compares the kind of druid's API module with the one that internal/flavour
// recognises, which can't import that module.
func TestEtcdKindIsTheProducts(t *testing.T) {
	t.Parallel()
	if got := flavour.Of(flavour.Druid).Controllers; !slices.Contains(got, EtcdKind) {
		t.Errorf("etcd-druid's kinds in internal/flavour are %v, want %v", got, EtcdKind)
	}
}
