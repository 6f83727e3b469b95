// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// claimRows are the rows of docs/rules/growth.md about one claim. The size is 20.
var claimRows = []struct {
	row    string
	claim  Claim
	may    bool
	reason policy.Reason
}{
	{"G-1 emptyDir", Claim{Elsewhere: "in emptyDir data"}, false, NoClaim},
	{"G-2 lost", Claim{Name: "c", Trouble: "it is not bound to a volume", Request: 20, Capacity: 20}, false, ClaimUnusable},
	{"G-3 larger already", Claim{Name: "c", Class: "fast", Expands: true, Request: 21, Capacity: 10}, false, SmallerSize},
	{"G-3 a larger volume", Claim{Name: "c", Class: "fast", Expands: true, Request: 10, Capacity: 21}, false, SmallerSize},
	{"G-4 done", Claim{Name: "c", Request: 20, Capacity: 20}, true, SizeRequested},
	{"G-4 done, by a driver that rounds up", Claim{Name: "c", Request: 20, Capacity: 32}, true, SizeRequested},
	{"G-4 begun", Claim{Name: "c", Class: "fast", Request: 20, Capacity: 10}, true, SizeRequested},
	{"G-5 no class", Claim{Name: "c", Expands: true, Request: 10, Capacity: 10}, false, NotExpandable},
	{"G-5 no expansion", Claim{Name: "c", Class: "slow", Request: 10, Capacity: 10}, false, NotExpandable},
	{"G-6 otherwise", Claim{Name: "c", Class: "fast", Expands: true, Request: 10, Capacity: 10}, true, Expandable},
	{"G-6 the volume has it", Claim{Name: "c", Class: "fast", Expands: true, Request: 10, Capacity: 20}, true, Expandable},
}

func TestMayGrow(t *testing.T) {
	t.Parallel()
	for _, r := range claimRows {
		r.claim.Pod = "main-0"
		if v := MayGrow(r.claim, 20); v.Allowed != r.may || v.Reason != r.reason || v.Message == "" {
			t.Errorf("%s: %t, %s (%s)", r.row, v.Allowed, v.Reason, v.Message)
		}
	}
}

// facts returns a cluster: a letter for each member, and one for its claim. Of the members:
//
//	L  the leader     v  a healthy follower     x  down     n  new, and not healthy yet     N  new and back
//
// Of the claims:
//
//	s  small     r  requested     p  its file system waits     f  failed     b  larger than the size     g  grown
//	-  not known
func facts(members, claims string) Facts {
	f := Facts{Size: 20}
	f.Cluster = policy.Cluster{Namespace: "team", Name: "main", Size: len(members)}
	for i, letter := range members {
		m := restart.Member{Pod: fmt.Sprintf("main-%d", i), Recorded: true, Exists: true, PodReady: letter != 'n', Leader: letter == 'L', New: letter == 'n' || letter == 'N'}
		if letter == 'x' || letter == 'n' {
			m.Trouble = "it does not answer"
		}
		f.Members = append(f.Members, m)
		f.Cluster.Members = append(f.Cluster.Members, policy.Member{Pod: m.Pod, Exists: true, PodReady: m.PodReady, Ready: m.Trouble == ""})
		c := Claim{Pod: m.Pod, Name: "data-" + m.Pod, Class: "fast", Expands: true, Request: 20, Capacity: 10}
		switch claims[i] {
		case 's':
			c.Request = 10
		case 'p':
			c.NeedsRestart = true
		case 'f':
			c.Failure = "the disk is gone"
		case 'b':
			c.Request = 30
		case '-':
			continue
		case 'g':
			c.Capacity, c.Failure, c.NeedsRestart = 20, "an old one", true
		}
		f.Claims = append(f.Claims, c)
	}
	return f
}

