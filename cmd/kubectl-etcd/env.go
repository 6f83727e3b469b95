// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// fieldManager is whom the API server notes as the writer of our fields.
const fieldManager = "kubectl-etcd"

// env is what every command has: streams, kubectl's own flags, and what is made
// from them when it is first needed. It is not safe for concurrent use.
type env struct {
	*console

	flags       *genericclioptions.ConfigFlags
	credentials credentialFlags
	clock       clock.Clock

	kube client.Client
	user string
}

func newEnv(streams genericiooptions.IOStreams) *env {
	e := &env{console: newConsole(streams), clock: clock.RealClock{}}
	e.flags = genericclioptions.NewConfigFlags(true).WithWrapConfigFn(e.configured)
	return e
}

// config is the connection to the API server that kubeconfig and flags describe.
func (e *env) config() (*rest.Config, error) {
	config, err := e.flags.ToRESTConfig()
	if err != nil {
		return nil, e.kubeconfigError(err)
	}
	// Without any configuration, the libraries assume this address, and a
	// refused connection to it would tell nobody what is wrong.
	raw, err := e.flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && len(raw.Clusters) == 0 && config.Host == "http://localhost:8080" && *e.flags.APIServer == "" {
		return nil, errors.New("no cluster to talk to: there is no kubeconfig; set KUBECONFIG, --kubeconfig or --server")
	}
	return config, err
}

func (e *env) configured(config *rest.Config) *rest.Config {
	config.UserAgent = "kubectl-etcd/" + clientVersion().Version
	// As kubectl has it: one person's commands need no throttle of their own.
	config.QPS, config.Burst = 50, 300
	config.WarningHandler = rest.NewWarningWriter(e.ErrOut, rest.WarningWriterOptions{Deduplicate: true, Color: e.paints(e.ErrOut)})
	return config
}

// namespace is that of -n, else of the context, else default.
func (e *env) namespace() (string, error) {
	name, _, err := e.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", e.kubeconfigError(err)
	}
	return name, nil
}

// kubeconfigError names the contexts there are where the one asked for is not.
func (e *env) kubeconfigError(err error) error {
	raw, rawErr := e.flags.ToRawKubeConfigLoader().RawConfig()
	asked := cmp.Or(*e.flags.Context, raw.CurrentContext)
	if _, found := raw.Contexts[asked]; rawErr == nil && asked != "" && !found {
		return fmt.Errorf("read the kubeconfig: there is no context %q; it has %s", asked,
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "), "none"))
	}
	return fmt.Errorf("read the kubeconfig: %w", err)
}

// client reads from the API server, without a cache, and writes to it. It knows
// the kinds of internal/observe without asking which the server has.
func (e *env) client() (client.Client, error) {
	if e.kube != nil {
		return e.kube, nil
	}
	config, err := e.config()
	if err != nil {
		return nil, err
	}
	e.kube, err = connect(config)
	return e.kube, err
}

func connect(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		return nil, err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	kube, err := newClient(config, httpClient, scheme)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return kube, nil
}

func newClient(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme) (client.Client, error) {
	mapper, err := newMapper(config, httpClient, scheme)
	if err != nil {
		return nil, err
	}
	kube, err := client.New(config, client.Options{HTTPClient: httpClient, Scheme: scheme, Mapper: mapper, FieldOwner: fieldManager})
	return served{kube}, err
}

// reader reads facts through client.
func (e *env) reader() (*observe.Reader, error) {
	kube, err := e.client()
	if err != nil {
		return nil, err
	}
	return &observe.Reader{Reader: kube, Leases: &observe.LeaseClock{Clock: e.clock}}, nil
}
