// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restore plans how a snapshot is restored into a cluster, as steps with the
// commands that a person runs. It reads the cluster and changes nothing.
package restore
