// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// wayKinds are the kinds of owners, by who changes the members. A chart that removes no members is as a plain
// StatefulSet to the rule.
var wayKinds = map[string]func(*Facts){
	"R-12 plain StatefulSet":             func(*Facts) {},
	"R-12 Etcd":                          func(f *Facts) { ofEtcd(f); f.Target = "etcd/main" },
	"R-15 operator that removes members": func(f *Facts) { f.Manager, f.How = "the operator", "set spec.size" },
	"R-12 operator that removes none": func(f *Facts) {
		f.Operator, f.How = "the operator", "remove the member with etcdctl, set spec.size"
	},
	"R-15 script that removes members": func(f *Facts) {
		f.Manager, f.Script, f.How = "the preStop hook", true, "kubectl scale statefulset main --replicas N -n team"
	},
	"R-12 script that removes none": func(f *Facts) {
		f.How = "remove the member with etcdctl, kubectl scale statefulset main --replicas N -n team"
	},
	"R-20 several StatefulSets": func(f *Facts) { f.Sets, f.How = "a, b and main", "scale the StatefulSet of the member to 0 replicas" },
	"R-23 created":              func(f *Facts) { f.Creates = true },
	"R-25 members elsewhere":    func(f *Facts) { f.Elsewhere = 1 },
}

// eachWrite calls try with writes of up to five voters, of which any of the ready ones are those with the
// highest or the lowest ordinals.
func eachWrite(try func(f Facts)) {
	for voters := 1; voters <= 5; voters++ {
		for now := range voters + 1 {
			for asked := range 6 {
				for down := range now + 1 {
					for _, volumes := range []Volumes{Retained, Deleted, NoClaims} {
						for _, high := range []bool{true, false} {
							f := healthy(voters, now, asked)
							f.Volumes, f.Ready = volumes, now-down
							if f.Staying = min(f.Ready, asked); !high {
								f.Staying = max(0, min(now, asked)-down)
							}
							for _, unrecorded := range []bool{true, false} {
								f.Unrecorded = unrecorded
								try(f)
							}
						}
					}
				}
			}
		}
	}
}

var (
	pluginScale = regexp.MustCompile(`kubectl etcd scale \S+ -n team --replicas (\d+)`)
	plainScale  = regexp.MustCompile(`kubectl scale statefulset/main -n team --replicas (\d+)`)
	declared    = regexp.MustCompile(`kubectl patch statefulset/main .*"spec":\{"replicas":(\d+)`)
)

// TestWaysArePossible types the first command of each way that is printed: kubectl etcd scale must not be refused by
// the rule of membership, and a write of the replicas must not be refused by this rule, in the state that the way is for.
func TestWaysArePossible(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	for kind, set := range wayKinds {
		eachWrite(func(f Facts) {
			set(&f)
			v := Evaluate(f)
			if v.Reason == policy.QuorumKept || v.Reason == AllStop {
				return
			}
			if way := checkWay(f, v); way != "" {
				t.Fatalf("%s: %+v: %s\n%s", kind, f, way, v.Message)
			}
			tried[v.Reason.Name()]++
		})
	}
	for _, reason := range []policy.Reason{StartsTooFew, VotersLost, VotersLeft, VolumesDeleted, MoreReplicas} {
		if tried[reason.Name()] == 0 {
			t.Errorf("no way of %s was tried", reason)
		}
	}
}

// checkWay returns what is wrong with the first command of a verdict's way, empty for nothing.
func checkWay(f Facts, v policy.Verdict) string {
	if v.Allowed { // the way is used after the write
		f.Now, f.Ready = f.Asked, min(f.Staying, f.Asked)
	}
	if !f.Creates && f.Operator == "" && declared.MatchString(v.Message) {
		fewer := f
		fewer.Voters = number(declared, v.Message)
		if refused := writeRefused(fewer, fewer.Voters, true); refused != "" {
			return refused
		}
	}
	first, _, _ := strings.Cut(v.Message, "; then") // a later one is for the state that the first makes
	first, _, _ = strings.Cut(first, ", then")
	switch {
	case strings.Contains(v.Message, "whenScaled") && f.Volumes == Deleted && !strings.Contains(v.Message, "kubectl etcd scale") && f.keepsClaims() != "":
		return keptTooLate(f, v)
	case pluginScale.MatchString(first):
		return pluginRefuses(f, number(pluginScale, first))
	case plainScale.MatchString(first):
		return writeRefused(f, number(plainScale, first), false)
	case strings.Contains(first, "if etcd has fewer voters"):
	case declared.MatchString(first):
		return writeRefused(f, number(declared, first), true)
	}
	return sameWrite(f, v)
}

