// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restore plans how a snapshot is restored into a cluster, and executes the plan. A plan is a list
// of steps of package step, which can also be printed as commands. The journal of the cluster counts the steps
// that have been done.
package restore
