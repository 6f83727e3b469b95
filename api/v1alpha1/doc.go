// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API group policy.kubectl-etcd.dev. It has the only custom resource of
// this project, EtcdTopologyPolicy, and the annotations of this project. Defaults and validation
// are in the custom resource definition (manifests/crd), as OpenAPI and CEL, so that the API
// server applies them without a webhook.
//
// +kubebuilder:object:generate=true
// +groupName=policy.kubectl-etcd.dev
package v1alpha1

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object paths=. crd paths=. output:crd:dir=../../manifests/crd
