// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is one etcd cluster on a testbed. It holds a connection and no state of
// the cluster: every method asks the API server again. It may be used by several
// goroutines.
type Cluster struct {
	layout

	testbed Testbed
	kube    *kube
}

// At returns the cluster of that name, which may exist already or not, and asks
// nothing of the API server. The spec has to be the one that the cluster was, or
// will be, made from; its size is only the one to begin with.
func At(tb Testbed, namespace, name string, spec Spec) (*Cluster, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("cluster %s/%s: %w", namespace, name, err)
	}
	k, err := connect(tb)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		layout:  layout{Spec: spec.withDefaults(), Namespace: namespace, Name: name},
		testbed: tb,
		kube:    k,
	}, nil
}

// Apply makes a cluster, or changes the one that is there to what the spec requires,
// and returns without waiting for it. The namespace is made where it is missing,
// and the images that the cluster runs are built and pushed first.
//
// An Etcd that exists is only changed: see Reconcile for having druid act on it.
func Apply(ctx context.Context, tb Testbed, namespace, name string, spec Spec) (*Cluster, error) {
	c, err := At(tb, namespace, name, spec)
	if err != nil {
		return nil, err
	}
	if err := c.apply(ctx); err != nil {
		return nil, fmt.Errorf("make cluster %s: %w", c, err)
	}
	return c, nil
}

func (c *Cluster) apply(ctx context.Context) error {
	if err := pushImages(ctx, c.testbed, c.images(), c.Progress); err != nil {
		return err
	}
	if err := c.kube.ensureNamespace(ctx, c.Namespace); err != nil {
		return err
	}
	if c.TLS {
		if err := c.ensureCertificates(ctx); err != nil {
			return err
		}
	}
	objects, err := c.objects()
	if err != nil {
		return err
	}
	for _, object := range objects {
		mark(object, c.Name)
		if err := c.mutate(object); err != nil {
			return err
		}
	}
	err = c.kube.apply(ctx, objects...)
	if c.Flavour == Druid && meta.IsNoMatchError(err) {
		return fmt.Errorf("%w; install etcd-druid first", err)
	}
	return err
}

// mutate changes the StatefulSet as the spec requires.
func (c *Cluster) mutate(object *unstructured.Unstructured) error {
	if c.Mutate == nil || object.GetKind() != "StatefulSet" {
		return nil
	}
	var set appsv1.StatefulSet
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &set); err != nil {
		return fmt.Errorf("StatefulSet of the manifests: %w", err)
	}
	c.Mutate(&set)
	var err error
	object.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&set)
	return err
}

// ensureCertificates writes the cluster's TLS Secrets unless all of them are there.
// Some of them without the others come from a run that ended half-way, before
// anything could have used them.
func (c *Cluster) ensureCertificates(ctx context.Context) error {
	secrets, err := c.certificates(time.Now()) //nolint:forbidigo // a certificate is valid from the moment it is made
	if err != nil {
		return err
	}
	complete := true
	for name := range secrets {
		there, err := c.hasSecret(ctx, name)
		if err != nil {
			return err
		}
		complete = complete && there
	}
	if complete {
		return nil
	}
	for name, data := range secrets {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name, Labels: map[string]string{clusterLabel: c.Name}},
			Data:       data,
		}
		if err := c.kube.Delete(ctx, secret.DeepCopy()); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("replace secret %s/%s: %w", c.Namespace, name, err)
		}
		if err := c.kube.Create(ctx, secret); err != nil {
			return fmt.Errorf("create secret %s/%s: %w", c.Namespace, name, err)
		}
	}
	return nil
}

// certified reports whether the cluster that is there has certificates.
func (c *Cluster) certified(ctx context.Context) (bool, error) {
	return c.hasSecret(ctx, c.clientSecret())
}

func (c *Cluster) hasSecret(ctx context.Context, name string) (bool, error) {
	err := c.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &corev1.Secret{})
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("look for secret %s/%s: %w", c.Namespace, name, err)
	}
	return err == nil, nil
}

// String is the cluster's namespace and name.
func (c *Cluster) String() string { return c.Namespace + "/" + c.Name }
