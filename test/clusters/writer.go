// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// errNoClient is the result of a put while no client of the members exists.
var errNoClient = errors.New("no member to dial")

// writeEvery is the interval between two puts. Every delta period must have something to save,
// and the load must be small.
const writeEvery = 500 * time.Millisecond

// Writer puts keys into a cluster until it is stopped, whatever happens to the members.
type Writer struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	stats WriterStats
}

// WriterStats are the results of a writer's puts.
type WriterStats struct {
	// Written and Failed count the puts that a quorum accepted, and the other puts.
	Written, Failed int
	// LongestGap is the longest time from one success to the next, or to now.
	LongestGap time.Duration
	// LastErr is the error of the last failed put.
	LastErr error
}

// Write starts a writer. It ends with ctx, or when it is stopped.
func (c *Cluster) Write(ctx context.Context) *Writer {
	ctx, cancel := context.WithCancel(ctx)
	w := &Writer{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.run(ctx, c)
	}()
	return w
}

// Stop ends the writer and returns its results.
func (w *Writer) Stop() WriterStats {
	w.cancel()
	<-w.done
	return w.Stats()
}

// Stats returns the writer's results so far.
func (w *Writer) Stats() WriterStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

func (w *Writer) run(ctx context.Context, c *Cluster) {
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	var conn *clientv3.Client
	defer func() {
		if conn != nil {
			_ = conn.Close() // the members may not exist any more
		}
	}()
	last := time.Now() //nolint:forbidigo // it measures real gaps
	for n := 0; ; n++ {
		if conn == nil {
			conn, _ = c.Dial(ctx) // without a client, the put fails and is counted
		}
		err := put(ctx, conn, n)
		if ctx.Err() != nil {
			return
		}
		w.record(err, time.Since(last))
		if err == nil {
			last = time.Now() //nolint:forbidigo // it measures real gaps
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// put writes one of a hundred keys, so that the database doesn't grow.
func put(ctx context.Context, conn *clientv3.Client, n int) error {
	if conn == nil {
		return errNoClient
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := conn.Put(ctx, fmt.Sprintf("testbed/writer/%02d", n%100), strconv.Itoa(n))
	return err
}

func (w *Writer) record(err error, gap time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.LongestGap = max(w.stats.LongestGap, gap)
	if err != nil {
		w.stats.Failed++
		w.stats.LastErr = err
		return
	}
	w.stats.Written++
}
