// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API group output.kubectl-etcd.dev. It has the objects that kubectl
// etcd prints with -o json, yaml, jsonpath and go-template. They are not stored in the API
// server. Each kind has one file.
//
// IDs of clusters and members are 16 hexadecimal digits, because many JSON parsers lose digits
// of large numbers. Sizes are bytes.
//
// +kubebuilder:object:generate=true
// +groupName=output.kubectl-etcd.dev
package v1alpha1

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object paths=.
