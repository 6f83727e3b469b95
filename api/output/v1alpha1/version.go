// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Version is what runs where: the plugin itself, the API server and, where they
// are installed, the webhook and etcd-druid.
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
	// Version is a tag such as v1.2.3 or Go's pseudo-version of a commit, or
	// (devel) where the build doesn't tell.
	Version string `json:"version"`
	// Commit is the revision that it was built from, empty where the build doesn't tell.
	Commit string `json:"commit,omitempty"`
	// CommitDate is when that was committed, as RFC 3339, empty where Commit is.
	CommitDate string `json:"commitDate,omitempty"`
	// Modified says that the folder had changes beside that commit.
	Modified bool `json:"modified,omitempty"`
	// GoVersion is the Go release that built it.
	GoVersion string `json:"goVersion"`
	// Platform is its operating system and architecture.
	Platform string `json:"platform"`
}

// ServerVersion is what the Kubernetes cluster runs.
type ServerVersion struct {
	// Kubernetes is the API server's version.
	Kubernetes string `json:"kubernetes"`
	// Programs are the Deployments that were found to be ours or druid's.
	Programs []ProgramVersion `json:"programs,omitempty"`
	// ProgramsUnknown is why they could not be looked for.
	ProgramsUnknown string `json:"programsUnknown,omitempty"`
}

// ProgramVersion is one program that runs in the cluster.
type ProgramVersion struct {
	// Name is etcd-webhook or etcd-druid.
	Name string `json:"name"`
	// Namespace and Deployment are where it was found.
	Namespace  string `json:"namespace"`
	Deployment string `json:"deployment"`
	// Version is its image's tag, or the image's digest where it has no tag.
	Version string `json:"version"`
	// Ready and Desired are its replicas.
	Ready   int32 `json:"ready"`
	Desired int32 `json:"desired"`
}
