// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestCutBesideScale: a scale is an obstacle for a user's cut, and none for an operation under which all members stop: it
// can be the stop itself.
func TestCutBesideScale(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		set := observetest.EtcdSet("main/0")
		set.Status.Replicas, set.Status.ObservedGeneration = 1, set.Generation
		c := &Cluster{
			Owner: owner.OfStatefulSet(set), Unreached: errors.New("they stop"),
			Reader: &observe.Reader{Reader: observetest.Objects{set}, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}},
		}
		err := c.obstacles(t.Context(), Request{AllStop: all})
		if refused := err != nil && strings.Contains(err.Error(), "scale from 1 to 0 members"); refused == all || err != nil && !refused {
			t.Errorf("all stop %t: %v", all, err)
		}
	}
}
