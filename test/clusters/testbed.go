// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package clusters makes etcd clusters on a testbed in the ways in which people run
// them: by the real etcd-druid, as a StatefulSet of etcd's documentation, or as a
// chart does it. It installs etcd-druid, and it breaks and looks into what it made:
// for tests, for the demonstration, and for the curious by the testbed program.
//
// Apply makes a Cluster from a Spec; ReadyMade has the specs with names of their own.
package clusters

import "k8s.io/client-go/rest"

// Testbed is what this package needs to know of a testbed.
type Testbed interface {
	// RESTConfig reaches the API server as an administrator.
	RESTConfig() (*rest.Config, error)
	// Kubeconfig and Kubectl are paths: of the same for programs, and of kubectl.
	Kubeconfig() string
	Kubectl() string
	// Registry is where the nodes get every image from.
	Registry() string
	// Shared is the host's path of what all nodes see as one directory.
	Shared() string
}
