// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
)

// ClockReading is how far a member's clock is ahead of this machine's: at least Least and at
// most Most. Both are negative for a clock that is behind.
type ClockReading struct{ Least, Most time.Duration }

// clockSamples is how many times a clock is read. A Date header has whole seconds, so one
// reading is accurate to a second. Readings at different points of a second together give a
// narrower range.
const clockSamples = 5

// Clock reads a member's clock from the Date header of its HTTP responses. The member wrote
// it after the request was sent and before the response arrived; that interval is the
// error. Clock takes one second.
func (c *Cluster) Clock(ctx context.Context, pod string, here clock.WithTicker) (ClockReading, error) {
	e, err := c.endpoint(pod)
	if err != nil {
		return ClockReading{}, err
	}
	if e.MetricsPort != 0 {
		e.Port, e.TLS = e.MetricsPort, e.MetricsTLS
	}
	ctx, cancel := context.WithTimeout(ctx, 2*readLimit)
	defer cancel()
	l := &link{tunnel: c.Tunnel, endpoint: e}
	transport := &http.Transport{
		// The link does TLS.
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) },
	}
	defer transport.CloseIdleConnections()
	reading := ClockReading{Least: -1 << 62, Most: 1 << 62}
	for i := range clockSamples {
		if i > 0 {
			select {
			case <-ctx.Done():
				return ClockReading{}, fmt.Errorf("clock of %w", Explain(e, ctx.Err()))
			case <-here.After(time.Second / clockSamples):
			}
		}
		one, err := readClock(ctx, transport, e, here)
		if err != nil {
			return ClockReading{}, fmt.Errorf("clock of %w", Explain(e, cmp.Or(l.cause(), err)))
		}
		reading.Least, reading.Most = max(reading.Least, one.Least), min(reading.Most, one.Most)
	}
	return reading, nil
}

// readClock reads the clock once.
func readClock(ctx context.Context, transport *http.Transport, e access.Endpoint, here clock.PassiveClock) (ClockReading, error) {
	var sent, came time.Time
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// Not WroteRequest, which can be called after the response has arrived.
		GotConn:              func(httptrace.GotConnInfo) { sent = here.Now() },
		GotFirstResponseByte: func() { came = here.Now() },
	})
	// Any response has the header, even that for a missing page.
	url := fmt.Sprintf("http://%s.%s:%d/version", e.Pod, e.Namespace, e.Port)
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, http.NoBody)
	if err != nil {
		return ClockReading{}, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return ClockReading{}, err
	}
	_ = response.Body.Close() // the response to HEAD has no body
	return clockReading(response.Header.Get("Date"), sent, came)
}

// clockReading returns the reading of one Date header, which was written between two times
// of this machine's clock.
func clockReading(date string, sent, came time.Time) (ClockReading, error) {
	second, err := http.ParseTime(date)
	if err != nil {
		return ClockReading{}, fmt.Errorf("the Date header of its HTTP responses can't be parsed: %q", date)
	}
	return ClockReading{Least: second.Sub(came), Most: second.Add(time.Second).Sub(sent)}, nil
}
