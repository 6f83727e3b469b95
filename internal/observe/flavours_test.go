// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

func flavours(t *testing.T) *observe.Reader {
	t.Helper()
	return &observe.Reader{Reader: observetest.ReadFile(t, observe.AddToScheme, "testdata/flavours.yaml")}
}

// TestFlavours reads every cluster of every product.
func TestFlavours(t *testing.T) {
	t.Parallel()
	r := flavours(t)
	owners, err := r.Clusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range flavour.All() {
		if !slices.ContainsFunc(owners, func(o owner.Owner) bool { return o.Distribution == p.Name }) {
			t.Errorf("no cluster in testdata/flavours.yaml is recognised as %s: add its objects, as in a real cluster", p.Name)
		}
	}
	var b strings.Builder
	for _, o := range owners {
		fmt.Fprintf(&b, "%s is %s, %d replicas\n", o, o.Distribution, o.Replicas)
		if o.WithoutStatefulSet() {
			fmt.Fprintln(&b, "  read only")
		}
		m := o.Membership()
		fmt.Fprintf(&b, "  members by %s %s\n  to scale: %s\n  to replace: %s\n", m.Manager, m.ManagerName, m.ScaleHow, m.ReplaceHow)
		pods, err := r.MemberPods(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		services, err := memberservices.OfClients(t.Context(), r, o)
		if err != nil {
			t.Fatal(err)
		}
		peer, err := memberservices.OfPeers(t.Context(), r, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods {
			fmt.Fprintf(&b, "  pod %s\n", p.Name)
		}
		for _, s := range services {
			fmt.Fprintf(&b, "  clients by %s\n", s.Name)
		}
		if peer.Service != nil {
			fmt.Fprintf(&b, "  peers by %s\n", peer.Name)
		}
	}
	observetest.Golden(t, filepath.Join("testdata", "flavours.golden.txt"), b.String())
}
