// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// nextShown is how many commands are named.
const nextShown = 3

// nextCommands are those to go on with, the most urgent first.
func nextCommands(st *v1alpha1.EtcdClusterStatus) []string {
	var out []string
	ns := " -n " + st.Cluster.Namespace
	add := func(command string) {
		if command += ns; !slices.Contains(out, command) && len(out) < nextShown {
			out = append(out, command)
		}
	}
	target := st.Cluster.Target
	if st.UnderWay != nil {
		out = append(out, st.UnderWay.Commands...)
	}
	for _, p := range st.Problems {
		switch p.Reason {
		case reasonMemberDown, reasonNoQuorum:
			for _, m := range sickPods(st) {
				add(m)
			}
		case reasonDeadVoter:
			for i := range st.Members {
				if m := &st.Members[i]; m.Pod == "" && m.State == stateNoPod {
					add("kubectl etcd member remove " + target + " " + m.ID)
				}
			}
		case reasonAlarm, reasonQuota, reasonFragmented:
			add(databaseCommand(p, target))
		case reasonTraffic:
			add("kubectl etcd restore-client-traffic " + target)
		case reasonLearner:
			add("kubectl etcd member list " + target)
		case reasonBackup:
			add("kubectl etcd snapshot list " + target)
		}
	}
	add("kubectl etcd check " + target)
	return out
}

// databaseCommand makes room in the databases, or shows whose data are wrong.
func databaseCommand(p v1alpha1.Problem, target string) string {
	if p.Reason == reasonAlarm && !strings.Contains(p.Message, policy.NoSpace) {
		return "kubectl etcd check " + target + " --only D004"
	}
	return "kubectl etcd defrag " + target
}

// sickPods are the commands that show why members are down: what Kubernetes says
// of a pod that doesn't run, what the member says of one that does.
func sickPods(st *v1alpha1.EtcdClusterStatus) []string {
	var out []string
	for i := range st.Members {
		m := &st.Members[i]
		switch {
		case m.Pod == "" || m.State == v1alpha1.StateOK:
		case m.State == stateNoPod && st.Cluster.StatefulSet != "":
			out = append(out, "kubectl describe statefulset "+st.Cluster.StatefulSet)
		case m.State == stateNoPod:
		case strings.HasPrefix(m.State, "CrashLoop"):
			out = append(out, "kubectl logs "+m.Pod+" -c etcd --previous")
		case m.State == stateSilent || m.State == stateLeaderless || m.State == stateSick:
			out = append(out, "kubectl logs "+m.Pod+" -c etcd --tail 50")
		default:
			out = append(out, "kubectl describe pod "+m.Pod)
		}
	}
	return out
}
