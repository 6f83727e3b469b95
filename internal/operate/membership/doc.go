// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package membership changes the members of a cluster: it scales, and replaces members.
//
// A change of a StatefulSet without an operator is a series of steps. Each step observes
// the cluster, asks package policy for the next one, does it and drops what it has read, so
// that a change can be resumed or undone by another process at any point. What it started
// from is in the cluster's journal. For etcd-druid's clusters this package sets the Etcd's
// size or deletes a member's volume, and waits until etcd-druid is done.
//
// Two packages are below it: memberlist changes etcd's member list alone, and etcdlog reads from a log that a member's
// data is lost.
package membership
