// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package clusters creates etcd clusters on a testbed in the ways in which users run them: by
// etcd-druid, as a StatefulSet from etcd's documentation, or as a chart does. It installs
// etcd-druid, and it breaks and inspects the clusters. Tests, the demonstration and the testbed
// program use it.
//
// Apply creates a Cluster from a Spec. ReadyMade has specs with names.
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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Testbed is what this package needs to know of a testbed.
type Testbed interface {
	// RESTConfig returns the configuration of an administrator.
	RESTConfig() (*rest.Config, error)
	// Kubeconfig returns the path of the same configuration as a file. Kubectl returns the path
	// of kubectl.
	Kubeconfig() string
	Kubectl() string
	// Registry returns the registry from which the nodes pull all images.
	Registry() string
	// Shared returns the host's path of the directory that all nodes share.
	Shared() string
}

// Cluster is one etcd cluster on a testbed. It holds a connection and no state of the cluster:
// every method asks the API server again. Several goroutines can use it at once.
type Cluster struct {
	layout

	testbed Testbed
	kube    *kube
}

// At returns the cluster of that name without a request to the API server. The cluster need not
// exist. The spec must be the one from which the cluster was created or will be created. Its
// size is only the initial size.
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

// Apply creates a cluster, or changes an existing one to the spec, and returns without waiting
// for it. It creates the namespace if it doesn't exist, and first builds and pushes the images
// that the cluster runs.
//
// For an existing Etcd, Apply only changes the object. See Reconcile to have druid act on it.
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

// ensureCertificates writes the cluster's TLS Secrets unless all of them exist. If only some
// exist, an earlier run ended before anything could use them.
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

// certified reports whether the existing cluster has certificates.
func (c *Cluster) certified(ctx context.Context) (bool, error) {
	return c.hasSecret(ctx, c.clientSecret())
}

func (c *Cluster) hasSecret(ctx context.Context, name string) (bool, error) {
	err := c.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &corev1.Secret{})
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("find secret %s/%s: %w", c.Namespace, name, err)
	}
	return err == nil, nil
}

// String returns the cluster's namespace and name.
func (c *Cluster) String() string { return c.Namespace + "/" + c.Name }
