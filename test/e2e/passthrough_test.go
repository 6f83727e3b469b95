// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// passthrough proxies the members of a TLS cluster to clients with their own certificates. The
// proxy adds no certificate.
func passthrough(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	works(t, c)
	certificates := clientFiles(t, c)
	proxy := startPlugin(t, "proxy", "--tls-passthrough", c.Full(), "-n", c.Namespace)
	proxy.awaitOutput(t, "Press Ctrl-C to stop.")
	wants(t, proxy.stderr.String(), "TLS is passed through: use etcdctl with --cacert, --cert and --key.", podsOf(t, c)[0])
	if strings.Contains(proxy.stderr.String(), "Warning: ") {
		t.Errorf("the plugin warns of a listener that requires certificates: %s", &proxy.stderr)
	}
	exports := proxy.stdout.String()
	each := regexp.MustCompile(`^export ETCDCTL_ENDPOINTS=https://127\.0\.0\.1:\d+(,https://127\.0\.0\.1:\d+){2}\n$`)
	if !each.MatchString(exports) {
		t.Fatalf("stdout %q", exports)
	}
	eventually(t, "every member to be healthy through its own listener", func(ctx context.Context) (string, bool, error) {
		out, err := etcdctl(ctx, exports+"etcdctl endpoint health "+certificates)
		return out, err == nil && strings.Count(out, "is healthy") == 3, nil
	})
	eventually(t, "a key to be read with the cluster's own certificates", func(ctx context.Context) (string, bool, error) {
		out, err := etcdctl(ctx, exports+"etcdctl get testbed/putget "+certificates)
		return out, err == nil && out == "testbed/putget\n"+c.String()+"\n", nil
	})
	// A client without a certificate is refused.
	printed, err := etcdctl(t.Context(), exports+"etcdctl get testbed/putget --insecure-skip-tls-verify --insecure-transport=false")
	if err == nil || strings.Contains(printed, c.String()) {
		t.Errorf("without a client certificate: %v\n%s", err, printed)
	}
	if err := proxy.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := proxy.wait(t); code != 0 {
		t.Errorf("exit code %d after an interrupt: %s", code, &proxy.stderr)
	}

	out, _ := prints(t, 0, []string{c.String()}, "proxy", "--one", "--tls-passthrough", c.Full(), "-n", c.Namespace, "--", "sh", "-c", "etcdctl get testbed/putget "+certificates)
	if out != "testbed/putget\n"+c.String()+"\n" {
		t.Errorf("output through one listener for all members: %q", out)
	}
}

// etcdctl runs lines of shell with the testbed's programs and returns their output.
func etcdctl(ctx context.Context, lines string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", lines)
	cmd.Env = append(os.Environ(), "PATH="+bed.Bin()+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// clientFiles writes the certificates of the cluster's clients to files, and returns etcdctl's
// flags for them.
func clientFiles(t *testing.T, c *clusters.Cluster) (flags string) {
	t.Helper()
	data, dir := secretData(t, c.Namespace, c.Name+"-client-tls"), t.TempDir()
	for flag, key := range map[string]string{"--cacert": "ca.crt", "--cert": "tls.crt", "--key": "tls.key"} {
		if err := os.WriteFile(filepath.Join(dir, key), data[key], 0o600); err != nil {
			t.Fatal(err)
		}
		flags += fmt.Sprintf(" %s %s", flag, filepath.Join(dir, key))
	}
	return flags
}
