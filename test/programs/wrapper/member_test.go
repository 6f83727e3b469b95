// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// member is a wrapper that runs a real etcd, and what its run returned.
type member struct {
	*wrapper
	fake  *fakeBackupRestore
	ctx   context.Context //nolint:containedctx // ends with the test
	ended chan error
}

// startMember runs a member on data that an earlier run has left, and waits
// until it is ready.
func startMember(t *testing.T) *member {
	t.Helper()
	fake := startBackupRestore(t, []string{"New", "Successful"}, []string{""})
	w, ctx := newTestWrapper(t, fake)
	fake.configs = []string{etcdConfig(t, w, "http", "")}
	write(t, w.exitCodeFile(), "terminated")
	if err := os.Mkdir(filepath.Join(w.folder, "new.etcd"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.folder, "new.etcd", "left"), "")
	m := &member{wrapper: w, fake: fake, ctx: ctx, ended: make(chan error, 1)}
	go func() { m.ended <- w.run(ctx) }()
	m.await(t, "http", http.DefaultClient, http.StatusOK)
	return m
}

// etcdConfig is a configuration as backup-restore serves it.
func etcdConfig(t *testing.T, w *wrapper, scheme, more string) string {
	t.Helper()
	peer := fmt.Sprintf("http://localhost:%d", freePort(t))
	client := fmt.Sprintf("%s://localhost:%d", scheme, w.etcdPort)
	return fmt.Sprintf(`name: main-0
data-dir: %s
listen-peer-urls: %s
listen-client-urls: %s
initial-advertise-peer-urls: %s
advertise-client-urls: %s
initial-cluster: main-0=%s
initial-cluster-state: new
initial-cluster-token: etcd-cluster
enable-grpc-gateway: false
next-cluster-version-compatible: true
%s`, filepath.Join(w.folder, "new.etcd"), peer, client, peer, client, peer, more)
}

// url is an address of the wrapper's own server.
func (m *member) url(scheme, path string) string {
	return fmt.Sprintf("%s://localhost:%d%s", scheme, m.port, path)
}

// limit is what a real etcd gets to start or to end: a machine may be slow.
const limit = 5 * time.Minute

// await asks for readiness until the answer has the wanted code.
func (m *member) await(t *testing.T, scheme string, client *http.Client, want int) {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	deadline := time.After(limit)
	for {
		resp, err := client.Get(m.url(scheme, "/readyz"))
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == want {
				return
			}
		}
		select {
		case <-poll.C:
		case err := <-m.ended:
			t.Fatalf("the member ended: %v", err)
		case <-deadline:
			t.Fatalf("/readyz never answered %d, last %v, %v", want, resp, err)
		}
	}
}

// awaitEnd returns what run has returned.
func (m *member) awaitEnd(t *testing.T) error {
	t.Helper()
	select {
	case err := <-m.ended:
		return err
	case <-time.After(limit):
		t.Fatal("the member runs on")
		return nil
	}
}

func TestMember(t *testing.T) {
	t.Parallel()
	m := startMember(t)
	want := []string{askStatus, startSanity, askStatus, askConfig}
	if diff := cmp.Diff(want, m.fake.requests()); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(m.exitCodeFile()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the exit code is still there: %v", err)
	}
	checkMode(t, filepath.Join(m.folder, "new.etcd", "left"), 0o600)
	checkMode(t, filepath.Join(m.folder, "new.etcd", "member", "snap", "db"), 0o600)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{fmt.Sprintf("http://localhost:%d", m.etcdPort)}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	status, err := client.Status(t.Context(), client.Endpoints()[0])
	if err != nil {
		t.Fatal(err)
	}
	if status.Version != "3.5.27" {
		t.Errorf("etcd is %s: backup-restore restores what only 3.5.27 can read", status.Version)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	m := startMember(t)
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost} {
		req, err := http.NewRequestWithContext(t.Context(), method, m.url("http", "/stop"), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s /stop answered %s", method, resp.Status)
		}
		if stopped := m.ctx.Err() != nil; stopped != (method == http.MethodPost) {
			t.Errorf("after %s /stop the member stops: %t", method, stopped)
		}
	}
	if err := m.awaitEnd(t); err != nil {
		t.Errorf("a stopped member ends with %v", err)
	}
	if _, err := os.Stat(m.exitCodeFile()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a request to stop left an exit code: %v", err)
	}
	if conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", m.port)); err == nil {
		_ = conn.Close()
		t.Error("readiness is still served")
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for sig, code := range map[os.Signal]string{syscall.SIGTERM: "terminated", os.Interrupt: "interrupt"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			m := startMember(t)
			signals, killed := make(chan os.Signal), make(chan struct{})
			go m.obey(signals, func() { close(killed) })
			signals <- sig
			if err := m.awaitEnd(t); err != nil {
				t.Errorf("a member that was stopped ends with %v", err)
			}
			checkFile(t, m.exitCodeFile(), code, 0o600)
			signals <- sig
			<-killed
		})
	}
}

func TestSignalBeforeEtcd(t *testing.T) {
	t.Parallel()
	fake := startBackupRestore(t, []string{"Progress"}, nil)
	w, ctx := newTestWrapper(t, fake)
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	go w.obey(signals, func() {})
	if err := w.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("run returned %v, want an error about the cancellation", err)
	}
	checkFile(t, w.exitCodeFile(), "terminated", 0o600)
}

func TestEtcdThatCannotStart(t *testing.T) {
	t.Parallel()
	fake := startBackupRestore(t, []string{"Successful"}, []string{""})
	w, ctx := newTestWrapper(t, fake)
	fake.configs = []string{etcdConfig(t, w, "http", "")}
	listener, err := net.Listen("tcp", fmt.Sprintf("localhost:%d", w.etcdPort))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if err := w.run(ctx); err == nil {
		t.Error("run returned no error though the client port is taken")
	}
}
