// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package testbed runs a real Kubernetes cluster on one Linux machine: etcd, the
// control plane, and nodes with their own containerd, kubelet and kube-proxy,
// spread over zones.
//
// Up makes one, Attach finds one that runs, Down removes one and every trace of
// it. A Testbed's nodes and zones can be stopped, killed, paused and cut off, and
// its control plane's programs stopped and started, from any process: the state
// is in the run directory and in the machines themselves, not in the process
// that called Up.
//
// Each node, and the control plane, is a machine in the sense of package machine.
// All of them see one another through a switch in the control plane's network
// namespace; the host reaches it by one link, and reaches nodes but not pods.
package testbed
