// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"net/http"

	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubectl-etcd/kubectl-etcd/internal/scrape"
)

// metricsOptions returns the options to serve metrics over TLS with the webhook's certificate.
// A client needs a token of the API server and the permission to get /metrics, because the
// metrics name every etcd cluster and its weaknesses.
func metricsOptions(o options, tlsOptions func(*tls.Config)) metricsserver.Options {
	return metricsserver.Options{
		BindAddress:   o.metrics,
		SecureServing: true,
		TLSOpts:       []func(*tls.Config){tlsOptions},
		FilterProvider: func(config *rest.Config, _ *http.Client) (metricsserver.Filter, error) {
			guard, err := scrape.New(config)
			if err != nil {
				return nil, err
			}
			return guard.Filter, nil
		},
	}
}
