// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// clusterLabel is on every object that is applied here, and has the name of its cluster.
	// Delete finds the cluster's objects by it.
	clusterLabel = "testbed.kubectl-etcd.dev/cluster"
	// fieldOwner is the field manager of applied objects.
	fieldOwner = client.FieldOwner("testbed")
)

// kube is a connection to a testbed's API server. It has a client that knows druid's types, and
// a client for subresources.
type kube struct {
	client.Client
	set  kubernetes.Interface
	rest *rest.Config
}

// connect creates the clients and sends no request to the API server.
func connect(tb Testbed) (*kube, error) {
	// The client's errors contain all that it logs. Without a logger, it prints a warning on
	// standard error.
	log.SetLogger(logr.Discard())
	config, err := tb.RESTConfig()
	if err != nil {
		return nil, fmt.Errorf("reach testbed: %w", err)
	}
	reached := rest.CopyConfig(config)
	reached.Wrap(Persistently)
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		return nil, fmt.Errorf("types of Kubernetes: %w", err)
	}
	if err := druidv1alpha1.AddToScheme(types); err != nil {
		return nil, fmt.Errorf("types of druid: %w", err)
	}
	c, err := client.New(reached, client.Options{Scheme: types})
	if err != nil {
		return nil, fmt.Errorf("reach testbed: %w", err)
	}
	set, err := kubernetes.NewForConfig(reached)
	if err != nil {
		return nil, fmt.Errorf("reach testbed: %w", err)
	}
	return &kube{Client: c, set: set, rest: config}, nil
}

// apply applies objects by server-side apply, and overrides the fields of other managers.
func (k *kube) apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		// This applies a copy, because the API server's response overwrites the object.
		err := k.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), fieldOwner, client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err)
		}
	}
	return nil
}

// ensureNamespace creates a namespace if it doesn't exist. It doesn't change an existing one,
// because its labels belong to the caller.
func (k *kube) ensureNamespace(ctx context.Context, name string) error {
	err := k.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

// mark sets the label by which the object's cluster is found again.
func mark(object *unstructured.Unstructured, cluster string) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[clusterLabel] = cluster
	object.SetLabels(labels)
}
