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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

const (
	// The writers make a hundred writes a second. Each of them writes a key every writeEvery.
	writers    = 10
	writeEvery = 100 * time.Millisecond
	// oneElection is how long a write may take, with all of its retries. An election takes three
	// seconds at most. The rest of the time is for a slow machine. A write may also take asSlow
	// times as long as the slowest write to the API server.
	oneElection, asSlow = 6 * time.Second, 8
)

// load writes its own keys into a cluster, and remembers which keys etcd acknowledged.
type load struct {
	conn   *clientv3.Client
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	acked []string
	worst time.Duration
	// why is the last error of the slowest write.
	why error
	// elsewhere is the duration of the slowest write to the API server in the same time. It
	// shows how slow the machine is.
	elsewhere time.Duration
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
	l.done.Go(func() { l.compare(ctx, c.Namespace) })
	return l
}

// await waits until so many writes are acknowledged.
func (l *load) await(t *testing.T, n int) {
	t.Helper()
	retry(t, fmt.Sprintf("%d acknowledged writes", n), func(context.Context) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.acked) < n {
			return fmt.Errorf("%d are, and the last error is %w", len(l.acked), l.why)
		}
		return nil
	})
}

// compare writes to the API server while the writers run. No test operates on the API server's
// etcd.
func (l *load) compare(ctx context.Context, namespace string) {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "elsewhere"}}
	_ = kube.Create(ctx, config.DeepCopy()) // without the ConfigMap, the API server still answers the patches
	for n := 0; ctx.Err() == nil; n++ {
		began := time.Now()
		patch := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n)
		_ = kube.Patch(ctx, config.DeepCopy(), client.RawPatch("application/merge-patch+json", patch)) // only the duration counts
		l.mu.Lock()
		l.elsewhere = max(l.elsewhere, time.Since(began))
		l.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(2 * writeEvery):
		}
	}
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

// put retries one key until etcd acknowledges it.
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

// check ends the writing. It requires every acknowledged key, and that no write took too long.
func (l *load) check(t *testing.T) {
	t.Helper()
	l.kept(t)
	if l.worst > max(oneElection, asSlow*l.elsewhere) {
		t.Errorf("the slowest write took %s, its last error is %v; the slowest to the API server took %s", l.worst, l.why, l.elsewhere)
	}
}

// kept ends the writing, and requires every acknowledged key.
func (l *load) kept(t *testing.T) {
	t.Helper()
	l.cancel()
	l.done.Wait()
	found := map[string]bool{}
	from := "load/"
	for {
		var got *clientv3.GetResponse
		retry(t, "the keys from "+from, func(ctx context.Context) (err error) {
			got, err = l.conn.Get(ctx, from, clientv3.WithRange("load0"), clientv3.WithLimit(5000))
			return err
		})
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
	t.Logf("%d writes acknowledged, the slowest after %s (%v); the slowest to the API server took %s",
		len(l.acked), l.worst.Round(time.Millisecond), l.why, l.elsewhere.Round(time.Millisecond))
	if lost > 0 || len(l.acked) < 300 {
		t.Errorf("%d of %d acknowledged writes are lost", lost, len(l.acked))
	}
}
