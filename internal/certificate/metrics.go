// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Collector returns the metrics of this package without values, so that they can be
// described.
func Collector() prometheus.Collector { return &server{} }

var (
	certificateExpiry = prometheus.NewDesc("kubectl_etcd_webhook_certificate_expiry_timestamp_seconds",
		"Unix time when the serving certificate of this replica expires. Absent while it has none.", nil, nil)
	authorityExpiry = prometheus.NewDesc("kubectl_etcd_webhook_certificate_authority_expiry_timestamp_seconds",
		"Unix time when the authority of that certificate expires: the one by which API servers accept it, or accepted it last. Absent if none is known.", nil, nil)
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
	if s.current == nil {
		return
	}
	to <- prometheus.MustNewConstMetric(certificateExpiry, prometheus.GaugeValue, float64(s.current.chain[0].NotAfter.Unix()))
	if !s.authorityEnd.IsZero() {
		to <- prometheus.MustNewConstMetric(authorityExpiry, prometheus.GaugeValue, float64(s.authorityEnd.Unix()))
	}
}
