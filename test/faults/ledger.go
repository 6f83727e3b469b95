// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

const (
	ledgerPrefix = "faults/"
	// writeEvery is the interval between two writes, and writeLimit the timeout of one. A client
	// uses all members in rotation, so a write to a frozen one must not wait for long.
	writeEvery = 500 * time.Millisecond
	writeLimit = 5 * time.Second
	// dialAgain is after how many failed writes in a row the client is replaced.
	dialAgain = 6
)

// ledger writes keys into a cluster, each only once, and remembers the acknowledged ones.
type ledger struct {
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	acked   []int
	last    time.Time // of the last acknowledged write, or of the begin
	failed  int
	lastErr error
}

// keep starts a ledger. It ends when it is stopped.
func keep(ctx context.Context, c *clusters.Cluster) *ledger {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &ledger{stop: stop, done: make(chan struct{}), last: now()}
	go func() {
		defer close(l.done)
		l.run(ctx, c)
	}()
	return l
}

// end ends the ledger's writes.
func (l *ledger) end() {
	l.stop()
	<-l.done
}

func (l *ledger) run(ctx context.Context, c *clusters.Cluster) {
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	var conn *clientv3.Client
	closed := func() {
		if conn != nil {
			_ = conn.Close() // its members may be gone
		}
		conn = nil
	}
	defer closed()
	inRow := 0
	for n := 0; ; n++ {
		var err error
		if conn == nil {
			conn, err = c.Dial(ctx)
		}
		if err == nil {
			err = write(ctx, conn, n)
		}
		if ctx.Err() != nil {
			return
		}
		l.record(n, err)
		if err == nil {
			inRow = 0
		} else if inRow++; inRow%dialAgain == 0 {
			closed()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func write(ctx context.Context, conn *clientv3.Client, n int) error {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	_, err := conn.Put(ctx, key(n), strconv.Itoa(n))
	return err
}

func key(n int) string { return fmt.Sprintf("%s%08d", ledgerPrefix, n) }

func (l *ledger) record(n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed++
		l.lastErr = err
		return
	}
	l.acked = append(l.acked, n)
	l.last = now()
}

// lastAck returns the time of the last acknowledged write.
func (l *ledger) lastAck() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// String describes the writes for messages.
func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("%d writes acknowledged, the last at %s; %d failed, the last with %v", len(l.acked), l.last.Format("15:04:05.000"), l.failed, l.lastErr)
}

// missing returns the acknowledged keys that are not among the stored values, or have another value.
func (l *ledger) missing(stored map[string]string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lost []string
	for _, n := range l.acked {
		if stored[key(n)] != strconv.Itoa(n) {
			lost = append(lost, key(n))
		}
	}
	return lost
}

// readBack reads all keys with quorum, and returns an error if acknowledged ones are missing.
func (l *ledger) readBack(ctx context.Context, c *clusters.Cluster) error {
	stored := map[string]string{}
	err := clusters.Await(ctx, limit, fmt.Sprintf("the keys of %s", c), func(ctx context.Context) (string, bool, error) {
		conn, err := c.Dial(ctx)
		if err != nil {
			return "", false, err
		}
		defer conn.Close()
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		got, err := conn.Get(ctx, ledgerPrefix, clientv3.WithPrefix())
		if err != nil {
			return "", false, err
		}
		for _, kv := range got.Kvs {
			stored[string(kv.Key)] = string(kv.Value)
		}
		return "", true, nil
	})
	if err != nil {
		return err
	}
	if lost := l.missing(stored); len(lost) > 0 {
		return fmt.Errorf("%d acknowledged writes are lost, the first is %s: %w", len(lost), lost[0], errViolated)
	}
	return nil
}
