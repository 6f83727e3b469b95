// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// runSaveToStore has a druid cluster write a snapshot into its backup store.
func runSaveToStore(cmd *cobra.Command, a *app.App, target string, kind backup.Kind, f change.Flags) error {
	ctx := cmd.Context()
	c, _, err := a.ClusterBestEffort(ctx, target) // a user who may not use etcd may still request a backup
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := storeOf(a, c)
	if err != nil {
		return err
	}
	out := &v1alpha1.SnapshotList{Cluster: backup.Reference(c.Owner), Items: []v1alpha1.StoredSnapshot{}}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "snapshot save", AllowsUnfinished: true,
		Judge: func(ctx context.Context) (operate.Plan, error) {
			s.Owner, s.Members = c.Owner, c.Members
			return s.Judge(ctx, kind, f.DryRun == change.DryRunClient)
		},
		DryRun: func(ctx context.Context) error { return s.Try(ctx, kind) },
		Act: func(ctx context.Context, run *change.Run) error {
			taken, err := s.Take(ctx, kind)
			if taken.Snapshot != nil {
				out.Items = append(out.Items, storedObject(*taken.Snapshot))
			}
			if err == nil && taken.What != "" {
				run.Done(ctx, reasons.SnapshotTaken, taken.What, "")
			}
			return err
		},
		Next: func(err error) string {
			if !app.IsTimeout(err) && !errors.Is(err, context.Canceled) {
				return ""
			}
			return fmt.Sprintf("it may still be written: kubectl etcd snapshot list %s -n %s", c.Target(), c.Namespace)
		},
		After: func(context.Context, app.Limit) error {
			out.Store = storeObject(s.Store)
			return a.Print(cmd, out, func(w io.Writer, wide bool) error {
				if len(out.Items) == 0 {
					return nil // what happened is reported already
				}
				return storedTable(a, out).Write(a.Console, w, wide)
			})
		},
	})
}

// storeOf returns the backup store of a cluster, which isn't found yet.
func storeOf(a *app.App, c *app.Cluster) (*backup.Store, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	return &backup.Store{
		Owner: c.Owner, Kube: c.Kube, Reader: c.Reader, Members: c.Members, Tunnel: tunnel.New(config), Clock: a.Clock,
		Require: func(ctx context.Context, needs []operate.Need) error { return change.Require(ctx, a, c, needs) },
		Logf:    a.Step, Warnf: a.Warn,
		Progressf: a.Notef,
	}, nil
}

func storeObject(s backupstore.Store) *v1alpha1.SnapshotStore {
	return &v1alpha1.SnapshotStore{Provider: s.Provider, Container: s.Container, Prefix: s.Prefix}
}

func storedObject(s backup.StoredSnapshot) v1alpha1.StoredSnapshot {
	kind := "Delta"
	if s.Kind == "Full" {
		kind = "Full"
	}
	name := s.Name
	if s.Dir != "" {
		name = s.Dir + "/" + name
	}
	return v1alpha1.StoredSnapshot{
		Type: kind, Name: name, StartRevision: s.StartRevision, LastRevision: s.LastRevision, CreatedAt: metav1.NewTime(s.CreatedOn), Final: s.Final,
	}
}

func taskObject(t druidv1alpha1.EtcdOpsTask) v1alpha1.SnapshotTask {
	kind := "Full"
	if t.Spec.Config.OnDemandSnapshot.Type == druidv1alpha1.OnDemandSnapshotTypeDelta {
		kind = "Delta"
	}
	out := v1alpha1.SnapshotTask{
		Name: t.Name, Type: kind, State: string(ptr.Deref(t.Status.State, "")), Message: backup.LastError(&t),
		CreatedAt: t.CreationTimestamp, StartedAt: t.Status.StartedAt,
	}
	if out.Message == "" && t.Status.LastOperation != nil {
		out.Message = t.Status.LastOperation.Description
	}
	return out
}
