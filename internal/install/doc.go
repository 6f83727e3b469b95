// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package install inspects an installed etcd-webhook and judges whether it works. Package uninstall
// below it removes etcd-webhook. Only the plugin calls either.
package install
