// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"fmt"
	"strings"
)

// DeclareVoters returns how a user declares how many voters etcd has, as a clause: n, or N for the user to
// fill in. The time makes it newer than what was declared before, and than the volume claims.
func (c Cluster) DeclareVoters(n string) string {
	if !strings.Contains(c.Target, "/") {
		return fmt.Sprintf(`set the annotation kubectl-etcd.dev/size of its owner to "%s at TIME", with the current time, as in 2026-01-31T12:00:00Z`, n)
	}
	return fmt.Sprintf(`run: kubectl annotate --overwrite %s -n %s kubectl-etcd.dev/size="%s at $(date -u +%%FT%%TZ)"`, c.Target, c.Namespace, n)
}

// DeclareReplicas returns the command that sets the replicas, and declares that etcd has as many voters: n, or N for the
// user to fill in.
func (c Cluster) DeclareReplicas(n string) string {
	return fmt.Sprintf(`kubectl patch %s --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"%s at '$(date -u +%%FT%%TZ)'"}},"spec":{"replicas":%s}}'`, c.TargetArgs(), n, n)
}

// OrRaised returns the way back after more replicas than etcd got voters, as the end of a sentence. Their pods never become
// ready, and nothing shows that they are no voters. It is empty if an object other than a StatefulSet has the replicas.
func (c Cluster) OrRaised() string {
	if !strings.HasPrefix(c.Target, "statefulset/") {
		return ""
	}
	return "; if the replicas were raised and etcd has only N voters, as kubectl etcd member list " + c.TargetArgs() + " shows, run: " + c.DeclareReplicas("N")
}

// DeclareListed returns how a user finds out how many voters etcd has, and declares that, as a clause.
func (c Cluster) DeclareListed() string {
	return fmt.Sprintf("if etcd has N voters, as kubectl etcd member list %s shows, %s", c.TargetArgs(), c.DeclareVoters("N"))
}

// TargetArgs returns the arguments by which a command of kubectl etcd names the cluster. What is not known is
// a placeholder.
func (c Cluster) TargetArgs() string {
	return cmp.Or(c.Target, c.Name, "NAME") + " -n " + cmp.Or(c.Namespace, "NAMESPACE")
}

// CountElsewhere is how members that the lists name count for etcd-webhook, as a clause: it reads StatefulSets, and no
// pods of other workloads.
const CountElsewhere = "if StatefulSets of this namespace run them, name all members in the lists of all (--initial-cluster), so that they count; " +
	"if other pods run them, which etcd-webhook doesn't count, replace each of them with a member that a StatefulSet runs"
