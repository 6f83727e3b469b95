// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdlog reads from the end of the log of an etcd whether it has ended because its data is lost, is not that of
// the member, or can't be read.
package etcdlog
