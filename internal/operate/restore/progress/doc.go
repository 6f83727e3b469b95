// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package progress executes the steps of a restore, and records in the cluster's journal which of them are done, so that
// another process can continue or undo them. It does not know how the steps are planned.
package progress
