// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Register adds metrics to those that the manager's endpoint serves. It ignores metrics
// that are registered already: a second manager in one process, as in tests, shares them.
func Register(all ...prometheus.Collector) error {
	for _, c := range all {
		var already prometheus.AlreadyRegisteredError
		if err := metrics.Registry.Register(c); err != nil && !errors.As(err, &already) {
			return err
		}
	}
	return nil
}