// stepRows are the rows of docs/rules/growth.md about the next step.
var stepRows = []struct {
	row, members, claims string
	kind                 Kind
	pod                  string
	reason               policy.Reason
}{
	{"G-10 a resize failed", "Lvv", "ssf", Stopped, "main-2", ResizeFailed},
	{"G-10 another client requested more", "Lvv", "sbg", Stopped, "main-1", SmallerSize},
	{"G-11 a member starts", "Lvn", "ssp", Wait, "main-2", restart.MemberRestarting},
	{"G-11 after its claim has grown", "Lvn", "ssg", Wait, "main-2", restart.MemberRestarting},
	{"G-12 a volume grows", "Lvv", "ssr", Wait, "main-2", VolumeGrowing},
	{"G-12 the driver has still to come to it", "Lxv", "srs", Wait, "main-1", VolumeGrowing},
	{"G-12 in its new pod", "LvN", "ssr", Wait, "main-2", VolumeGrowing},
	{"G-12 before a restart of another", "Lvv", "srp", Wait, "main-1", VolumeGrowing},
	{"G-13 the leader needs a restart", "Lvv", "pgg", MoveLeader, "main-0", restart.LeaderLast},
	{"G-14 another is down", "Lxv", "sgp", Blocked, "main-2", restart.QuorumNeedsAll},
	{"G-15 a restart", "Lvv", "ssp", Restart, "main-2", RestartToGrow},
	{"G-15 in the order of restarts", "Lvv", "ppg", Restart, "main-1", RestartToGrow},
	{"G-15 the only member", "L", "p", Restart, "main-0", RestartToGrow},
	{"G-15 its pod was new before its claim grew", "LvN", "ssp", Restart, "main-2", RestartToGrow},
	{"G-16 a pod is missing", "Lvv", "gg-", Blocked, "", policy.MemberDown},
	{"G-16 before a broken member", "Lvx", "g-s", Blocked, "", policy.MemberDown},
	{"G-17 a broken one first", "Lxv", "sss", Grow, "main-1", policy.CuresMember},
	{"G-17 no quorum", "xxx", "ssg", Grow, "main-1", policy.CuresMember},
	{"G-18 another is down", "Lxv", "sgs", Blocked, "main-2", restart.QuorumNeedsAll},
	{"G-18 two members", "Lv", "ss", Blocked, "main-1", restart.QuorumNeedsAll},
	{"G-19 the highest follower", "Lvv", "sss", Grow, "main-2", policy.QuorumKept},
	{"G-19 the next", "Lvv", "ssg", Grow, "main-1", policy.QuorumKept},
	{"G-19 the leader last", "Lvv", "sgg", Grow, "main-0", policy.QuorumKept},
	{"G-19 after a restart of it", "LvN", "ssg", Grow, "main-1", policy.QuorumKept},
	{"G-20 all", "Lvv", "ggg", Done, "", VolumesComplete},
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, r := range stepRows {
		s := Next(facts(r.members, r.claims))
		if s.Kind != r.kind || s.Pod != r.pod || s.Reason != r.reason || s.Message == "" {
			t.Errorf("%s: kind %d, pod %q, %s (%s)", r.row, s.Kind, s.Pod, s.Reason, s.Message)
		}
	}
}

// TestBegun: what is blocked ends a command that has changed nothing, and is awaited after that.
func TestBegun(t *testing.T) {
	t.Parallel()
	for claims, want := range map[string]bool{"sss": false, "s-s": false, "srs": true, "ssg": true} {
		if Begun(facts("Lvv", claims)) != want {
			t.Errorf("%s: %t", claims, !want)
		}
	}
}

// TestOneAtATime holds for every cluster of three: no claim is changed and no member is restarted while another
// claim grows, another member starts, or a resize has failed, and a restart always leaves a quorum.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	const members, claims = "Lvxn", "srpfg"
	for i := range 4 * 4 * 4 * 5 * 5 * 5 {
		m := []byte{members[i%4], members[i/4%4], members[i/16%4]}
		c := []byte{claims[i/64%5], claims[i/320%5], claims[i/1600%5]}
		s := Next(facts(string(m), string(c)))
		if s.Kind != Grow && s.Kind != Restart && s.Kind != MoveLeader {
			continue
		}
		at := int(s.Pod[len(s.Pod)-1] - '0')
		others := string(c[:at]) + string(c[at+1:])
		well := strings.Count(string(m[:at])+string(m[at+1:]), "L") + strings.Count(string(m[:at])+string(m[at+1:]), "v")
		switch {
		case strings.ContainsAny(string(c), "f"), strings.Contains(string(m), "n"):
			t.Errorf("%s %s: step %d of %s", m, c, s.Kind, s.Pod)
		case strings.Contains(string(c), "r"), s.Kind == Grow && strings.Contains(others, "p"):
			t.Errorf("%s %s: step %d of %s while another grows", m, c, s.Kind, s.Pod)
		case s.Kind == Restart && well < 2, s.Kind == Grow && m[at] != 'x' && well < 2:
			t.Errorf("%s %s: step %d of %s leaves no quorum", m, c, s.Kind, s.Pod)
		}
	}
}
