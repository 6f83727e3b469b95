// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// operatorModule is the module with the definitions of the Prometheus operator.
const operatorModule = "github.com/prometheus-operator/prometheus-operator@v0.85.0"

// TestMonitoringIsApplied applies manifests/monitoring twice as docs/monitoring.md shows, to an
// API server with the Prometheus operator's definitions.
func TestMonitoringIsApplied(t *testing.T) {
	installed(t)
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", operatorModule).Output()
	if err != nil {
		t.Fatalf("find the Prometheus operator's definitions: %v", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	definitions := []string{}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, args := range [][]string{{"-k", folder("monitoring")}, definitions} {
			if _, err := admin.kubectl(ctx, nil, append([]string{"delete", "--ignore-not-found"}, args...)...); err != nil {
				t.Error(err)
			}
		}
	})
	for _, kind := range []string{"servicemonitors", "prometheusrules"} {
		definition := filepath.Join(module.Dir, "example", "prometheus-operator-crd", "monitoring.coreos.com_"+kind+".yaml")
		definitions = append(definitions, "-f", definition)
		kubectl(t, "apply", "--server-side", "-f", definition)
		kubectl(t, "wait", "--for", "condition=Established", "--timeout", limit.String(), "-f", definition)
	}
	for _, want := range []string{"created", "unchanged"} {
		printed := kubectl(t, "apply", "-k", folder("monitoring"))
		for _, kind := range []string{"servicemonitor", "prometheusrule"} {
			if line := kind + ".monitoring.coreos.com/etcd-webhook " + want; !strings.Contains(printed, line) {
				t.Errorf("the output lacks %q:\n%s", line, printed)
			}
		}
	}
	for name, secret := range map[string]string{"monitoring-cert-manager": "etcd-webhook-tls", "monitoring": "etcd-webhook-certificate"} {
		kubectl(t, "apply", "-k", folder(name))
		if got := kubectl(t, "get", "servicemonitor", Name, "-n", Namespace, "-o", "jsonpath={.spec.endpoints[*].tlsConfig.ca.secret.name}"); got != secret {
			t.Errorf("with %s the authority comes from Secret %q, want %s", name, got, secret)
		}
	}
}
