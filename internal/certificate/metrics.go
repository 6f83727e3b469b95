// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Collector has the metrics of this package, without values: for those who
// describe them.
func Collector() prometheus.Collector { return &server{} }

var (
	certificateExpiry = prometheus.NewDesc("kubectl_etcd_webhook_certificate_expiry_timestamp_seconds",
		"When the serving certificate of this replica runs out, in seconds since the epoch. Absent while it has none.", nil, nil)
	authorityExpiry = prometheus.NewDesc("kubectl_etcd_webhook_certificate_authority_expiry_timestamp_seconds",
		"When the authority runs out by which API servers accept that certificate, or last did, in seconds since the epoch. Absent where none is known.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *server) Describe(to chan<- *prometheus.Desc) {
	to <- certificateExpiry
	to <- authorityExpiry
}

// Collect implements prometheus.Collector.
func (s *server) Collect(to chan<- prometheus.Metric) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.now == nil {
		return
	}
	to <- prometheus.MustNewConstMetric(certificateExpiry, prometheus.GaugeValue, float64(s.now.chain[0].NotAfter.Unix()))
	if !s.authorityEnd.IsZero() {
		to <- prometheus.MustNewConstMetric(authorityExpiry, prometheus.GaugeValue, float64(s.authorityEnd.Unix()))
	}
}

// register makes the manager's endpoint serve the metrics. A second Keeper in
// one process, as in tests, goes without.
func register(s *server) error {
	var already prometheus.AlreadyRegisteredError
	if err := metrics.Registry.Register(s); err != nil && !errors.As(err, &already) {
		return err
	}
	return nil
}
