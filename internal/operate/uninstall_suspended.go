// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"fmt"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// suspendedEtcds are those that etcd-druid leaves alone because a cut said so. A cut that
// was made before etcd-webhook was there may have been ended by it, which doesn't write Etcds.
func suspendedEtcds(ctx context.Context, kube client.Client) ([]Piece, error) {
	etcds := kind{GroupVersionResource: druidv1alpha1.SchemeGroupVersion.WithResource("etcds"), Kind: "Etcd"}
	all, err := etcds.find(ctx, kube)
	return slices.DeleteFunc(all, func(p Piece) bool { return p.Annotations[suspension] != suspendedByCut }), err
}

// etcdOf is a piece that is an Etcd, as its owner.
func etcdOf(p Piece) observe.Owner {
	return observe.Owner{
		Flavour: observe.Druid, APIVersion: p.APIVersion, Kind: p.Kind, Namespace: p.Namespace, Name: p.Name,
		UID: p.UID, Annotations: p.Annotations,
	}
}

// resume lets etcd-druid go on with an Etcd. The error is a *HeldError where somebody is
// about to cut its traffic.
func (u *Uninstall) resume(ctx context.Context, p Piece) error {
	etcd := etcdOf(p)
	if err := Heed(ctx, u.Kube, etcd, []string{CutTraffic, RestoreTraffic}, u.Waiting); err != nil {
		return err
	}
	resumed, err := Resume(ctx, u.Kube, etcd)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("let etcd-druid go on with %s: %w", p, err)
	case resumed:
		u.Say("etcd-druid goes on with %s", p)
	}
	return nil
}
