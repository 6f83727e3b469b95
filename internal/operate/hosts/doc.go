// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package hosts finds the nodes that can start new pods of members with their volumes now. Operations that stop
// all members call it first. It evaluates cordons, taints, node selectors and affinity, the nodes of volumes, and
// required anti-affinity between the members. It doesn't evaluate requests for CPU and memory, ports, or
// topology spread constraints, so a node that it finds can still refuse a pod.
package hosts
