// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// TestInactivePeers reads what a leader serves: one member that is connected, and one that isn't.
func TestInactivePeers(t *testing.T) {
	t.Parallel()
	const served = `# TYPE etcd_network_active_peers gauge
etcd_network_active_peers{Local="13c670e8b34064d7",Remote="d0ab85cf635db4f3"} 1
etcd_network_active_peers{Local="13c670e8b34064d7",Remote="e7196767457ab8a3"} 0
`
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(served))
	if err != nil {
		t.Fatal(err)
	}
	if got := inactivePeers(families["etcd_network_active_peers"]); !slices.Equal(got, []uint64{0xe7196767457ab8a3}) {
		t.Errorf("inactive are %x", got)
	}
	if got := inactivePeers(families["etcd_of_another_time"]); got != nil {
		t.Errorf("nothing is served, and inactive are %x", got)
	}
}