func keptTooLate(f Facts, v policy.Verdict) string {
	if f.Adder != "" { // a new cluster deletes no claim of this one
		return ""
	}
	if at := strings.Index(v.Message, f.How); f.How != "" && at >= 0 && strings.Index(v.Message, "Retain") > at {
		return "the claims are kept only after the write that deletes them"
	}
	return ""
}

// sameWrite returns that the way in a cluster of several StatefulSets is the write that was refused.
func sameWrite(f Facts, v policy.Verdict) string {
	refused := f.Sets != "" && f.Asked > 0 && f.Asked < f.Now && !v.Allowed && v.Reason != VolumesDeleted
	another := regexp.MustCompile("at a time|first|one of the 2 voters")
	if refused && !another.MatchString(v.Message) {
		return "the same write is the way"
	}
	return ""
}

func number(in *regexp.Regexp, text string) int {
	n, _ := strconv.Atoi(in.FindStringSubmatch(text)[1])
	return n
}

// writeRefused returns why a write of the replicas is refused in the state of the facts.
func writeRefused(f Facts, replicas int, declared bool) string {
	f.Asked, f.Declared, f.Keeping = replicas, declared, min(replicas, f.Voters)
	f.Staying = min(f.Ready, replicas)
	if v := Evaluate(f); !v.Allowed {
		return fmt.Sprintf("%d replicas are refused: %s", replicas, v.Message)
	}
	return ""
}

// pluginRefuses returns why kubectl etcd scale refuses in the state of the facts, or can't begin.
func pluginRefuses(f Facts, target int) string {
	if f.Adder != "" {
		if f.Now > 0 || f.Held != target {
			return "etcd-druid starts exactly the members that have volumes"
		}
		return ""
	}
	cluster, state := seenByPlugin(f, target)
	if v := policy.Precondition(cluster, ""); !v.Allowed {
		return "kubectl etcd scale refuses: " + v.Message
	}
	operation := membership.ScaleOut
	if target < f.Voters {
		operation = membership.ScaleIn
	}
	if f.Now != f.Voters || target%2 == 0 || target > policy.MaxScale {
		return "kubectl etcd scale refuses the numbers"
	}
	step := membership.Next(state, membership.Record{Operation: operation, Target: target, Replicas: f.Now, OnDelete: true})
	if step.Act == membership.Stop || step.Act == membership.Wait {
		return "kubectl etcd scale can't begin: " + step.Message
	}
	return ""
}

// seenByPlugin returns the cluster of the facts as kubectl etcd scale observes it.
func seenByPlugin(f Facts, target int) (policy.Cluster, membership.ClusterState) {
	cluster := policy.Cluster{Namespace: f.Namespace, Target: f.Target, Size: f.Voters}
	state := membership.ClusterState{Replicas: f.Now, OnDelete: true, Original: true}
	for at := range max(f.Voters, target) {
		replica := membership.Replica{Pod: fmt.Sprintf("main-%d", at), URL: fmt.Sprintf("http://main-%d", at)}
		if at < f.Now {
			replica.UID = "uid"
		}
		state.Ordinals = append(state.Ordinals, replica)
		if at >= f.Voters {
			continue
		}
		up := at < f.Staying || at >= f.Keeping && at < f.Keeping+f.Ready-f.Staying
		state.Members = append(state.Members, membership.Peer{ID: uint64(at + 1), Ordinal: at, Healthy: up, Leader: at == 0})
		cluster.Members = append(cluster.Members, policy.Member{Pod: replica.Pod, Exists: at < f.Now, PodReady: up, Ready: up})
	}
	return cluster, state
}

