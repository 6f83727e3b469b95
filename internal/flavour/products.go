// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// products has all products, in the order in which they are tried.
var products = []Product{
	druid, etcdOperator, cozystack, aenix, improbable, hyperShift, k0smotron,
	karmada, kamaji, vcluster, bitnami, karmadaChart, kubeadm, rke2, plain, pods,
}

// All returns every product.
func All() []Product { return slices.Clone(products) }

// AnnotationPrefixes returns the prefixes of the annotations of all products that this project reads.
func AnnotationPrefixes() []string {
	var prefixes []string
	for i := range products {
		prefixes = append(prefixes, products[i].Annotations...)
	}
	return prefixes
}

// Of returns the product of a name. For an unknown name it returns Plain.
func Of(name Name) Product {
	for _, p := range products {
		if p.Name == name {
			return p
		}
	}
	return plain
}

// OfStatefulSet recognises the product of a StatefulSet by its controller, which may be
// nil, by the labels of it and of its pods, and by its containers' environment.
func OfStatefulSet(controller *metav1.OwnerReference, spec *corev1.PodSpec, labels ...map[string]string) Name {
	for _, signs := range []func(Product) bool{
		func(p Product) bool { return controller != nil && p.controls(controller) },
		func(p Product) bool { return p.labels(labels) },
		func(p Product) bool { return p.sets(spec) },
	} {
		if i := slices.IndexFunc(products, signs); i >= 0 {
			return products[i].Name
		}
	}
	return Plain
}

// OnlyEtcd reports whether a controller only has StatefulSets of etcd.
func OnlyEtcd(controller *metav1.OwnerReference) bool {
	return slices.ContainsFunc(products, func(p Product) bool { return p.OnlyEtcd && p.controls(controller) })
}

// Controls reports whether a controller is of a kind that a product controls its StatefulSets or pods with.
func Controls(controller *metav1.OwnerReference) bool {
	return slices.ContainsFunc(products, func(p Product) bool { return p.controls(controller) })
}

// Groups returns the API groups in which a product has a kind of this name.
func Groups(kind string) []string {
	var groups []string
	for _, p := range products {
		for _, c := range p.Controllers {
			if c.Kind == kind {
				groups = append(groups, c.Group)
			}
		}
	}
	return groups
}

func (p Product) controls(ref *metav1.OwnerReference) bool {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	return slices.ContainsFunc(p.Controllers, func(c schema.GroupVersionKind) bool { return c.GroupKind() == kind })
}

func (p Product) labels(sets []map[string]string) bool {
	return slices.ContainsFunc(p.Labels, func(l Label) bool {
		return slices.ContainsFunc(sets, func(set map[string]string) bool { return set[l.Key] == l.Value })
	})
}

func (p Product) sets(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(containers.Of(spec), func(c *corev1.Container) bool {
		return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return slices.Contains(p.Env, e.Name) })
	})
}
