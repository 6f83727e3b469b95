// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restore plans how a snapshot is restored into a cluster. A plan is a list of steps of package step, which can
// also be printed as commands. Three packages are below it: progress executes the steps and counts in the journal of the
// cluster those that have been done, olddata deletes the data from before a restore, and survivor chooses the member whose
// data is restored after the loss of a quorum.
package restore
