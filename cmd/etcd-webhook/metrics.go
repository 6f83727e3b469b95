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

// metricsOptions serve metrics over TLS, with the certificate that reviews are
// answered with, to those whose token the API server knows and whom it allows to
// get /metrics. They name every etcd cluster and say which is weak.
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
