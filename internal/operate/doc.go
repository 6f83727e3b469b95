// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package operate has what all operations on a cluster share: the plan that a person
// agrees to, the permissions that it needs, the Event that records it, and the error of
// one that is refused. Its folders hold the operations, by what is operated on. They ask
// package policy what may be done, and print nothing. Only the plugin calls them.
package operate
