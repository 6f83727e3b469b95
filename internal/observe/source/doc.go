// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package source has the readers that package observe reads objects from: the options of the
// manager's cache, and lists that were read in advance. It knows which
// kinds and fields are needed, and makes no facts of them.
package source
