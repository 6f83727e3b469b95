// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// productKey is the key under which a cached StatefulSet has its product.
const productKey = "product"

// ProductOf returns the product that made a StatefulSet. Some are recognised by variables, which the
// cache does not hold: of a cached StatefulSet it returns what keepProduct has kept.
func ProductOf(sts *appsv1.StatefulSet) flavour.Name {
	if name, cached := kept[flavour.Name](sts, productKey); cached {
		return name
	}
	return flavour.OfStatefulSet(metav1.GetControllerOf(sts), &sts.Spec.Template.Spec, sts.Labels, sts.Spec.Template.Labels)
}

func keepProduct(sts *appsv1.StatefulSet) { keep(sts, productKey, ProductOf) }
