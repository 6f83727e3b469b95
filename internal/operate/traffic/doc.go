// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package traffic cuts and restores a cluster's client traffic: it finds the Services
// that clients use, writes the cut into their selectors, keeps etcd-druid from reverting
// it, and counts the streams that survive it. Who cut the traffic is recorded on the
// cluster's lock.
package traffic
