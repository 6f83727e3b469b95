// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package app is what the plugin's commands have in common: global flags, clients, the selection of
// clusters, and errors with exit codes.
package app

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/kubeclient"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// App is the environment of a command: streams, global flags, and the clients that they
// configure. It creates a client at its first use. It is not safe for concurrent use.
type App struct {
	*ui.Console

	Flags       *genericclioptions.ConfigFlags
	Credentials credentialFlags
	Clock       clock.Clock

	kube client.Client
	User string
}

// New returns an App for the streams.
func New(streams genericiooptions.IOStreams) *App {
	a := &App{Console: ui.NewConsole(streams), Clock: clock.RealClock{}}
	a.Given = func() ui.Given { return ui.Given{Context: a.ContextFlags(), Login: a.Credentials.AsArgs()} }
	a.Flags = genericclioptions.NewConfigFlags(true).WithWrapConfigFn(a.configure)
	return a
}

// Config returns the client configuration from the kubeconfig and the flags.
func (a *App) Config() (*rest.Config, error) {
	config, err := a.Flags.ToRESTConfig()
	if err != nil {
		return nil, a.kubeconfigError(err)
	}
	// Without a kubeconfig, client-go connects to this address. The error of that connection
	// would not explain that the kubeconfig is missing.
	raw, err := a.Flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && len(raw.Clusters) == 0 && config.Host == "http://localhost:8080" && *a.Flags.APIServer == "" {
		return nil, errors.New("no Kubernetes cluster is configured: there is no kubeconfig; set KUBECONFIG, --kubeconfig or --server")
	}
	return config, err
}

func (a *App) configure(config *rest.Config) *rest.Config {
	config.UserAgent = "kubectl-etcd/" + ClientVersion().Version
	// The same limits as in kubectl.
	config.QPS, config.Burst = 50, 300
	config.WarningHandler = a.ServerWarnings()
	return config
}

// Namespace returns the namespace of -n, of the context, or "default", in this order.
func (a *App) Namespace() (string, error) {
	name, _, err := a.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", a.kubeconfigError(err)
	}
	return name, nil
}

// kubeconfigError lists the contexts of the kubeconfig if the requested one does not exist.
func (a *App) kubeconfigError(err error) error {
	raw, rawErr := a.Flags.ToRawKubeConfigLoader().RawConfig()
	requested := cmp.Or(*a.Flags.Context, raw.CurrentContext)
	if _, found := raw.Contexts[requested]; rawErr == nil && requested != "" && !found {
		return fmt.Errorf("read the kubeconfig: there is no context %q; it has %s", requested,
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "), "none"))
	}
	return fmt.Errorf("read the kubeconfig: %w", err)
}

// Client returns a client without a cache. It needs no discovery for the kinds of
// internal/kubeclient.
func (a *App) Client() (client.Client, error) {
	if a.kube != nil {
		return a.kube, nil
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	a.kube, err = kubeclient.Connect(config)
	return a.kube, err
}

// Reader returns a reader of facts that uses Client.
func (a *App) Reader() (*observe.Reader, error) {
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	return &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: a.Clock}, Scripts: podfiles.NewScripts()}, nil
}
