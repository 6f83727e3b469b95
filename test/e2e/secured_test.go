// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"regexp"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginSecured types the commands of other tests at clusters that require a client
// certificate of everyone.
func TestPluginSecured(t *testing.T) {
	beside(t)
	t.Run("druid", func(t *testing.T) {
		t.Parallel()
		enter(t, 3)
		c := start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Druid, TLS: true, Size: 1, Druid: clusters.DruidSpec{NoBackups: true}})
		on := []string{target(c), "-n", c.Namespace, "-y"}
		plugin(t, 0, append([]string{"scale", "--replicas", "3"}, on...)...)
		if err := c.WaitReady(t.Context()); err != nil { // druid restarts the pods after a scale-out
			t.Fatal(err)
		}
		secured(t, c, "etcd-druid")
		replacedByForce(t, c)
	})
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		enter(t, 3)
		c := start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain, TLS: true})
		secured(t, c, "plain")
		t.Run("a learner by hand", func(t *testing.T) { learnerByHand(t, c) })
		replacedByForce(t, c)
	})
	t.Run("bitnami", func(t *testing.T) {
		t.Parallel()
		c := borrowChart(t) // other tests have used it before
		t.Run("proxy with TLS", func(t *testing.T) { passthrough(t, c) })
		t.Run("client traffic", func(t *testing.T) { cutAndRestored(t, c, nil) })
	})
}

// secured runs commands that leave a cluster of three members as it was.
func secured(t *testing.T, c *clusters.Cluster, flavour string) {
	t.Helper()
	seen(t, c, target(c), flavour)
	awaitChecked(t, c, map[string]string{"Q001": "OK", "Q002": "OK", "M001": "OK", "D004": "OK", "C001": "OK", "C002": "OK", "C003": "OK"})
	maintain(t, c)
	t.Run("proxy with TLS", func(t *testing.T) { passthrough(t, c) })
	t.Run("client traffic", func(t *testing.T) { cutAndRestored(t, c, nil) })
}

// cutAndRestored cuts and restores client traffic. Existing clients hold streams open, and a new
// client pod, which it returns, tries to connect. meanwhile runs before the restore and may be
// nil.
func cutAndRestored(t *testing.T, c *clusters.Cluster, meanwhile func()) pod {
	t.Helper()
	before := clientService(t, c)
	dialer := clientPod(t, c)
	dialer.reaches(t, true)
	residualIsCounted(t, c)
	dialer.reaches(t, false)
	works(t, c) // the members must serve while client traffic is cut
	if meanwhile != nil {
		meanwhile()
	}
	sameAgain(t, c, before)
	dialer.reaches(t, true)
	return dialer
}

// learnerByHand adds a member that doesn't run yet, and removes it again.
func learnerByHand(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	const url = "https://etcd-a.invalid:2380"
	out, printed := plugin(t, 0, "member", "add", target(c), "--peer-urls", url, "-n", c.Namespace, "-y")
	wants(t, out, "added a learner at "+url)
	id := regexp.MustCompile(`\b[0-9a-f]{16}\b`).FindString(out + printed)
	refuses(t, []string{"it runs in no pod of the cluster", "kubectl etcd member remove " + target(c) + " " + id}, "member", "promote", target(c), id, "-n", c.Namespace, "-y")
	out, _ = plugin(t, 0, "member", "remove", target(c), id, "-n", c.Namespace, "-y")
	wants(t, out, "removed member")
	votersAre(t, c, 3)
}

// replacedByForce replaces a healthy member, and checks that the other members don't restart.
func replacedByForce(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	before, pod := livesOf(t, c), podsOf(t, c)[1]
	plugin(t, 0, "member", "replace", target(c), pod, "--force", "-n", c.Namespace, "-y")
	votersAre(t, c, 3)
	now := livesOf(t, c)
	for name, life := range before {
		if (now[name] == life) == (name == pod) {
			t.Errorf("after the replacement of %s the pods changed from %v to %v", pod, before, now)
		}
	}
	works(t, c)
}
