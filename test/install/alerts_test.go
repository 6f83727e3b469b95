// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// alertsOf checks which alerts fire for the collected metrics. Prometheus' own tool evaluates
// the alerts.
func alertsOf(t *testing.T, ns string, well, unwell, down samples) {
	t.Helper()
	rules, err := filepath.Abs(folder("monitoring/rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var tests []any
	for _, moment := range []struct {
		name  string
		seen  samples
		fires []string
	}{
		{"well", well, nil},
		{"a backup failed", unwell, []string{"EtcdBackupFailed", "EtcdBudgetBlocked"}},
		{"a member is down, too", down, []string{"EtcdBackupFailed", "EtcdBudgetBlocked", "EtcdMembersNotReady", "EtcdQuorumAtRisk"}},
	} {
		fired := []any{}
		for _, name := range moment.fires {
			fired = append(fired, map[string]any{"labels": fmt.Sprintf("{alertname=%q}", name), "value": 1})
		}
		tests = append(tests, map[string]any{
			"name": moment.name, "interval": "1m", "input_series": moment.seen.held(80),
			"promql_expr_test": []any{map[string]any{
				"expr":      fmt.Sprintf(`count by (alertname) (ALERTS{alertstate="firing",namespace=%q})`, ns),
				"eval_time": "70m", "exp_samples": fired,
			}},
		})
	}
	text, err := yaml.Marshal(map[string]any{"rule_files": []string{rules}, "evaluation_interval": "1m", "tests": tests})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "collected.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}

// held returns the series of this project with the same values for this many minutes.
func (s samples) held(minutes int) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if strings.HasPrefix(name, "kubectl_etcd_") {
			out = append(out, map[string]any{"series": name, "values": fmt.Sprintf("%v+0x%d", s[name], minutes)})
		}
	}
	return out
}

// TestAlerts runs the alerts' own tests, and checks that each alert has one.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", folder("monitoring/rules.yaml"))
	promtool(t, "test", "rules", folder("monitoring/rules_test.yaml"))
	var rules struct {
		Groups []struct{ Rules []struct{ Alert string } }
	}
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name  string           `json:"alertname"`
				Fires []map[string]any `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	read(t, "monitoring/rules.yaml", &rules)
	read(t, "monitoring/rules_test.yaml", &tests)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, a := range test.Alerts {
			if len(a.Fires) > 0 {
				fires[a.Name] = true
			} else {
				silent[a.Name] = true
			}
		}
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if !fires[r.Alert] || !silent[r.Alert] {
				t.Errorf("%s: a test that it fires: %v, a test that it doesn't fire: %v", r.Alert, fires[r.Alert], silent[r.Alert])
			}
		}
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(folder(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// promtool runs Prometheus' tool for rules.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	paths, err := programs.Ensure(t.Context(), programs.Cache{}, []string{"promtool"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), paths["promtool"], args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

var documented = regexp.MustCompile("(?m)^\\| `(kubectl_etcd_[a-z_]+)`")

// everyMetric checks that the metrics in docs/reference/metrics.md are served, and that no other
// metric of ours is served.
func everyMetric(t *testing.T, collected ...samples) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed, served := map[string]bool{}, map[string]bool{}
	for _, m := range documented.FindAllStringSubmatch(string(text), -1) {
		listed[m[1]] = true
	}
	for _, s := range collected {
		for series := range s {
			name, _, _ := strings.Cut(series, "{")
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				if base, cut := strings.CutSuffix(name, suffix); cut && listed[base] {
					name = base
				}
			}
			if strings.HasPrefix(name, "kubectl_etcd_") {
				served[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !served[name] {
			t.Errorf("%s is documented and not served", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(served)) {
		if !listed[name] {
			t.Errorf("%s is served and not documented", name)
		}
	}
}
