// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

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
)

// App is what every command has: streams, kubectl's own flags, and what is made
// from them when it is first needed. It is not safe for concurrent use.
type App struct {
	*ui.Console

	Flags       *genericclioptions.ConfigFlags
	Credentials credentialFlags
	Clock       clock.Clock

	kube client.Client
	User string
}

func New(streams genericiooptions.IOStreams) *App {
	a := &App{Console: ui.NewConsole(streams), Clock: clock.RealClock{}}
	a.Flags = genericclioptions.NewConfigFlags(true).WithWrapConfigFn(a.configure)
	return a
}

// Config is the connection to the API server that kubeconfig and flags describe.
func (a *App) Config() (*rest.Config, error) {
	config, err := a.Flags.ToRESTConfig()
	if err != nil {
		return nil, a.kubeconfigError(err)
	}
	// Without any configuration, the libraries assume this address, and a
	// refused connection to it would tell nobody what is wrong.
	raw, err := a.Flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && len(raw.Clusters) == 0 && config.Host == "http://localhost:8080" && *a.Flags.APIServer == "" {
		return nil, errors.New("no cluster to talk to: there is no kubeconfig; set KUBECONFIG, --kubeconfig or --server")
	}
	return config, err
}

func (a *App) configure(config *rest.Config) *rest.Config {
	config.UserAgent = "kubectl-etcd/" + ClientVersion().Version
	// As kubectl has it: one person's commands need no throttle of their own.
	config.QPS, config.Burst = 50, 300
	config.WarningHandler = rest.NewWarningWriter(a.ErrOut, rest.WarningWriterOptions{Deduplicate: true, Color: a.Paints(a.ErrOut)})
	return config
}

// Namespace is that of -n, else of the context, else default.
func (a *App) Namespace() (string, error) {
	name, _, err := a.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", a.kubeconfigError(err)
	}
	return name, nil
}

// kubeconfigError names the contexts there are where the one asked for is not.
func (a *App) kubeconfigError(err error) error {
	raw, rawErr := a.Flags.ToRawKubeConfigLoader().RawConfig()
	asked := cmp.Or(*a.Flags.Context, raw.CurrentContext)
	if _, found := raw.Contexts[asked]; rawErr == nil && asked != "" && !found {
		return fmt.Errorf("read the kubeconfig: there is no context %q; it has %s", asked,
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "), "none"))
	}
	return fmt.Errorf("read the kubeconfig: %w", err)
}

// Client reads from the API server, without a cache, and writes to it. It knows
// the kinds of internal/observe without asking which the server has.
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

// Reader reads facts through client.
func (a *App) Reader() (*observe.Reader, error) {
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	return &observe.Reader{Reader: kube, Leases: &observe.LeaseClock{Clock: a.Clock}}, nil
}
