// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// findLocks returns the locks of clusters.
func (v *view) findLocks(ctx context.Context) ([]Item, error) {
	leases, err := v.readLeases(ctx)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range leases {
		kind, name, is := lock.Of(&leases[at])
		if !is || !ours(kind, &leases[at]) {
			continue
		}
		items = append(items, v.lockItem(ctx, &leases[at], kind, name))
	}
	return items, nil
}

// ownerKinds returns the kinds of owners that can be read by their name. The objects of other kinds are not
// known.
func ownerKinds() map[string]client.Object {
	return map[string]client.Object{
		"etcd": &druidv1alpha1.Etcd{}, "statefulset": &appsv1.StatefulSet{}, "deployment": &appsv1.Deployment{},
		"daemonset": &appsv1.DaemonSet{}, "replicaset": &appsv1.ReplicaSet{}, "pod": &corev1.Pod{},
	}
}

// ours reports whether a lease with the name of a lock is one: its name has a kind of owners, or an
// operation has written it.
func ours(kind string, lease *coordinationv1.Lease) bool {
	_, known := ownerKinds()[kind]
	return known || lease.Annotations[lock.OperationAnnotation] != "" || len(lock.Records(lease)) > 0
}

func (v *view) lockItem(ctx context.Context, lease *coordinationv1.Lease, kind, name string) Item {
	i := Item{Resource: "leases", Group: coordinationv1.GroupName, Cluster: name, object: lease, names: []string{name}, Since: lease.CreationTimestamp.Time}
	i.Facts.Locked = rules.Of(lock.MayBeHeld(lease, v.now))
	owners, err := v.readOwners(ctx)
	if err != nil {
		i.Facts.Cluster = v.unsure("etcd clusters", err)
		return i
	}
	if i.Owner = ownerLockedBy(owners, lease.Namespace, lease.Name); i.Owner != nil {
		i.Facts.Cluster = rules.Yes
		return i
	}
	// It may exist and not be recognised as a cluster.
	object, known := ownerKinds()[kind]
	if !known || name == "" {
		i.Facts.Cluster = v.unsure(fmt.Sprintf("lease %s/%s", lease.Namespace, lease.Name), fmt.Errorf("its name does not show which object it locks"))
		return i
	}
	i.Facts.Cluster = v.exists(ctx, kind+"s", lease.Namespace, name, object)
	return i
}
