// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package access finds how the members of an etcd cluster in Kubernetes can be reached, and with which credentials:
// ports, names in certificates, authorities, a client certificate, and a password. It reads pods and what they mount,
// and connects to nothing.
package access
