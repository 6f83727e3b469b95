// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginReplaceTakenBack rolls back a replacement after the member has been removed. The pod
// then has no member. All commands report this with a fix. No command proposes fewer replicas,
// which would delete a pod with a voter.
func TestPluginReplaceTakenBack(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	before := livesOf(t, c)
	r := startPlugin(t, "member", "replace", "main-1", "--force", "-n", ns, "-y")
	r.awaitOutput(t, "removed main-1")
	kill(t, c, r)
	const lacks = "etcd has 2 members and the StatefulSet asks for 3"
	cure := "kubectl etcd member replace statefulset/main main-1 -n " + ns
	_, printed := plugin(t, 0, "member", "replace", "main-1", "--abort", "-n", ns, "-y")
	wants(t, printed, lacks, cure)

	prints(t, 3, []string{"main-1: is not a member", "fix: kubectl etcd member replace statefulset/main main-1 -n " + ns}, "check", "main", "--only", "M002", "-n", ns)
	prints(t, 0, []string{"fix: kubectl etcd check statefulset/main --only members"}, "check", "main", "--only", "Q002", "-n", ns)
	prints(t, 3, []string{"no member", "kubectl etcd member replace statefulset/main main-1 -n " + ns}, "status", "main", "-n", ns)
	refuses(t, []string{lacks, cure}, "scale", "main", "--replicas", "5", "-n", ns, "-y")

	plugin(t, 0, "member", "replace", "main-1", "-n", ns, "-y")
	delete(before, "main-1")
	scaled(t, c, 3, before)
}
