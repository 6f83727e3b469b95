// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package install inspects an installed etcd-webhook, judges whether it works, finds
// the objects that belong to it, and uninstalls it. Uninstalling deletes the admission
// configuration first, then restores client traffic and disruption budgets, and deletes
// the other objects last. Only the plugin calls it.
package install
