// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/olddata"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/podexec"
)

// Discard returns what removes the old data that restores of a cluster keep. image is that of the helper pods, and
// only are the records whose data is removed, nil for all. The caller sets the owner before each judgement, and StillHeld
// under the lock.
func Discard(a *app.App, c *app.Cluster, image string, only olddata.Records) (*olddata.Discard, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	access, err := a.Access()
	if err != nil {
		return nil, err
	}
	pods := podexec.Runner{Config: config, Namespace: c.Namespace}
	helpers := pods
	helpers.Container = restore.HelperContainer
	return &olddata.Discard{
		Clients: step.Clients{Kube: c.Kube, Namespace: c.Namespace, Clock: a.Clock, Exec: helpers.Run},
		Reader:  c.Reader, Image: image, Only: only, Logf: a.Step,
		Plan: restore.Plan{Owner: c.Owner, At: a.Clock.Now(), Flags: step.Flags{
			Kubectl: strings.TrimSpace(a.ContextFlags() + " -n " + c.Namespace), Context: a.ContextFlags(), Login: a.Credentials.AsArgs(),
		}},
		Survey: func(ctx context.Context) (etcd.Survey, error) { return access.Survey(ctx, c.Reader, c.Owner) },
		InMember: func(ctx context.Context, pod, container string, command []string) (string, error) {
			var out strings.Builder
			member := pods
			member.Container = container
			err := member.Run(ctx, pod, command, nil, &out)
			return out.String(), err
		},
	}, nil
}

// DiscardRecords removes the old data that some records of a cluster's restores are about, under the cluster's lock. With dry
// it only judges.
func DiscardRecords(ctx context.Context, a *app.App, c *app.Cluster, f Flags, image string, due olddata.Records, dry bool) error {
	d, err := Discard(a, c, image, due)
	if err != nil {
		return err
	}
	if dry {
		_, err := d.Judge(ctx)
		return err
	}
	return Locked(ctx, app.NewLimit(f.Timeout, ""), a, c, f, "snapshot restore", func(ctx context.Context, run *Run) error {
		if err := again(ctx, a, c); err != nil {
			return err
		}
		d.Plan.Owner, d.StillHeld = c.Owner, run.Held
		if plan, err := d.Judge(ctx); err != nil || plan.Title == "" {
			return err
		}
		done, err := d.Act(ctx)
		if err == nil {
			a.Step("%s: %s", c, done)
		}
		return err
	})
}