// TestWaysOfKinds: the ways where the refused act itself would be refused again.
func TestWaysOfKinds(t *testing.T) {
	t.Parallel()
	unready := func(f Facts) Facts { f.Ready, f.Staying = 3, 2; return f }
	const wait = "first wait until all 5 voters are ready, or repair those that are not: kubectl etcd diagnose statefulset/main -n team shows how; then, "
	for _, row := range []struct {
		row   string
		kind  string
		facts Facts
		want  string
	}{
		{"R-13 plain", "R-12 plain StatefulSet", unready(healthy(5, 5, 3)), wait + "run: kubectl etcd scale statefulset/main -n team --replicas 3"},
		{"R-13 plain, which etcd may not count", "R-12 plain StatefulSet", unready(healthy(5, 5, 3)), "--replicas 3; if etcd has fewer voters, declare them with the replicas: kubectl patch statefulset/main"},
		{"R-12 one voter, scaled out to three and back", "R-12 plain StatefulSet", with(healthy(3, 3, 1), func(f *Facts) { f.Ready, f.Staying = 1, 1 }), "--replicas 1; if etcd has fewer voters, declare them with the replicas: kubectl patch statefulset/main"},
		{"R-12 one voter, scaled out to three and back to two", "R-12 plain StatefulSet", with(healthy(3, 2, 1), func(f *Facts) { f.Ready, f.Staying = 1, 1 }), "use kubectl etcd scale statefulset/main -n team --replicas N; if etcd has fewer voters, declare them with the replicas: kubectl patch statefulset/main"},
		{"R-13 script", "R-12 script that removes none", unready(healthy(5, 5, 3)), wait + "remove the member with etcdctl"},
		{"R-13 sets", "R-20 several StatefulSets", unready(healthy(5, 5, 3)), wait + "remove one member at a time"},
		{"R-13 Etcd", "R-12 Etcd", unready(healthy(5, 5, 3)), "etcd-druid removes no members"},
		{"R-12 the quorum is lost", "R-12 plain StatefulSet", with(healthy(5, 5, 1), func(f *Facts) { f.Ready, f.Staying = 2, 1 }), wait + "run: kubectl etcd scale"},
		{"R-12 an operator that removes none, scaled in twice", "R-12 operator that removes none", healthy(5, 3, 1), "set the number of members to 5 in the object from which the operator takes it; then, once all are ready, remove"},
		{"R-9 an operator that removes none", "R-12 operator that removes none", healthy(3, 0, 1), "to start all, set the number of members to 3 in the object from which the operator takes it"},
		{"R-9 an Etcd", "R-12 Etcd", healthy(3, 0, 1), "to start all, run: kubectl etcd scale etcd/main -n team --replicas 3"},
		{"R-9 an Etcd without a volume", "R-12 Etcd", with(healthy(3, 0, 1), func(f *Facts) { f.Held = 2 }), "to start all, run: kubectl scale etcd/main -n team --replicas 3; kubectl annotate etcd/main -n team druid.gardener.cloud/operation=reconcile"},
		{"R-12 two of several StatefulSets", "R-20 several StatefulSets", healthy(2, 2, 1), "etcd must remove one of the 2 voters before it stops: remove it with etcdctl member remove"},
		{"R-24 a script", "R-15 script that removes members", with(healthy(5, 5, 1), func(f *Facts) { f.Volumes, f.Marked = Deleted, "main-set" }), "first keep the claims: kubectl patch statefulset/main-set -n team --type merge -p '{\"spec\":" +
			"{\"persistentVolumeClaimRetentionPolicy\":{\"whenScaled\":\"Retain\"}}}'; then, the preStop hook changes the members: kubectl scale"},
		{"R-23 created over members elsewhere", "R-23 created", with(healthy(4, 2, 1), func(f *Facts) { f.Elsewhere = 2 }), "create it with 2 replicas; then, 2 of the 4 voters run elsewhere"},
		{"R-23 created for a script", "R-23 created", with(healthy(3, 3, 1), func(f *Facts) { f.How = "how to" }), "create it with 3 replicas; then, once all are ready, how to"},
		{"R-14 no claims, and scaled in", "R-12 plain StatefulSet", with(healthy(5, 5, 3), func(f *Facts) { f.Volumes = NoClaims }), "first remove from etcd the voters without a replica whose volumes are gone: kubectl etcd check statefulset/main -n team --only M001"},
		{"R-14 passes", "R-12 plain StatefulSet", healthy(5, 5, 3), "first bring the other voters back: kubectl scale statefulset/main -n team --replicas 5; then, once all are ready, use kubectl etcd scale"},
		{"R-17 passes", "R-12 plain StatefulSet", healthy(3, 3, 5), "first set the replicas to the number of voters: kubectl patch statefulset/main -n team --type merge"},
		{"R-19 declared, and fewer", "R-12 plain StatefulSet", with(healthy(3, 5, 1), func(f *Facts) { f.Declared = true }), "first set the replicas to the number of voters: kubectl patch statefulset/main -n team --type merge"},
	} {
		f := row.facts
		wayKinds[row.kind](&f)
		if v := Evaluate(f); !strings.Contains(v.Message, row.want) {
			t.Errorf("%s:\n got %s\nwant %s", row.row, v.Message, row.want)
		}
	}
}
