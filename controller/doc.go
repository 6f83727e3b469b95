// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package controller acts on what admission can't see: leases that age,
// conditions that flip, holds that end, members that wait for a node in vain.
// Each reconciler observes one thing whole, lets pass what is not ours, asks
// policy to decide and applies with the narrowest write. One replica leads and
// runs them; what must survive it stands in the objects.
package controller
