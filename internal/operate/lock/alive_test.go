// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAlive: a holder that has not renewed its lock for a minute is shown as dead. Its objects may be removed after
// ten.
func TestAlive(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	held := func(holder string, ago time.Duration) *coordinationv1.Lease {
		l := &coordinationv1.Lease{}
		l.Spec.HolderIdentity, l.Spec.RenewTime = &holder, new(metav1.NewMicroTime(now.Add(-ago)))
		return l
	}
	for _, row := range []struct {
		lease            *coordinationv1.Lease
		shown, may, have bool
	}{
		{&coordinationv1.Lease{}, false, false, false},
		{held("", 0), false, false, false},
		{held("ann", time.Second), true, true, true},
		{held("ann", -time.Hour), true, true, true},
		{held("ann", LeaseDuration), true, true, true},
		{held("ann", time.Minute), false, true, true},
		{held("ann", 9*time.Minute), false, true, true},
		{held("ann", 10*time.Minute), false, false, true},
	} {
		shown, may, have := holderOf(row.lease).SeemsAlive(now), MayBeHeld(row.lease, now), HasHolder(row.lease)
		if shown != row.shown || may != row.may || have != row.have {
			t.Errorf("%+v: shown as alive: %t, may be alive: %t, has a holder: %t", row.lease.Spec, shown, may, have)
		}
	}
}
