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
	e := &App{Console: ui.NewConsole(streams), Clock: clock.RealClock{}}
	e.Flags = genericclioptions.NewConfigFlags(true).WithWrapConfigFn(e.configured)
	return e
}

// Config is the connection to the API server that kubeconfig and flags describe.
func (e *App) Config() (*rest.Config, error) {
	config, err := e.Flags.ToRESTConfig()
	if err != nil {
		return nil, e.kubeconfigError(err)
	}
	// Without any configuration, the libraries assume this address, and a
	// refused connection to it would tell nobody what is wrong.
	raw, err := e.Flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && len(raw.Clusters) == 0 && config.Host == "http://localhost:8080" && *e.Flags.APIServer == "" {
		return nil, errors.New("no cluster to talk to: there is no kubeconfig; set KUBECONFIG, --kubeconfig or --server")
	}
	return config, err
}

func (e *App) configured(config *rest.Config) *rest.Config {
	config.UserAgent = "kubectl-etcd/" + ClientVersion().Version
	// As kubectl has it: one person's commands need no throttle of their own.
	config.QPS, config.Burst = 50, 300
	config.WarningHandler = rest.NewWarningWriter(e.ErrOut, rest.WarningWriterOptions{Deduplicate: true, Color: e.Paints(e.ErrOut)})
	return config
}

// Namespace is that of -n, else of the context, else default.
func (e *App) Namespace() (string, error) {
	name, _, err := e.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", e.kubeconfigError(err)
	}
	return name, nil
}

// kubeconfigError names the contexts there are where the one asked for is not.
func (e *App) kubeconfigError(err error) error {
	raw, rawErr := e.Flags.ToRawKubeConfigLoader().RawConfig()
	asked := cmp.Or(*e.Flags.Context, raw.CurrentContext)
	if _, found := raw.Contexts[asked]; rawErr == nil && asked != "" && !found {
		return fmt.Errorf("read the kubeconfig: there is no context %q; it has %s", asked,
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "), "none"))
	}
	return fmt.Errorf("read the kubeconfig: %w", err)
}

// Client reads from the API server, without a cache, and writes to it. It knows
// the kinds of internal/observe without asking which the server has.
func (e *App) Client() (client.Client, error) {
	if e.kube != nil {
		return e.kube, nil
	}
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	e.kube, err = kubeclient.Connect(config)
	return e.kube, err
}

// Reader reads facts through client.
func (e *App) Reader() (*observe.Reader, error) {
	kube, err := e.Client()
	if err != nil {
		return nil, err
	}
	return &observe.Reader{Reader: kube, Leases: &observe.LeaseClock{Clock: e.Clock}}, nil
}
