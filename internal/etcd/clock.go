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
)

// ClockReading is by how much a member's clock is ahead of this machine's: at
// least Least and at most Most, both negative for one that is behind.
type ClockReading struct{ Least, Most time.Duration }

// clockSamples is how often a clock is read. A Date header has whole seconds, so
// that one reading is good to a second; those that are spread over a second meet
// the second's end at different distances, and what all of them allow is narrower.
const clockSamples = 5

// Clock reads a member's clock from the Date header of its HTTP answers. The
// member wrote it between the moment that the request had gone out and the moment
// that the answer came in, which is the error. It takes a second.
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
		// The link has TLS in it.
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

func readClock(ctx context.Context, transport *http.Transport, e Endpoint, here clock.PassiveClock) (ClockReading, error) {
	var sent, came time.Time
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// Not WroteRequest, which comes late: the answer may be there before it.
		GotConn:              func(httptrace.GotConnInfo) { sent = here.Now() },
		GotFirstResponseByte: func() { came = here.Now() },
	})
	// Any answer will do, also that there is no such page.
	url := fmt.Sprintf("http://%s.%s:%d/version", e.Pod, e.Namespace, e.Port)
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, http.NoBody)
	if err != nil {
		return ClockReading{}, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return ClockReading{}, err
	}
	_ = response.Body.Close() // of a HEAD, there is none
	return clockReading(response.Header.Get("Date"), sent, came)
}

// clockReading is what one Date header says, written between two moments by this
// machine's clock.
func clockReading(date string, sent, came time.Time) (ClockReading, error) {
	second, err := http.ParseTime(date)
	if err != nil {
		return ClockReading{}, fmt.Errorf("its HTTP answers have no date that can be read: %q", date)
	}
	return ClockReading{Least: second.Sub(came), Most: second.Add(time.Second).Sub(sent)}, nil
}
