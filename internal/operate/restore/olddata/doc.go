// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package olddata deletes the old data that restores of a cluster keep: files in the volumes of the members, and
// PersistentVolumes. It deletes nothing while the cluster is not healthy, or while a restore is unfinished. The names
// of the data come from package restore, whose steps give them.
package olddata
