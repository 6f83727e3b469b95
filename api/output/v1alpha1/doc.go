// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API group output.kubectl-etcd.dev: what kubectl etcd
// prints with -o json and -o yaml, and hands to jsonpath and go-template. The API
// server never sees these objects. One file per kind.
//
// IDs of clusters and members are written as 16 hexadecimal digits, since many
// readers of JSON lose digits of large numbers. Sizes are bytes.
//
// +kubebuilder:object:generate=true
// +groupName=output.kubectl-etcd.dev
package v1alpha1

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object paths=.
