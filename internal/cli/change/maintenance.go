// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/words"
)

// Maintenance returns a maintenance job for a cluster. The job calls held before each change.
func Maintenance(e *app.App, c *app.Cluster, held func() error) *maintenance.Job {
	last := ""
	return &maintenance.Job{
		Members: c.Members,
		Facts: func(ctx context.Context) (policy.Cluster, error) {
			return c.Reader.WithoutNodes().Cluster(ctx, c.Owner)
		},
		StillHeld: held,
		Logf:      e.Step,
		Progressf: func(format string, args ...any) {
			if now := fmt.Sprintf(format, args...); now != last {
				last = now
				fmt.Fprintf(e.ErrOut, "  %s ...\n", now)
			}
		},
	}
}

// ThroughTunnel returns the permissions to connect to members.
func ThroughTunnel(c *app.Cluster) []operate.Need {
	return []operate.Need{{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: c.Namespace}}
}

// DatabaseFacts returns one line for each member: its role, sizes and alarms.
func DatabaseFacts(databases []rules.Database) []string {
	var facts []string
	for _, d := range databases {
		role := "follower"
		switch {
		case d.Trouble != "":
			facts = append(facts, fmt.Sprintf("%s  %s", d.Pod, d.Trouble))
			continue
		case d.Leader:
			role = "leader"
		case d.Learner:
			role = "learner"
		}
		quota := ""
		if d.Quota > 0 {
			quota = fmt.Sprintf(" of a quota of %s", words.Bytes(d.Quota))
		}
		fact := []string{fmt.Sprintf("%s  %-8s  %s%s, %s in use", d.Pod, role, words.Bytes(d.Size), quota, words.Bytes(d.InUse))}
		for _, alarm := range d.Alarms {
			fact = append(fact, "alarm "+alarm)
		}
		facts = append(facts, strings.Join(fact, ", "))
	}
	return facts
}

// LeaderOf returns the pod of the leader, or "none".
func LeaderOf(databases []rules.Database) string {
	leader := ""
	for _, d := range databases {
		if d.Leader && d.Trouble == "" {
			leader = d.Pod
		}
	}
	return cmp.Or(leader, "none")
}
