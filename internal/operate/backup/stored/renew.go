// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"context"
	"fmt"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Renew records a backup in a Lease that exists: the time when it was begun, and its revision as the
// holder, as etcd-backup-restore does.
func Renew(ctx context.Context, kube client.Client, namespace, name string, at time.Time, revision int64) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	patch := fmt.Appendf(nil, `{"spec":{"holderIdentity":%q,"renewTime":%q}}`,
		strconv.FormatInt(revision, 10), at.UTC().Format(metav1.RFC3339Micro)) //nolint:forbidigo // stored
	if err := kube.Patch(ctx, lease, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return fmt.Errorf("renew Lease %s/%s: %w", namespace, name, err)
	}
	return nil
}
