// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package kubeclient connects the plugin to the API server. Its clients need no discovery for the
// kinds that the plugin uses.
package kubeclient

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// FieldManager is the name with which the API server records our writes.
const FieldManager = v1alpha1.PluginFieldManager

// Connect returns a client for the kinds of internal/observe. It sends no request yet.
func Connect(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		return nil, err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	kube, err := NewClient(config, httpClient, scheme)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return kube, nil
}

// NewClient returns a client that needs no discovery for the kinds of this package.
func NewClient(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme) (client.Client, error) {
	mapper, err := newMapper(config, httpClient, scheme)
	if err != nil {
		return nil, err
	}
	kube, err := client.New(config, client.Options{HTTPClient: httpClient, Scheme: scheme, Mapper: mapper, FieldOwner: FieldManager})
	return noMatchClient{kube}, err
}
