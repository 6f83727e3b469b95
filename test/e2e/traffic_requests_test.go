// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginCutSeesRequests has a client that dials a member directly. It continues to write
// while the Service is cut. The client has no open stream, but the plugin counts its requests.
func TestPluginCutSeesRequests(t *testing.T) {
	beside(t)
	enter(t, 3)
	c := start(t, namespace(t), "written", clusters.Spec{Flavour: clusters.Plain, Ephemeral: true})
	ctx, stop := context.WithCancel(t.Context())
	conn, err := c.Dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		writeKeys(ctx, conn)
	}()
	_, texts := cutTraffic(t, c, 3, "10m")
	for _, want := range []string{"clients still make requests, at least ", "--allow-residual"} {
		if !strings.Contains(texts, want) {
			t.Errorf("no %q in: %s", want, texts)
		}
	}
	eventually(t, "the report of the writes", func(context.Context) (string, bool, error) {
		report, texts := cutTraffic(t, c, 3, "10m")
		for _, m := range report.Members {
			for _, r := range m.Requests {
				if r.Method == "KV/Put" && r.AtLeast >= 5*r.Seconds {
					return "", true, nil
				}
			}
		}
		return fmt.Sprintf("%+v\n%s", report.Members, texts), false, nil
	})
	cutTraffic(t, c, 0, "10m", "--allow-residual")
	stop()
	<-written
	_ = conn.Close() // the context has ended
	cutTraffic(t, c, 0, "10m")
	plugin(t, 0, "restore-client-traffic", c.Full(), "-n", c.Namespace, "-y")
}

// writeKeys writes 20 keys a second.
func writeKeys(ctx context.Context, conn *clientv3.Client) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_, _ = conn.Put(ctx, fmt.Sprintf("key-%d", n), "v") // a failed write also counts as a request
		}
	}
}
