// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package etcd connects to the members of an etcd cluster in Kubernetes, each through a
// separate port-forward within this process and without a local port. Every call has a
// deadline, and certificates are always verified. The package makes no decisions about a
// cluster. The plugin uses it; the webhook and the controller never do.
package etcd
