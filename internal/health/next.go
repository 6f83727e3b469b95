// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// nextShown is how many commands are named.
const nextShown = 3

// nextCommands are those to go on with, the most urgent first.
func nextCommands(st *v1alpha1.EtcdClusterStatus, pods []*corev1.Pod) []string {
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
			for _, m := range sickPods(st, pods) {
				add(m)
			}
		case reasonDeadVoter:
			for i := range st.Members {
				if m := &st.Members[i]; m.Pod == "" && m.State == StateNoPod {
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
	if p.Reason == reasonAlarm && !strings.Contains(p.Message, maintenance.NoSpace) {
		return "kubectl etcd check " + target + " --only D004"
	}
	return "kubectl etcd defrag " + target
}

// sickPods are the commands that show why members are down.
func sickPods(st *v1alpha1.EtcdClusterStatus, pods []*corev1.Pod) []string {
	var out []string
	for i := range st.Members {
		if command := sickPod(st, &st.Members[i], PodNamed(pods, st.Members[i].Pod)); command != "" {
			out = append(out, command)
		}
	}
	return out
}

// sickPod is what Kubernetes says of a pod that doesn't run, or what the member says of one
// that does; empty where there is nothing to look at.
func sickPod(st *v1alpha1.EtcdClusterStatus, m *v1alpha1.MemberStatus, pod *corev1.Pod) string {
	switch {
	case m.Pod == "" || m.State == v1alpha1.StateOK || m.State == stateNotAsked || m.State == stateUnseen:
		return ""
	case m.State == StateNoPod && st.Cluster.StatefulSet == "":
		return ""
	case m.State == StateNoPod:
		return "kubectl describe statefulset " + st.Cluster.StatefulSet
	case m.State == stateNoMember:
		return "kubectl etcd check " + st.Cluster.Target + " --only M002"
	case strings.HasPrefix(m.State, "CrashLoop") && pod != nil && waiting(pod) != nil:
		return "kubectl logs " + m.Pod + " -c " + waiting(pod).Name + " --previous"
	case m.State == stateSilent || m.State == stateLeaderless || m.State == stateSick:
		return "kubectl logs " + m.Pod + inMember(pod) + " --tail 50"
	}
	return "kubectl describe pod " + m.Pod
}

// inMember names the container that runs a member, where it is known.
func inMember(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	if c := etcdconf.MemberContainer(&pod.Spec); c != nil {
		return " -c " + c.Name
	}
	return ""
}
