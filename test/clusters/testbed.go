// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package clusters creates etcd clusters on a testbed in the ways in which users run them: by
// etcd-druid, as a StatefulSet from etcd's documentation, or as a chart does. It installs
// etcd-druid, and it breaks and inspects the clusters. Tests, the demonstration and the testbed
// program use it.
//
// Apply creates a Cluster from a Spec. ReadyMade has specs with names.
package clusters

import "k8s.io/client-go/rest"

// Testbed is what this package needs to know of a testbed.
type Testbed interface {
	// RESTConfig returns the configuration of an administrator.
	RESTConfig() (*rest.Config, error)
	// Kubeconfig returns the path of the same configuration as a file. Kubectl returns the path
	// of kubectl.
	Kubeconfig() string
	Kubectl() string
	// Registry returns the registry from which the nodes pull all images.
	Registry() string
	// Shared returns the host's path of the directory that all nodes share.
	Shared() string
}
