// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestDashboard has Prometheus' own tool parse every expression of the dashboard, with the
// variables filled in as Grafana does.
func TestDashboard(t *testing.T) {
	t.Parallel()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	read(t, "monitoring/dashboard.json", &board)
	filled := strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*", "$cluster", ".*", "$job", "etcd-webhook")
	var rules []any
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			expr := filled.Replace(target.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("panel %q has an unknown variable: %s", p.Title, target.Expr)
			}
			rules = append(rules, map[string]any{"record": fmt.Sprintf("panel:%d", len(rules)), "expr": expr, "labels": map[string]string{"panel": p.Title}})
		}
	}
	if len(rules) < 15 {
		t.Fatalf("found only %d expressions in the dashboard", len(rules))
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint=none", file)
}
