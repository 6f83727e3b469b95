// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package faults plays random sequences of faults on an etcd cluster of a testbed, and checks
// throughout that the cluster is protected.
//
// Generate makes a Sequence from a seed, without any cluster. Run plays it. A fault that stops
// members, such as a kill, never takes the quorum: the generator leaves a majority alone, and Run
// waits until that majority is ready. Requests to the API server, such as evictions, come at any
// moment, because the project has to refuse the dangerous ones.
//
// These invariants hold, or Run returns an error:
//
//   - No removal of a pod takes the quorum, if it was admitted while a policy guards the cluster. See judge.
//   - No pod is removed that no step is about.
//   - While a majority runs, writes succeed.
//   - No acknowledged write is lost.
//   - When all faults have ended, the cluster heals, and then no object changes any more.
package faults
