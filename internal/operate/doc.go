// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package operate has what all operations on a cluster share: the plan that the user confirms,
// the permissions, the Event that records the operation, the mark of a StatefulSet, and the error of a refused one. Its
// folders have the operations. They use package policy to decide what is allowed, and print
// nothing. Only the plugin calls them.
package operate
