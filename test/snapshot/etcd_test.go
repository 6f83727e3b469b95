// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshot tests snapshots against real etcd processes of every release,
// without Kubernetes: whatever happens to a transfer, and that what was saved can
// be restored by etcd's own tools.
package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// release is one of etcd, with the programs of it.
type release struct {
	version, etcd, tool string
}

// of builds the programs of a release. Before 3.5 etcdctl does what etcdutl does.
func of(t *testing.T, version string) release {
	t.Helper()
	names := map[string][2]string{
		"3.7": {"etcd", "etcdutl"}, "3.6": {"etcd-3.6", "etcdutl-3.6"}, "3.5": {"etcd-3.5", "etcdutl-3.5"}, "3.4": {"etcd-3.4", "etcdctl-3.4"},
	}[version]
	paths, err := programs.Ensure(t.Context(), programs.Cache{}, names[:], testWriter{t})
	if err != nil {
		t.Fatal(err)
	}
	return release{version, paths[names[0]], paths[names[1]]}
}

// testWriter logs what is built.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(string(bytes.TrimSpace(p)))
	return len(p), nil
}

// run is one of etcd's tools.
func (r release) run(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), r.tool, args...)
	cmd.Env = append(cmd.Environ(), "ETCDCTL_API=3")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(r.tool), args, err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// start runs a member on a data directory and returns its address.
func (r release) start(t *testing.T, dir string) (address string, stop func()) {
	t.Helper()
	address, peer := free(t), "http://"+free(t)
	cmd := exec.Command(r.etcd, "--name", "m", "--data-dir", dir,
		"--listen-client-urls", "http://"+address, "--advertise-client-urls", "http://"+address,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "m="+peer)
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is stopped
		close(ended)
	}()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // may have ended
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill() // may have ended
			<-ended
		}
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("etcd %s printed:\n%s", r.version, printed.Bytes()[max(0, printed.Len()-3000):])
		}
	})
	await(t, address)
	return address, stop
}

// lastPort is the port that free has tried last. It begins anywhere below those that the
// kernel gives to connections: one of those would be taken again before etcd listens on it.
var lastPort atomic.Int32

// free is an address at which nothing listens, another one each time.
func free(t *testing.T) string {
	t.Helper()
	lastPort.CompareAndSwap(0, 10000+rand.Int32N(15000))
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", lastPort.Add(1))
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

func dial(t *testing.T, address string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func await(t *testing.T, address string) {
	t.Helper()
	c := dial(t, address)
	poll(t, "etcd at "+address+" to answer", func(ctx context.Context) bool {
		_, err := c.Get(ctx, "x")
		return err == nil
	})
}

// poll waits for what a starting member does soon.
func poll(t *testing.T, what string, done func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		return done(ctx), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// source is the member at an address.
func source(address string) snapshot.Source {
	return snapshot.Source{Pod: "member", Open: func(context.Context) (grpc.ClientConnInterface, io.Closer, error) {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, Logger: zap.NewNop()})
		if err != nil {
			return nil, nil, err
		}
		return c.ActiveConnection(), c, nil
	}}
}

// fill puts keys of all kinds: rewritten, deleted, compacted away, with leases, large.
func fill(t *testing.T, c *clientv3.Client) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	lease, err := c.Grant(t.Context(), 3600)
	must(err)
	large := string(bytes.Repeat([]byte("0123456789abcdef"), 8<<10))
	for i := range 100 {
		_, err := c.Put(t.Context(), fmt.Sprintf("a/%03d", i), fmt.Sprint(i))
		must(err)
	}
	_, err = c.Put(t.Context(), "leased", "x", clientv3.WithLease(lease.ID))
	must(err)
	for i := range 50 {
		_, err := c.Put(t.Context(), fmt.Sprintf("a/%03d", i), large)
		must(err)
	}
	_, err = c.Delete(t.Context(), "a/02", clientv3.WithPrefix())
	must(err)
	_, err = c.Compact(t.Context(), 120, clientv3.WithCompactPhysical())
	must(err)
}

// all is every key with its value.
func all(t *testing.T, c *clientv3.Client) map[string]string {
	t.Helper()
	got, err := c.Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, kv := range got.Kvs {
		keys[string(kv.Key)] = string(kv.Value)
	}
	return keys
}
