// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "testing"

// TestGuardModes holds that a guard is never stronger than its policy.
func TestGuardModes(t *testing.T) {
	t.Parallel()
	off := new(bool)
	for _, row := range []struct {
		spec               EtcdTopologyPolicySpec
		evictions, deletes Mode
	}{
		{EtcdTopologyPolicySpec{}, ModeEnforce, ModeWarn},
		{EtcdTopologyPolicySpec{Mode: ModeWarn}, ModeWarn, ModeWarn},
		{EtcdTopologyPolicySpec{Mode: ModeOff}, ModeOff, ModeOff},
		{EtcdTopologyPolicySpec{Disruption: Disruption{Enabled: off}}, ModeOff, ModeOff},
		{EtcdTopologyPolicySpec{Disruption: Disruption{Evictions: ModeOff, Deletes: ModeEnforce}}, ModeOff, ModeEnforce},
		{EtcdTopologyPolicySpec{Disruption: Disruption{Evictions: ModeWarn, Deletes: ModeOff}}, ModeWarn, ModeOff},
		{EtcdTopologyPolicySpec{Mode: ModeWarn, Disruption: Disruption{Evictions: ModeOff, Deletes: ModeEnforce}}, ModeOff, ModeWarn},
	} {
		if e, d := row.spec.GuardEvictions(), row.spec.GuardDeletes(); e != row.evictions || d != row.deletes {
			t.Errorf("%+v: evictions %s, deletes %s", row.spec, e, d)
		}
	}
}
