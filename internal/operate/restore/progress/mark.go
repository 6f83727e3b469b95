// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Unmark removes the mark that the steps of a restore have set on the StatefulSet of a cluster. It writes nothing if
// there is none.
func Unmark(ctx context.Context, kube client.Client, o owner.Owner) error {
	sts, err := operate.ReadStatefulSet(ctx, kube, o)
	if err != nil {
		return err
	}
	if _, marked := sts.Annotations[v1alpha1.RestoreAnnotation]; !marked {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": sts.UID, "annotations": map[string]any{v1alpha1.RestoreAnnotation: nil},
	}})
	if err != nil {
		return err
	}
	if err := kube.Patch(ctx, sts, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("remove the mark of the restore from StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	return nil
}
