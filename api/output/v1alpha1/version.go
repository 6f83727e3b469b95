// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Version has the versions of the plugin, the API server and, if they are installed, of
// etcd-webhook and etcd-druid.
//
// +kubebuilder:object:root=true
type Version struct {
	metav1.TypeMeta `json:",inline"`

	Client ClientVersion `json:"client"`
	// Server is absent with --client.
	Server *ServerVersion `json:"server,omitempty"`
}

// ClientVersion is the version of the plugin's program.
type ClientVersion struct {
	// Version is a tag such as v1.2.3 or Go's pseudo-version of a commit. It is (devel) if the
	// build doesn't contain it.
	Version string `json:"version"`
	// Commit is the commit of the build. It is empty if the build doesn't contain it.
	Commit string `json:"commit,omitempty"`
	// CommitDate is the time of the commit, as RFC 3339. It is empty without a Commit.
	CommitDate string `json:"commitDate,omitempty"`
	// Modified is whether the source had changes that were not committed.
	Modified bool `json:"modified,omitempty"`
	// GoVersion is the Go release that built it.
	GoVersion string `json:"goVersion"`
	// Platform is its operating system and architecture.
	Platform string `json:"platform"`
}

// ServerVersion has the versions in the Kubernetes cluster.
type ServerVersion struct {
	// Kubernetes is the API server's version.
	Kubernetes string `json:"kubernetes"`
	// Programs are the Deployments of etcd-webhook and etcd-druid.
	Programs []ProgramVersion `json:"programs,omitempty"`
	// ProgramsUnknown is the reason if they could not be listed.
	ProgramsUnknown string `json:"programsUnknown,omitempty"`
}

// ProgramVersion is one program that runs in the cluster.
type ProgramVersion struct {
	// Name is etcd-webhook or etcd-druid.
	Name string `json:"name"`
	// Namespace and Deployment identify its Deployment.
	Namespace  string `json:"namespace"`
	Deployment string `json:"deployment"`
	// Version is the tag of its image, or the digest if there is no tag.
	Version string `json:"version"`
	// Ready and Desired are the numbers of its replicas.
	Ready   int32 `json:"ready"`
	Desired int32 `json:"desired"`
}
