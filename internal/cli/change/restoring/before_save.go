// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// mayRestoreFrom returns an error if the restore of the data that a survivor has now would be refused. It is asked before
// that data is saved, which can take long. The plan after that asks again.
func mayRestoreFrom(ctx context.Context, a *app.App, target string, o Options, survivor etcd.Member) error {
	c, r, err := PlanFor(ctx, a, target)
	if err != nil {
		return err
	}
	r.Bump, r.Tool, r.KeepFor = o.Bump, o.Tool, o.KeepFor
	r.Snapshot = snapshot.File{Hashed: true, Content: snapshot.Content{Revision: survivor.Revision, Written: survivor.Revision, Alarms: survivor.Alarms}}
	r.Saved, r.Survivor = true, survivor.Pod
	if err := Survey(ctx, a, c, target, &r); err != nil {
		return err
	}
	r.Answers, r.Lost = false, o.Lost
	steps, warnings, err := findSteps(ctx, c, &r, o.PlanOptions)
	if err != nil || o.DryRun == change.DryRunClient {
		return err
	}
	if err := change.Require(ctx, a, c, r.Propose(steps, warnings).Needs); err != nil {
		return err
	}
	for _, pod := range r.HelperPods() {
		if err := pod.Try(ctx, step.Clients{Kube: c.Kube, Namespace: c.Namespace}); err != nil {
			return err
		}
	}
	return nil
}
