// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package controller acts on changes that admission can't see: leases that age,
// conditions that change, holds that end, members that wait for a node without success.
// Each reconciler is a folder. It observes one object, ignores an object that isn't ours, asks
// policy for a decision and applies it with the narrowest write. The reconcilers run on the leader
// among the replicas. What must survive a change of leader is recorded in the objects.
package controller
