// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package maintenance keeps the databases of a cluster small and equal: it compacts,
// defragments one member at a time, disarms alarms, compares the members' data and
// moves the leadership. It asks package policy before each step. The caller holds the
// cluster's lock.
package maintenance
