// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package flavour knows the products that run etcd on Kubernetes: how each is
// recognised, who changes its members and how, where it keeps clients' certificates and
// what else differs. One product is one value in one file. It knows Kubernetes' API types
// only, and reads nothing.
package flavour

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Name names the product that an etcd cluster comes from: the operator or chart that made
// it, and so who may change it and how.
type Name string

// Product is what differs from one product to another. The zero value of each field means
// that the product does nothing out of the ordinary.
type Product struct {
	Name Name

	// Controllers are the kinds that control its StatefulSets or its pods.
	Controllers []schema.GroupVersionKind
	// OnlyEtcd is true where these kinds control StatefulSets of etcd and of nothing
	// else, so that a StatefulSet needs no other sign of etcd.
	OnlyEtcd bool
	// Labels are labels that its manifests have on the StatefulSet or on its pods. One
	// of them is enough.
	Labels []Label
	// Env are variables that its start script reads. One of them is enough.
	Env []string
	// Pods is set where it makes its pods without a StatefulSet.
	Pods *Pods

	Membership Membership
	// ClientSecrets returns where it keeps a client's certificate of a cluster, the best
	// first; nil for nowhere of its own.
	ClientSecrets func(cluster string) []ClientSecret

	// ServesKubernetes is true where the store is a Kubernetes control plane's, whose API
	// server compacts it.
	ServesKubernetes bool
	// RenewsLeases is true where each member renews a Lease that shows that it runs.
	RenewsLeases bool
	// BackupRestore is true where each member has the sidecar etcd-backup-restore, which takes
	// its snapshots and promotes its learners.
	BackupRestore bool
	// RevertsServices is the name of the operator that undoes a change of a Service
	// within seconds and that has no switch to leave the Service alone.
	RevertsServices string
	// RestoresElsewhere is how it restores a backup, where it can't do so in place.
	RestoresElsewhere string
	// RecoveryEnv is a variable that has its start script replace restored data by a
	// snapshot of its own; RecoveryOff is how to switch that off.
	RecoveryEnv, RecoveryOff string
	// StateFile is a file in the data directory that its start script believes, rather
	// than the data. A restore removes it.
	StateFile string
	// Settings is where a person changes its members' settings; empty for its controller,
	// its Helm release or its StatefulSet.
	Settings string
}

// Label is a label and its value.
type Label struct{ Key, Value string }

// Pods is how the pods of a product that makes them without a StatefulSet are recognised,
// and which are one cluster.
type Pods struct {
	// ClusterLabel is the label whose value is the cluster's name.
	ClusterLabel string
	// Mirror is true for mirror pods of a node's own manifests. They are one cluster,
	// whose name is the value of Label.
	Mirror bool
	Label  Label
	// Members is a label that members' pods have and the pods of its jobs lack.
	Members Label
}

// ClientSecret is where a client's certificate is: a Secret and its keys.
type ClientSecret struct{ Secret, Cert, Key string }

func tlsSecret(name string) ClientSecret {
	return ClientSecret{Secret: name, Cert: corev1.TLSCertKey, Key: corev1.TLSPrivateKeyKey}
}
