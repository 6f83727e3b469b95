// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
)

// Metrics returns the metrics of a member by name.
func (c *Cluster) Metrics(ctx context.Context, pod string) (map[string]*dto.MetricFamily, error) {
	e, err := c.endpoint(pod)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	families, err := c.scrape(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("metrics of %w", Explain(e, err))
	}
	return families, nil
}

// scrape reads the metrics of an endpoint.
func (c *Cluster) scrape(ctx context.Context, e access.Endpoint) (map[string]*dto.MetricFamily, error) {
	if e.MetricsErr != nil {
		return nil, e.MetricsErr
	}
	if e.MetricsPort != 0 {
		e.Port, e.Address, e.TLS = e.MetricsPort, e.MetricsAddress, e.MetricsTLS
	}
	l := &link{tunnel: c.Tunnel, endpoint: e}
	transport := &http.Transport{
		// The link does TLS.
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) },
		DisableKeepAlives: true,
	}
	url := fmt.Sprintf("http://%s.%s:%d/metrics", e.Pod, e.Namespace, e.Port)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, cmp.Or(l.cause(), err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answers %s on port %d", response.Status, e.Port)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(response.Body)
}

// quota returns a member's quota in bytes from its metrics, 0 if they aren't available.
// Before etcd 3.6 Status doesn't contain it.
func (c *Cluster) quota(ctx context.Context, pod string) int64 {
	families, err := c.Metrics(ctx, pod)
	if err != nil {
		return 0
	}
	return int64(Value(families, "etcd_server_quota_backend_bytes"))
}

// Value returns the value of a metric without labels, 0 if it is absent.
func Value(families map[string]*dto.MetricFamily, name string) float64 {
	var sum float64
	for _, m := range families[name].GetMetric() {
		sum += m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
	}
	return sum
}
