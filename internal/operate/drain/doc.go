// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package drain plans drains of several nodes and does them, wave by wave. Package policy/drain decides
// about the waves.
//
// Members are evicted here, by name and UID, and each only if the rule about evictions allows it at
// that moment, so that the members are as safe without etcd-webhook as with it. All other pods are
// kubectl drain's, whose code does the rest, in package kubectl. No pod is deleted: where the API
// server has no evictions, nothing is done.
package drain
