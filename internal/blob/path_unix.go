// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package blob

// localPath returns the path of this system for the path of a URL.
func localPath(p string) string { return p }
