// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

const (
	// writers, each with a key every writeEvery, make a hundred writes a second.
	writers    = 10
	writeEvery = 100 * time.Millisecond
	// oneElection is what a write may take, tried again until etcd takes it. An
	// election is over after two seconds at most; the rest is for a slow machine.
	oneElection = 6 * time.Second
)

// load writes keys of its own into a cluster, and remembers which etcd took.
type load struct {
	conn   *clientv3.Client
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	acked []string
	worst time.Duration
	// why is what the worst write met last.
	why error
}

func startLoad(t *testing.T, c *clusters.Cluster) *load {
	t.Helper()
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{conn: conn, cancel: cancel}
	t.Cleanup(func() {
		cancel()
		l.done.Wait()
		_ = conn.Close()
	})
	for w := range writers {
		l.done.Go(func() { l.write(ctx, w) })
	}
	return l
}

func (l *load) write(ctx context.Context, writer int) {
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	for n := 0; ; n++ {
		l.put(ctx, fmt.Sprintf("load/%02d/%06d", writer, n))
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// put tries one key until etcd takes it.
func (l *load) put(ctx context.Context, key string) {
	began := time.Now()
	var met error
	for ctx.Err() == nil {
		try, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := l.conn.Put(try, key, key)
		cancel()
		if err != nil {
			met = err
			continue
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.acked = append(l.acked, key)
		if took := time.Since(began); took > l.worst {
			l.worst, l.why = took, met
		}
		return
	}
}

// check ends the writing and wants every key that etcd took, and none that was
// kept waiting.
func (l *load) check(t *testing.T) {
	t.Helper()
	l.cancel()
	l.done.Wait()
	found := map[string]bool{}
	from := "load/"
	for {
		got, err := l.conn.Get(t.Context(), from, clientv3.WithRange("load0"), clientv3.WithLimit(5000))
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range got.Kvs {
			found[string(kv.Key)] = string(kv.Key) == string(kv.Value)
		}
		if !got.More {
			break
		}
		from = string(got.Kvs[len(got.Kvs)-1].Key) + "\x00"
	}
	lost := 0
	for _, key := range l.acked {
		if !found[key] {
			lost++
		}
	}
	t.Logf("%d writes taken, the slowest after %s (%v)", len(l.acked), l.worst.Round(time.Millisecond), l.why)
	if lost > 0 || len(l.acked) < 1000 {
		t.Errorf("%d of %d writes that etcd took are lost", lost, len(l.acked))
	}
	if l.worst > oneElection {
		t.Errorf("a write took %s, last it met %v", l.worst, l.why)
	}
}
