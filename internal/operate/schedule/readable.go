// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Readable returns the schedule of a cluster whose snapshots a command on this machine can read. Without one it returns
// a *operate.RefusedError with what to do instead.
func Readable(ctx context.Context, kube client.Reader, o owner.Owner) (*Found, error) {
	copied := o.Namespace + "-" + o.Name + ".db"
	instead := fmt.Sprintf("save one and verify it: kubectl etcd snapshot save %s %s -n %s && kubectl etcd snapshot verify %s --restore", o.Target(), copied, o.Namespace, copied)
	if o.Product().BackupRestore {
		return nil, operate.Refuse("the snapshots of %s are those of etcd-backup-restore, a full one with the changes since then, which only its sidecars restore; %s", o, instead)
	}
	found, err := Find(ctx, kube, o)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, operate.Refuse("%s has no schedule of snapshots, so it is not known where they are; name the file or URL of one, or %s", o, instead)
	}
	if _, local := found.To.File(); local || found.To.Folder == "" {
		return nil, operate.Refuse("the snapshots of %s are on the volume of its CronJob %s; copy one to this machine, or %s", o, found.Name, instead)
	}
	return found, nil
}
