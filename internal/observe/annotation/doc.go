// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package annotation has what this project records in annotations: the state of a disruption
// budget, and what admission did to a pod. It converts between values and text, and reads no
// cluster.
package annotation
