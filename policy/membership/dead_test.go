// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var deadRows = []struct {
	row   string
	given Silence
	want  policy.Reason
}{
	{"M-38 nothing is left of it", Silence{Contact: ContactNone}, policy.CuresMember},
	{"M-38 its pod crashes", Silence{Pod: "main-2", Contact: ContactNone}, policy.CuresMember},
	{"M-38 its pod is frozen", Silence{Pod: "main-2", Contact: ContactSilent}, policy.CuresMember},
	{"M-39 no pod of the group, and the leader receives from it", Silence{Contact: ContactActive}, VoterAlive},
	{"M-39 its pod doesn't answer the plugin, and the leader receives from it", Silence{Pod: "main-2", Contact: ContactActive}, VoterAlive},
	{"M-39 it leads", Silence{Contact: ContactLeads}, VoterAlive},
	{"M-39 it leads, and a pod has its name", Silence{Contact: ContactLeads, Elsewhere: []string{"etcd3-0"}}, VoterAlive},
	{"M-40 a pod has its name", Silence{Contact: ContactNone, Elsewhere: []string{"etcd3-0"}}, VoterElsewhere},
	{"M-40 a pod has its name, and metrics can't be read", Silence{Elsewhere: []string{"etcd3-0"}, Unknown: "403"}, VoterElsewhere},
	{"M-40 the leader is connected with it", Silence{Contact: ContactSilent}, VoterElsewhere},
	{"M-41 metrics can't be read", Silence{Unknown: "403"}, VoterUnknown},
	{"M-41 pods can't be listed", Silence{Contact: ContactNone, Unknown: "403"}, VoterUnknown},
	{"M-41 nothing is known", Silence{}, VoterUnknown},
	{"M-41 its pod doesn't answer, and metrics can't be read", Silence{Pod: "main-2", Unknown: "403"}, VoterUnknown},
}

// TestIsDead has a row per kind of silence.
func TestIsDead(t *testing.T) {
	t.Parallel()
	for _, row := range deadRows {
		if v := IsDead(row.given); v.Reason != row.want || v.Allowed != (row.want == policy.CuresMember) {
			t.Errorf("%s: %+v, want %s", row.row, v, row.want)
		}
	}
}

// TestDeadMeansLost is the promise over all silences: a voter is only dead where the leader
// is known to receive nothing from it, and, unless its own pod is known, has no connection
// and no other pod can be it.
func TestDeadMeansLost(t *testing.T) {
	t.Parallel()
	for _, pod := range []string{"", "main-2"} {
		for _, elsewhere := range [][]string{nil, {"etcd3-0"}} {
			for contact := ContactUnknown; contact <= ContactLeads; contact++ {
				for _, unknown := range []string{"", "why"} {
					s := Silence{pod, elsewhere, contact, unknown}
					lost := contact == ContactNone || pod != "" && contact == ContactSilent
					if pod == "" && len(elsewhere) > 0 || unknown != "" {
						lost = false
					}
					if v := IsDead(s); v.Allowed != lost {
						t.Errorf("%+v: %+v, want %t", s, v, lost)
					}
				}
			}
		}
	}
}
