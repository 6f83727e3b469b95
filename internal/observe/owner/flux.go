// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import "k8s.io/apimachinery/pkg/util/validation"

// Flux's helm-controller labels all objects of a release with the HelmRelease from which it installs and upgrades
// that. It writes back what another client changes in the release.
const (
	fluxName      = "helm.toolkit.fluxcd.io/name"
	fluxNamespace = "helm.toolkit.fluxcd.io/namespace"
)

// HelmRelease returns Flux's object that an owner is from, as NAMESPACE/NAME, empty for none.
func (o Owner) HelmRelease() string {
	name, namespace := o.Labels[fluxName], o.Labels[fluxNamespace]
	if len(validation.IsDNS1123Subdomain(name)) > 0 || len(validation.IsDNS1123Label(namespace)) > 0 {
		return ""
	}
	return namespace + "/" + name
}
