// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// snapshotViaStore has a druid cluster write a snapshot into its backup store.
func snapshotViaStore(cmd *cobra.Command, e *app.App, target string, via snapshotVia, ch change.Flags) error {
	ctx := cmd.Context()
	c, _, err := e.ClusterBestEffort(ctx, target) // who may not ask etcd may still ask for a backup
	if err != nil {
		return err
	}
	defer c.Close()
	store, err := druidStore(ctx, c)
	if err != nil {
		return err
	}
	byTask, err := onlyByTask(ctx, e, c, store, ch)
	if err != nil {
		return err
	}
	out := &v1alpha1.SnapshotList{Cluster: clusterReference(c), Store: storeObject(store), Items: []v1alpha1.StoredSnapshot{}}
	return change.Do(ctx, e, c, ch, change.Operation{
		Verb: "snapshot save", AllowsUnfinished: true,
		Judge:  func(ctx context.Context) (operate.Plan, error) { return viaPlan(ctx, c, store, via, byTask), nil },
		DryRun: func(ctx context.Context) error { return tryViaStore(ctx, c, via, byTask) },
		Act: func(ctx context.Context, run *change.Run) error {
			took, err := takeViaStore(ctx, e, c, store, via, out)
			if err != nil && ctx.Err() != nil {
				return fmt.Errorf("%w; it may be written all the same: kubectl etcd snapshot list %s -n %s", context.Cause(ctx), c.Target(), c.Namespace)
			}
			if err == nil && took != "" {
				run.Done(ctx, reasons.SnapshotTaken, took, "")
			}
			return err
		},
		After: func(context.Context) error {
			return e.Print(cmd, out, func(w io.Writer, wide bool) error {
				if len(out.Items) == 0 {
					return nil // it was said what happened
				}
				return storedTable(e, out).Write(e.Console, w, wide)
			})
		},
	})
}

// druidStore is the backup store of a cluster, and a refusal where there is none.
func druidStore(ctx context.Context, c *app.Cluster) (observe.BackupStore, error) {
	store, ok, err := c.Reader.BackupStore(ctx, c.Owner)
	switch {
	case err != nil:
		return store, err
	case c.Flavour != observe.Druid:
		return store, app.Refused("%s is not etcd-druid's and has no etcd-backup-restore: save to a file instead", c.Owner)
	case !ok:
		return store, app.Refused("%s has no backup store (spec.backup.store): save to a file instead", c.Owner)
	}
	return store, nil
}

// onlyByTask says that a task of druid's is all that is left, as far as is known before
// anything is asked. It fails where that is not possible either.
func onlyByTask(ctx context.Context, e *app.App, c *app.Cluster, store observe.BackupStore, ch change.Flags) (only bool, err error) {
	only = store.TLS && store.CAErr != nil
	switch {
	case ch.DryRun == change.DryRunClient:
	case only:
		if err = change.Require(ctx, e, c, taskNeeds(c)); err != nil {
			err = fmt.Errorf("%w\nWithout a task the sidecars are asked, whose authority you would have to be able to read: %w", err, store.CAErr)
		}
	default:
		only, err = requireSidecarOrTask(ctx, e, c)
	}
	if err != nil || !only {
		return only, err
	}
	if barred := taskBarred(ctx, c); barred != "" {
		return only, app.Refused("%s", barred)
	}
	return only, nil
}

// requireSidecarOrTask fails where the user may neither speak to the sidecars nor make a
// task of druid's; byTask says that only the task is left.
func requireSidecarOrTask(ctx context.Context, e *app.App, c *app.Cluster) (byTask bool, err error) {
	err = change.Require(ctx, e, c, change.ThroughTunnel(c))
	if app.Is[*operate.MissingError](err) && change.Require(ctx, e, c, taskNeeds(c)) == nil {
		return true, nil
	}
	return false, err
}

