// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/crane"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// TestCluster tries, on a testbed of its own, everything that a pod or a person
// relies on in a cluster.
func TestCluster(t *testing.T) {
	c := startCluster(t, Options{Name: "test-cluster", Nodes: 3, Zones: 3})
	c.importProbe()
	c.apply(manifest(t, "workload.yaml"))
	for _, what := range []string{"deployment/web", "statefulset/db"} {
		c.kubectl("rollout", "status", "--timeout=10m", what)
	}
	for _, sub := range []struct {
		name string
		run  func(cluster)
	}{
		{"tokens reach the API server by name", testToken},
		{"DNS knows Services and pods", testDNS},
		{"a Service's address leads to its pods", testClusterIP},
		{"logs, exec and port-forward", testPortForward},
		{"readiness empties a Service", testReadiness},
		{"volumes are pinned and keep data", testVolume},
		{"webhooks are called", testWebhook},
		{"the API server stops and starts", testAPIServer},
		{"nodes are cut off and healed", testCut},
		{"nodes are paused and resumed", testPause},
		{"nodes are killed and come back", testKill},
		{"nodes are shut down and come back", testShutdown},
	} {
		t.Run(sub.name, func(t *testing.T) {
			began := time.Now()
			sub.run(cluster{c.Testbed, t})
			t.Logf("%.1fs", time.Since(began).Seconds())
		})
	}
}

// cluster is a testbed in a test.
type cluster struct {
	*Testbed
	t *testing.T
}

func startCluster(t *testing.T, o Options) cluster {
	t.Helper()
	o.Log = t.Output()
	up, err := Up(t.Context(), o)
	t.Cleanup(func() {
		if err := Down(context.WithoutCancel(t.Context()), o); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return cluster{up, t}
}

func (c cluster) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), c.Kubectl(), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig())
	return cmd
}

func (c cluster) try(args ...string) (string, error) {
	out, err := c.command(args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (c cluster) kubectl(args ...string) string {
	c.t.Helper()
	for try := 1; ; try++ {
		out, err := c.try(args...)
		switch {
		case err == nil:
			return out
		case try == tries || !unreached.MatchString(out):
			c.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		time.Sleep(time.Second)
	}
}

// unreached is what kubectl prints whose request no one got: on a machine with too much to
// do an API server may take no connection for seconds.
var unreached = regexp.MustCompile(`TLS handshake timeout|connection refused|was refused`)

// tries are how often a request is made that isn't got.
const tries = 10

func (c cluster) apply(manifest string) {
	c.t.Helper()
	cmd := c.command("apply", "-f", "-")
	cmd.Stdin = strings.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("apply: %v\n%s", err, out)
	}
}

// probe runs the probe in one of the StatefulSet's pods, until it succeeds.
func (c cluster) probe(args ...string) (out string) {
	c.t.Helper()
	c.eventually(func() string {
		var err error
		if out, err = c.try(append([]string{"exec", "db-0", "--", "/probe"}, args...)...); err != nil {
			return fmt.Sprintf("probe %q: %v: %s", args, err, out)
		}
		return ""
	})
	return out
}

// becomes waits until read returns want.
func (c cluster) becomes(want string, read func() string) {
	c.t.Helper()
	c.eventually(func() string {
		if got := read(); got != want {
			return fmt.Sprintf("%q, want %q", got, want)
		}
		return ""
	})
}

// limit is what anything gets to come true: a machine may be slow.
const limit = 8 * time.Minute

// eventually waits for a check to return the empty string.
func (c cluster) eventually(check func() string) {
	c.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		last := check()
		if last == "" {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("after %s still: %s", limit, last)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func manifest(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// importProbe builds the probe and makes its image known by way of an archive.
func (c cluster) importProbe() {
	c.t.Helper()
	dir := c.t.TempDir()
	build := exec.CommandContext(c.t.Context(), "go", "build", "-o", filepath.Join(dir, "probe"), "./testdata/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		c.t.Fatalf("build the probe: %v\n%s", err, out)
	}
	program, err := os.ReadFile(filepath.Join(dir, "probe"))
	if err != nil {
		c.t.Fatal(err)
	}
	layer, err := programLayer("probe", program)
	if err != nil {
		c.t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err == nil {
		image, err = mutate.Config(image, v1.Config{Entrypoint: []string{"/probe"}})
	}
	if err == nil {
		err = crane.Save(image, "example.com/testbed/probe:v1", filepath.Join(dir, "probe.tar"))
	}
	if err == nil {
		err = c.ImportImage(c.t.Context(), filepath.Join(dir, "probe.tar"))
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// programLayer is a layer with one executable file.
func programLayer(name string, program []byte) (v1.Layer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(program)), Mode: 0o755}); err != nil {
		return nil, err
	}
	if _, err := w.Write(program); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil })
}
