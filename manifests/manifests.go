// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package manifests carries the kustomize bases that etcd-webhook is installed
// from, for programs that install it.
package manifests

import "embed"

// Files has the folders base, crd and overlays as they stand in the repository.
//
//go:embed base crd overlays
var Files embed.FS
