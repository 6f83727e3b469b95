// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Maintenance returns a maintenance job for a cluster.
func Maintenance(e *app.App, c *app.Cluster) *maintenance.Job {
	last := ""
	return &maintenance.Job{
		Members: c.Members, Clock: e.Clock,
		Facts: func(ctx context.Context) (policy.Cluster, error) {
			return c.Reader.Cluster(ctx, c.Owner)
		},
		Logf: e.Step,
		Progressf: func(format string, args ...any) {
			if now := fmt.Sprintf(format, args...); now != last {
				last = now
				e.Notef("  %s ...", now)
			}
		},
	}
}

// ThroughTunnel returns the permissions to connect to members.
func ThroughTunnel(c *app.Cluster) []operate.Need {
	return []operate.Need{{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: c.Namespace}}
}
