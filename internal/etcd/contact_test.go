// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// TestContact compares two readings of what a leader serves about member e719…
func TestContact(t *testing.T) {
	t.Parallel()
	const id = 0xe7196767457ab8a3
	for _, row := range []struct {
		name          string
		active        string // of the second reading, empty for no entry
		before, after string // bytes received, empty for no entry
		want          Contact
	}{
		{"it answers heartbeats", "1", "1000", "1400", Contact{Connected: true, Receiving: true}},
		{"it is frozen", "1", "1000", "1000", Contact{Connected: true}},
		{"it is gone", "0", "1000", "1000", Contact{}},
		{"it left between the readings", "0", "1000", "1200", Contact{Receiving: true}},
		{"the leader never reached it", "", "", "", Contact{}},
		{"its first bytes", "1", "", "40", Contact{Connected: true, Receiving: true}},
		{"it was just reached", "1", "", "", Contact{Connected: true}},
	} {
		got, err := contact(served(t, "0", row.before), served(t, row.active, row.after), id)
		if err != nil || got != row.want {
			t.Errorf("%s: %+v, %v; want %+v", row.name, got, err, row.want)
		}
	}
	if got, err := contact(nil, map[string]*dto.MetricFamily{}, id); err == nil {
		t.Errorf("metrics without peers show %+v", got)
	}
}

// served is what the leader of two other members serves. One of them is always well.
func served(t *testing.T, active, received string) map[string]*dto.MetricFamily {
	t.Helper()
	text := "# TYPE " + activePeers + " gauge\n" + activePeers + `{Local="13c670e8b34064d7",Remote="d0ab85cf635db4f3"} 1` + "\n"
	if active != "" {
		text += fmt.Sprintf("%s{Local=\"13c670e8b34064d7\",Remote=\"e7196767457ab8a3\"} %s\n", activePeers, active)
	}
	if received != "" {
		text += fmt.Sprintf("# TYPE %s counter\n%s{From=\"e7196767457ab8a3\"} %s\n", receivedBytes, receivedBytes, received)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return families
}
