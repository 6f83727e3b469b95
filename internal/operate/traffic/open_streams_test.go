// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func TestOpenStreams(t *testing.T) {
	t.Parallel()
	const types = "# TYPE grpc_server_started_total counter\n# TYPE grpc_server_handled_total counter\n"
	for _, row := range []struct {
		name, text string
		own        map[string]int
		want       []OpenStreams
	}{
		{name: "nothing was ever called"},
		{name: "unary calls under way are none", text: `
grpc_server_started_total{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"} 9
grpc_server_handled_total{grpc_code="OK",grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"} 7
`},
		{name: "all ended, with whatever code", text: `
grpc_server_started_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 5
grpc_server_handled_total{grpc_code="OK",grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 2
grpc_server_handled_total{grpc_code="Canceled",grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 3
`},
		{name: "open ones of two methods, and a snapshot", text: `
grpc_server_started_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 5
grpc_server_handled_total{grpc_code="OK",grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 2
grpc_server_started_total{grpc_method="LeaseKeepAlive",grpc_service="etcdserverpb.Lease",grpc_type="bidi_stream"} 1
grpc_server_started_total{grpc_method="Snapshot",grpc_service="etcdserverpb.Maintenance",grpc_type="server_stream"} 1
`, want: []OpenStreams{{"Lease/LeaseKeepAlive", 1}, {"Maintenance/Snapshot", 1}, {"Watch/Watch", 3}}},
		{name: "the cluster's own is no client's", text: `
grpc_server_started_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 2
`, own: map[string]int{"Watch/Watch": 1}, want: []OpenStreams{{"Watch/Watch", 1}}},
		{name: "its own may be between two watches", text: `
grpc_server_started_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 2
grpc_server_handled_total{grpc_code="OK",grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 2
`, own: map[string]int{"Watch/Watch": 1}},
		{name: "ended between the two readings", text: `
grpc_server_started_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 2
grpc_server_handled_total{grpc_code="OK",grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 3
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			parser := expfmt.NewTextParser(model.UTF8Validation)
			families, err := parser.TextToMetricFamilies(strings.NewReader(types + grouped(row.text)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, openStreams(families, row.own)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// grouped drops empty lines, which a file of metrics has none of at its start.
func grouped(text string) string { return strings.TrimPrefix(text, "\n") }
