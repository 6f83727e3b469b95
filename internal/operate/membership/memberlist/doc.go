// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package memberlist changes etcd's member list alone: it adds a learner, promotes it, or removes a member. It reads
// objects of the cluster to judge whether a member that doesn't answer is dead, and changes none of them.
package memberlist
