// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package uninstall finds the objects of an installed etcd-webhook and the objects that it changed,
// and removes it. It deletes the admission configuration first, then restores client traffic and
// disruption budgets, and deletes the other objects last. Only the plugin calls it.
package uninstall
