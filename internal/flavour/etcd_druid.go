// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import "k8s.io/apimachinery/pkg/runtime/schema"

// Druid clusters are Etcds, which etcd-druid reconciles.
const Druid Name = "etcd-druid"

var druid = Product{
	Name:        Druid,
	Controllers: []schema.GroupVersionKind{{Group: "druid.gardener.cloud", Version: "v1alpha1", Kind: "Etcd"}},
	Membership: Membership{
		Manager: ByOperator, ManagerName: "etcd-druid",
		ScaleHow:   "kubectl scale etcds.druid.gardener.cloud NAME --replicas N -n NAMESPACE",
		ScaleInHow: "restore a backup into a new Etcd of that size",
		ReplaceHow: wipe + "its sidecar removes the old member and adds the new one",
		ByPlugin:   true,
		AddsOnly:   true,
	},
	ServesKubernetes: true, // in most cases
	RenewsLeases:     true,
	BackupRestore:    true,
	ReportsStatus:    true,
	HealsNothing:     true,
	Annotations:      []string{"druid.gardener.cloud/", "gardener.cloud/"},
	ReconcileBy:      "druid.gardener.cloud/operation=reconcile",
	SuspendBy:        "druid.gardener.cloud/suspend-etcd-spec-reconcile",
	WritesBudget:     true,
	AlwaysAllowBy:    "resources.druid.gardener.cloud/allow-unhealthy-pod-eviction",
	JobsShareLabels:  true,
	Fields: map[Setting]string{
		Quota:      "spec.etcd.quota",
		Compaction: "spec.sharedConfig.autoCompactionRetention",
		ClientTLS:  "spec.etcd.clientUrlTls",
		PeerTLS:    "spec.etcd.peerUrlTls",
		Image:      "spec.etcd.image",
		Requests:   "spec.etcd.resources.requests",
		Limits:     "spec.etcd.resources.limits",
		Store:      "spec.backup.store",
		Schedule:   "spec.backup.fullSnapshotSchedule",
	},
	VolumesHow: "spec.storageCapacity of an Etcd is only for new volumes: create an Etcd with a larger one, and restore a backup into it",
}