func viaPlan(ctx context.Context, c *app.Cluster, store observe.BackupStore, via snapshotVia, byTask bool) operate.Plan {
	plan := operate.Plan{Title: fmt.Sprintf("Have backup-restore of %s take a %s snapshot", c.Owner, kindOf(via))}
	if leases, err := c.Reader.BackupLeases(ctx, c.Owner); err == nil {
		for _, l := range leases {
			if l.Revision > 0 {
				plan.Facts = append(plan.Facts, fmt.Sprintf("by lease %s the store has revision %d since %s", l.Name, l.Revision, l.RenewedAt.UTC().Format(time.RFC3339)))
			}
		}
	}
	step := fmt.Sprintf("ask the sidecar beside etcd's leader to write it into %s; where you may not reach one, etcd-druid is asked by an EtcdOpsTask", storeName(store))
	if byTask {
		step = fmt.Sprintf("ask etcd-druid by an EtcdOpsTask to have it written into %s: the sidecars can't be asked from here", storeName(store))
	}
	plan.Steps = []string{step}
	return plan
}

// tryViaStore tries what can be tried: a sidecar has no dry run, a task has.
func tryViaStore(ctx context.Context, c *app.Cluster, via snapshotVia, byTask bool) error {
	if byTask {
		if err := c.Kube.Create(ctx, snapshotTask(c, via), client.DryRunAll); err != nil {
			return fmt.Errorf("create an EtcdOpsTask for %s: %w", c.Owner, err)
		}
	}
	return nil
}

// takeViaStore asks the sidecar, which says what it wrote. Where the sidecar can't
// be reached a task of druid's does the same. took is for the Event, empty where
// there was nothing to take.
func takeViaStore(ctx context.Context, e *app.App, c *app.Cluster, store observe.BackupStore, via snapshotVia, out *v1alpha1.SnapshotList) (took string, err error) {
	br, err := backupRestore(ctx, e, c, store)
	if err == nil {
		fmt.Fprintf(e.ErrOut, "Asking backup-restore of %s for a %s snapshot\n", c.Owner, kindOf(via))
		var written *etcd.StoredSnapshot
		if written, err = ask(ctx, br, via); err == nil {
			tellWritten(e, written, store)
			if written == nil {
				return "", nil
			}
			out.Items = append(out.Items, storedObject(*written))
			return fmt.Sprintf("had backup-restore write %s snapshot %s into %s", kindOf(via), written.Name, storeName(store)), nil
		}
	}
	if !unreachable(err) {
		return "", err
	}
	if barred := taskBarred(ctx, c); barred != "" {
		return "", app.Refused("%v; and %s", err, barred)
	}
	e.Warn("%v. Asking etcd-druid for it by a task instead.", err)
	task, err := takeByTask(ctx, e, c, via)
	return fmt.Sprintf("had etcd-druid take a %s snapshot by EtcdOpsTask %s", kindOf(via), task), err
}

// taskBarred is why a task of druid's would fail, empty where nothing is known: who may not
// list Services is told by the task itself.
func taskBarred(ctx context.Context, c *app.Cluster) string {
	facts, err := c.Reader.WithoutNodes().Cluster(ctx, c.Owner)
	if err != nil || !facts.TrafficCut {
		return ""
	}
	return fmt.Sprintf("a task of etcd-druid's reaches backup-restore by the client Service, which is cut: kubectl etcd restore-client-traffic %s -n %s", c.Target(), c.Namespace)
}

func ask(ctx context.Context, br *etcd.BackupRestore, via snapshotVia) (*etcd.StoredSnapshot, error) {
	if via == viaDelta {
		s, wrote, err := br.Delta(ctx)
		if !wrote {
			return nil, err
		}
		return &s, err
	}
	s, err := br.Full(ctx)
	return &s, err
}

func kindOf(via snapshotVia) string {
	if via == viaDelta {
		return "delta"
	}
	return "full"
}

func tellWritten(e *app.App, s *etcd.StoredSnapshot, store observe.BackupStore) {
	if s == nil {
		e.Step("Nothing has changed since the last snapshot: no delta was written")
		return
	}
	e.Step("Written to %s: %s, revisions %d to %d", storeName(store), s.Name, s.StartRevision, s.LastRevision)
}

func storeName(s observe.BackupStore) string {
	return fmt.Sprintf("%s store %s", s.Provider, cmp.Or(s.Container, s.Prefix))
}
