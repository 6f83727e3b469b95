// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restart restarts the members of a cluster one by one. It stops a
// member by an eviction of its pod, so that disruption budgets and the eviction guard have the
// last word. Package policy/restart decides which member is next.
//
// The journal has the pods that there were when the restart began. A member whose pod is another
// one has been restarted. So any later process continues where one was interrupted, and no pod is
// evicted twice: each eviction names the UID of the pod that the journal has.
//
// # Configuration
//
// A new pod mounts the ConfigMaps and Secrets that the API server has when its kubelet starts it.
// The copies that running pods have mounted, which follow within a minute or, with subPath, never,
// don't matter to it. So what has to be proved before a pod goes is that each object and key which
// the next pod needs exists: otherwise it wouldn't start, and the member would stay down. The
// journal has the versions of these objects. Where one has changed by the end, members may run
// with different contents, and the user is warned.
package restart
