// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// counter counts the unary calls to one member, as etcd's metrics do.
type counter struct {
	mu               sync.Mutex
	started, handled map[string]int // by labels
}

func (c *counter) unary(ctx context.Context, r any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	service, method := path.Split(strings.TrimPrefix(info.FullMethod, "/"))
	labels := fmt.Sprintf("grpc_method=%q,grpc_service=%q,grpc_type=\"unary\"", method, strings.TrimSuffix(service, "/"))
	c.add(&c.started, labels)
	answer, err := handle(ctx, r)
	c.add(&c.handled, fmt.Sprintf("grpc_code=%q,%s", status.Code(err).String(), labels))
	return answer, err
}

func (c *counter) add(to *map[string]int, labels string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *to == nil {
		*to = map[string]int{}
	}
	(*to)[labels]++
}

// serveMetrics also has a stream that was never opened.
func (c *counter) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(w, "# TYPE grpc_server_started_total counter")
	fmt.Fprintln(w, `grpc_server_started_total{grpc_service="etcdserverpb.Maintenance",grpc_method="Snapshot",grpc_type="server_stream"} 0`)
	for _, labels := range slices.Sorted(maps.Keys(c.started)) {
		fmt.Fprintf(w, "grpc_server_started_total{%s} %d\n", labels, c.started[labels])
	}
	fmt.Fprintln(w, "# TYPE grpc_server_handled_total counter")
	for _, labels := range slices.Sorted(maps.Keys(c.handled)) {
		fmt.Fprintf(w, "grpc_server_handled_total{%s} %d\n", labels, c.handled[labels])
	}
}

// servePeers writes the metrics of a member's connections with the others.
func (c *Cluster) servePeers(w http.ResponseWriter, local uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Reached == nil {
		return
	}
	c.scrapes++
	active, received := "# TYPE etcd_network_active_peers gauge\n", "# TYPE etcd_network_peer_received_bytes_total counter\n"
	for _, m := range c.Members {
		if m.ID == local {
			continue
		}
		connected := 0
		if slices.Contains(c.Reached, m.Name) {
			connected = 1
		}
		active += fmt.Sprintf("etcd_network_active_peers{Local=\"%x\",Remote=\"%x\"} %d\n", local, m.ID, connected)
		received += fmt.Sprintf("etcd_network_peer_received_bytes_total{From=\"%x\"} %d\n", m.ID, connected*c.scrapes)
	}
	fmt.Fprint(w, active+received)
}
