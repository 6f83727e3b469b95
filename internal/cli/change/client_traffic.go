// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Traffic returns a cluster whose client traffic is cut or restored. target is how the user
// named it.
func Traffic(a *app.App, c *app.Cluster, target string, f Flags) *traffic.Cluster {
	return &traffic.Cluster{
		Owner: c.Owner, Kube: c.Kube, Reader: c.Reader, Members: c.Members, Clock: a.Clock,
		Target: target, Holder: app.Identity(a.User), Quiet: a.Quiet, Logf: a.Step, Warnf: a.Warn,
		Require:  func(ctx context.Context, needs []operate.Need) error { return Require(ctx, a, c, needs) },
		Announce: func(ctx context.Context, reason policy.Reason, what string) { Announce(ctx, a, c, reason, what, f) },
	}
}

// RestoreLocked restores client traffic in a Run, and removes the record of the cut.
func (r *Run) RestoreLocked(ctx context.Context, services []string) error {
	return Traffic(r.app, r.cluster, r.cluster.Target().String(), r.flags).RestoreLocked(ctx, r.Lock, services)
}

// LeaveCut leaves a cut from before the Run as it was.
func (r *Run) LeaveCut(ctx context.Context, before traffic.Before) error {
	return Traffic(r.app, r.cluster, r.cluster.Target().String(), r.flags).Leave(ctx, r.Lock, before)
}
