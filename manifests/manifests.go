// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package manifests embeds the kustomize bases of etcd-webhook, for programs that install
// it.
package manifests

import "embed"

// Files holds the folders base, crd and overlays of the repository.
//
//go:embed base crd overlays
var Files embed.FS
