// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backupstore

import (
	"context"
	"fmt"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// SnapshotTasks reads the tasks for snapshots of a druid cluster, the newest first.
func SnapshotTasks(ctx context.Context, r *observe.Reader, o owner.Owner) ([]druidv1alpha1.EtcdOpsTask, error) {
	if !o.IsEtcd() {
		return nil, nil
	}
	var list druidv1alpha1.EtcdOpsTaskList
	if err := r.List(ctx, &list, client.InNamespace(o.Namespace)); err != nil {
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return nil, nil // druid before 0.34
		}
		return nil, fmt.Errorf("list EtcdOpsTasks of namespace %s: %w", o.Namespace, err)
	}
	tasks := slices.DeleteFunc(list.Items, func(t druidv1alpha1.EtcdOpsTask) bool {
		return ptr.Deref(t.Spec.EtcdName, "") != o.Name || t.Spec.Config.OnDemandSnapshot == nil
	})
	slices.SortFunc(tasks, func(a, b druidv1alpha1.EtcdOpsTask) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	return tasks, nil
}
