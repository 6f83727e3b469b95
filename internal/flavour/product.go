// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package flavour describes the products that run etcd on Kubernetes: how to recognise each,
// what changes its members and how, where it keeps certificates of clients, and other
// differences. One product is one value in one file. The package only depends on Kubernetes'
// API types, and reads nothing.
package flavour

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Name names the product of an etcd cluster: the operator or chart that created it.
type Name string

// Is reports whether two names are of the same product. It asks whether a cluster is still what it was,
// not which product it is: what differs between products is a field of Product.
func (n Name) Is(other Name) bool { return n == other }

// Product describes the differences of a product. The zero value of each field is the usual
// case.
type Product struct {
	Name Name

	// Controllers are the kinds that control its StatefulSets or its pods.
	Controllers []schema.GroupVersionKind
	// OnlyEtcd is true if these kinds only control StatefulSets of etcd. Then a StatefulSet
	// needs no other sign of etcd.
	OnlyEtcd bool
	// Labels are labels that its manifests have on the StatefulSet or on its pods. One
	// of them is enough.
	Labels []Label
	// Env are variables that its start script reads. One of them is enough.
	Env []string
	// Pods is set if it creates its pods without a StatefulSet.
	Pods *Pods

	Membership Membership
	// ClientSecrets returns the Secrets with a client certificate for a cluster, the best
	// first. It is nil if the product has no such Secrets.
	ClientSecrets func(cluster string) []ClientSecret

	// ServesKubernetes is true if etcd is the store of a Kubernetes control plane, whose API
	// server compacts it.
	ServesKubernetes bool
	// RenewsLeases is true if each running member renews a Lease.
	RenewsLeases bool
	// BackupRestore is true where each member has the sidecar etcd-backup-restore. It takes
	// snapshots into a store, prepares a member's data before the member starts, also from that
	// store, and promotes learners.
	BackupRestore bool
	// ReportsStatus is true if its operator reports in the cluster's object the conditions Ready and
	// AllMembersReady, the status of each member, and which generation of the spec it has acted on.
	ReportsStatus bool
	// HealsNothing is true if its operator is known to delete no pod of a member that is down, and to
	// recover no lost quorum.
	HealsNothing bool
	// Annotations are the prefixes of its annotations that this project reads. The cache of etcd-webhook keeps no other ones.
	Annotations []string
	// ReconcileBy is the annotation of the cluster's object, as KEY=VALUE, that has its operator act on
	// the spec and create lost objects again. It is empty if no annotation does this.
	ReconcileBy string
	// SuspendBy is the annotation of the cluster's object that keeps its operator from writing the
	// cluster's objects. Without the annotation, the operator reverts a change of a Service. It is empty
	// if the operator can't be suspended.
	SuspendBy string
	// RevertsServices is the name of the operator if it reverts a change of a Service within
	// seconds and this can't be switched off.
	RevertsServices string
	// WritesBudget is true if its operator creates the members' PodDisruptionBudget and reverts a
	// change of it.
	WritesBudget bool
	// AlwaysAllowBy is the annotation of the cluster's object for which the operator sets
	// unhealthyPodEvictionPolicy AlwaysAllow in the budget that it writes. It is empty if no annotation does this.
	AlwaysAllowBy string
	// JobsShareLabels is true if the pods of its jobs have the labels of members.
	JobsShareLabels bool
	// RestoresElsewhere is how it restores a backup if it can't do so in place.
	RestoresElsewhere string
	// RecoveryEnv is a variable with which its start script replaces restored data with its
	// own snapshot. RecoveryOff is how to switch that off.
	RecoveryEnv, RecoveryOff string
	// StateFile is a file in the data directory that its start script uses instead of the
	// data. A restore removes it.
	StateFile string
	// HealthScript is the path of a script of its image that a probe runs, and that runs etcdctl endpoint health.
	// StopScript is the path of one that a preStop hook runs, and that removes the member from etcd.
	HealthScript, StopScript string
	// VolumesHow is how a user gets larger volumes, if its operator makes them. It is empty if that is not
	// known.
	VolumesHow string
	// Settings is where a user changes its members' settings. It is empty for the controller,
	// the Helm release or the StatefulSet.
	Settings string
	// Fields are the fields of the cluster's object for settings. It is nil if a user changes settings
	// elsewhere.
	Fields map[Setting]string
}

// Setting is a setting of a cluster for which its object may have a field.
type Setting string

// The settings.
const (
	Quota      Setting = "quota of the database"
	Compaction Setting = "retention of the automatic compaction"
	ClientTLS  Setting = "TLS of clients"
	PeerTLS    Setting = "TLS of members among themselves"
	Image      Setting = "image of the members"
	Requests   Setting = "resources that members request"
	Limits     Setting = "limits of members' resources"
	// Store is where the operator has backups stored, and Schedule is when it has full ones taken.
	Store    Setting = "store of backups"
	Schedule Setting = "schedule of backups"
)

// Label is a label and its value.
type Label struct{ Key, Value string }

// Pods describes how to recognise the pods of a product without StatefulSets, and which of them
// are one cluster.
type Pods struct {
	// ClusterLabel is the label whose value is the cluster's name. Anyone may write it, so it counts only if an object of the
	// product controls the pod, or a ReplicaSet that MemberLabel names.
	ClusterLabel string
	// MemberLabel is the label whose value is the name of the ReplicaSet that the product creates for a member. Only the
	// ReplicaSet shows its controller. It is empty where the product's own objects control the pods.
	MemberLabel string
	// Mirror is true for mirror pods of a node's own manifests. They are one cluster,
	// whose name is the value of Label. Annotation is one that only this product writes into its manifests:
	// several have the same label.
	Mirror     bool
	Label      Label
	Annotation string
	// Members is a label that members' pods have and the pods of its jobs lack.
	Members Label
	// Replicas is the path of the field of the cluster's object with the number of members. It is empty for
	// spec.replicas.
	Replicas []string
}

// ReplicasPath returns the path of the field with the number of members.
func (p *Pods) ReplicasPath() []string {
	if len(p.Replicas) == 0 {
		return []string{"spec", "replicas"}
	}
	return p.Replicas
}

// ClientSecret is the location of a client certificate: a Secret and its keys.
type ClientSecret struct{ Secret, Cert, Key string }

func tlsSecret(name string) ClientSecret {
	return ClientSecret{Secret: name, Cert: corev1.TLSCertKey, Key: corev1.TLSPrivateKeyKey}
}
