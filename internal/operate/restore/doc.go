// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restore plans how a snapshot is restored into a cluster. A plan is a list of steps
// of package step, which can be printed as commands and executed. The package itself reads
// the cluster and changes nothing.
package restore
