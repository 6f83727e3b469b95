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
	{"M-42 its pod crashes", Silence{Pod: "main-2", Contact: ContactNone}, VoterHasPod},
	{"M-42 its pod crashes, forced", Silence{Pod: "main-2", Contact: ContactNone, Forced: true}, policy.CuresMember},
	{"M-40 its pod is frozen", Silence{Pod: "main-2", Contact: ContactSilent}, VoterElsewhere},
	{"M-42 its pod is frozen, forced", Silence{Pod: "main-2", Contact: ContactSilent, Forced: true}, policy.CuresMember},
	{"M-39 the leader receives from it, forced", Silence{Pod: "main-2", Contact: ContactActive, Forced: true}, VoterAlive},
	{"M-40 no pod, connected, forced", Silence{Contact: ContactSilent, Forced: true}, VoterElsewhere},
	{"M-39 no pod of the group, and the leader receives from it", Silence{Contact: ContactActive}, VoterAlive},
	{"M-39 its pod doesn't answer the plugin, and the leader receives from it", Silence{Pod: "main-2", Contact: ContactActive}, VoterAlive},
	{"M-39 it leads", Silence{Contact: ContactLeads}, VoterAlive},
	{"M-39 it leads, and a pod has its name", Silence{Contact: ContactLeads, Elsewhere: []string{"etcd3-0"}}, VoterAlive},
	{"M-39 it answers in a pod of another workload", Silence{Contact: ContactAnswers, Elsewhere: []string{"etcd3-0"}}, VoterAlive},
	{"M-39 it answers in a pod of another workload, declared and forced", Silence{Contact: ContactAnswers, Elsewhere: []string{"etcd3-0"}, Forced: true, Lost: true}, VoterAlive},
	{"M-45 it ran before the others began again", Silence{Pod: "main-2", Contact: ContactNone, Predates: true}, VoterHasOldData},
	{"M-45 it ran before the others began again, forced", Silence{Pod: "main-2", Contact: ContactSilent, Forced: true, Predates: true}, VoterHasOldData},
	{"M-45 it ran before the others began again, declared", Silence{Contact: ContactNone, Unknown: "outside", Lost: true, Predates: true}, VoterHasOldData},
	{"M-45 its volume is older than those of the others", Silence{Pod: "main-2", Contact: ContactNone, OlderVolume: true}, VoterHasOldData},
	{"M-45 its volume is older than those of the others, forced", Silence{Pod: "main-2", Contact: ContactNone, Forced: true, OlderVolume: true}, VoterHasOldData},
	{"M-45 its volume is older than those of the others, declared", Silence{Contact: ContactNone, Unknown: "outside", Lost: true, OlderVolume: true}, VoterHasOldData},
	{"M-39 it ran before the others began again, and the leader receives from it", Silence{Pod: "main-2", Contact: ContactActive, Predates: true}, VoterAlive},
	{"M-40 a pod has its name", Silence{Contact: ContactNone, Elsewhere: []string{"etcd3-0"}}, VoterElsewhere},
	{"M-40 a pod has its name, and metrics can't be read", Silence{Elsewhere: []string{"etcd3-0"}, Unknown: "403"}, VoterElsewhere},
	{"M-40 the leader is connected with it", Silence{Contact: ContactSilent}, VoterElsewhere},
	{"M-43 its workload is scaled to 0", Silence{Stopped: "statefulset/etcd-2", Replicas: 1, Contact: ContactNone}, VoterStopped},
	{"M-43 its workload is scaled to 0, forced", Silence{Stopped: "deployment/etcd-2", Replicas: 1, Contact: ContactNone, Forced: true}, policy.CuresMember},
	{"M-43 its workload is scaled to 0, and metrics can't be read", Silence{Stopped: "statefulset/etcd-2", Unknown: "403"}, VoterStopped},
	{"M-41 its workload is scaled to 0, and metrics can't be read, forced", Silence{Stopped: "deployment/etcd-2", Unknown: "403", Forced: true}, VoterUnknown},
	{"M-40 its workload is scaled to 0, and a pod has its name", Silence{Stopped: "deployment/etcd-2", Elsewhere: []string{"x"}, Contact: ContactNone}, VoterElsewhere},
	{"M-39 its workload is scaled to 0, and the leader receives from it", Silence{Stopped: "deployment/etcd-2", Contact: ContactActive, Forced: true}, VoterAlive},
	{"M-41 metrics can't be read", Silence{Unknown: "403"}, VoterUnknown},
	{"M-41 pods can't be listed", Silence{Contact: ContactNone, Unknown: "403"}, VoterUnknown},
	{"M-41 nothing is known", Silence{}, VoterUnknown},
	{"M-44 its address is outside, declared", Silence{Contact: ContactNone, Unknown: "outside", Lost: true}, policy.CuresMember},
	{"M-41 its address is outside, and metrics can't be read, declared", Silence{Unknown: "403", Lost: true}, VoterUnknown},
	{"M-40 its address is outside, and the leader is connected with it, declared", Silence{Contact: ContactSilent, Unknown: "outside", Lost: true}, VoterElsewhere},
	{"M-39 its address is outside, and the leader receives from it, declared", Silence{Contact: ContactActive, Unknown: "outside", Lost: true}, VoterAlive},
	{"M-40 a pod has its name, declared", Silence{Contact: ContactNone, Elsewhere: []string{"x"}, Unknown: "outside", Lost: true}, VoterElsewhere},
	{"M-43 its workload is scaled to 0, declared", Silence{Stopped: "deployment/x", Contact: ContactNone, Unknown: "outside", Lost: true}, VoterStopped},
	{"M-42 its pod is there, declared", Silence{Pod: "main-2", Contact: ContactNone, Lost: true}, VoterHasPod},
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

// promised reports whether a silent voter may be removed, if all is known.
func promised(s Silence) bool {
	if s.Pod != "" {
		return s.Forced && (s.Contact == ContactNone || s.Contact == ContactSilent)
	}
	return s.Contact == ContactNone && len(s.Elsewhere) == 0 && (s.Stopped == "" || s.Forced)
}

// TestDeadMeansLost is the promise over all silences: a voter is only dead where the leader
// is known to receive nothing from it, and has no connection with it, and no pod can be it, now or when a
// workload is scaled up. Only a voter with a pod or such a workload can be removed by force, and only
// without messages from it. A declaration replaces only the knowledge of where it runs.
func TestDeadMeansLost(t *testing.T) {
	t.Parallel()
	for _, pod := range []string{"", "main-2"} {
		for _, elsewhere := range [][]string{nil, {"etcd3-0"}} {
			for contact := ContactUnknown; contact <= ContactLeads; contact++ {
				for _, unknown := range []string{"", "why"} {
					for _, forced := range []bool{false, true} {
						for _, stopped := range []string{"", "statefulset/etcd-2"} {
							for _, lost := range []bool{false, true} {
								for old := range 3 {
									s := Silence{Pod: pod, Forced: forced, Lost: lost, Elsewhere: elsewhere, Contact: contact, Unknown: unknown, Stopped: stopped, Predates: old == 1, OlderVolume: old == 2}
									declared := lost && pod == "" && stopped == ""
									if v := IsDead(s); v.Allowed != (promised(s) && old == 0 && (unknown == "" || declared)) {
										t.Errorf("%+v: %+v", s, v)
									}
								}
							}
						}
					}
				}
			}
		}
	}
}
