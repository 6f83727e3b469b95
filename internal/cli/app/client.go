// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/gather"
	"github.com/kubectl-etcd/kubectl-etcd/internal/kubeclient"
)

// Access returns the tunnel and the credentials for connections to members.
func (a *App) Access() (etcd.Access, error) {
	config, err := a.Config()
	if err != nil {
		return etcd.Access{}, err
	}
	given, err := a.Credentials.Read(a)
	return etcd.Access{Tunnel: tunnel.New(config), Credentials: given}, err
}

// Source returns what the facts about a cluster's health are read from.
func (a *App) Source() (gather.Source, error) {
	reader, err := a.Reader()
	if err != nil {
		return gather.Source{}, err
	}
	config, err := a.Config()
	if err != nil {
		return gather.Source{}, err
	}
	access, err := a.Access()
	return gather.Source{Reader: reader, Access: access, Config: config, Clock: clock.RealClock{}, Flags: a.ContextFlags(), Login: a.Credentials.AsArgs(), Logs: a.Logs}, err
}

// Quiet returns a client that drops the API server's warnings. It is for dry runs whose
// purpose is to read the decision of etcd-webhook.
func (a *App) Quiet() (client.Client, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return kubeclient.NewClient(config, httpClient, kube.Scheme())
}
