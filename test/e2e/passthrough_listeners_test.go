// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginPassthroughListeners opens listeners at unusual addresses to a member with few names
// in its certificate. The printed addresses work, and the messages show which names the
// certificate lacks.
func TestPluginPassthroughListeners(t *testing.T) {
	operating(t, 1)
	few := clusters.CertificateSpec{Names: []string{"localhost", "etcd.example.com"}}
	c := start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain, Size: 1, TLS: true, Ephemeral: true, Certificate: few})
	args := []string{"proxy", "--tls-passthrough", "--server-name", "etcd.example.com", target(c), "-n", c.Namespace}
	t.Run("another address", func(t *testing.T) {
		r := startPlugin(t, append(args, "--address", "127.0.0.2")...)
		r.awaitOutput(t, "Press Ctrl-C to stop.")
		_, endpoint, _ := strings.Cut(strings.TrimSpace(r.stdout.String()), "=")
		at, err := url.Parse(strings.Trim(endpoint, "'"))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.DialTimeout("tcp", at.Host, time.Minute)
		if err != nil {
			t.Fatalf("the plugin prints %s, but nothing listens there: %v\n%s", &r.stdout, err, &r.stderr)
		}
		_ = conn.Close()
	})
	t.Run("a socket", func(t *testing.T) {
		_, printed := plugin(t, 0, append(args, "--socket", t.TempDir(), "--", "true")...)
		if strings.Contains(printed, "not valid for ,") {
			t.Errorf("the output lacks the name that is missing from the certificate:\n%s", printed)
		}
	})
}
