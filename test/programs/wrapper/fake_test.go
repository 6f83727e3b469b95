// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fakeBackupRestore answers as backup-restore does: each status once, the last
// for ever, and it remembers what it was asked.
type fakeBackupRestore struct {
	*httptest.Server

	mu       sync.Mutex
	statuses []string // a status beginning with ! is an HTTP error
	configs  []string
	asked    []string
}

// startBackupRestore serves the given answers until the test ends.
func startBackupRestore(t *testing.T, statuses, configs []string) *fakeBackupRestore {
	t.Helper()
	fake := &fakeBackupRestore{statuses: statuses, configs: configs}
	fake.Server = httptest.NewServer(fake)
	t.Cleanup(fake.Close)
	return fake
}

func (f *fakeBackupRestore) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, req.Method+" "+req.URL.String())
	switch req.URL.Path {
	case "/initialization/status":
		answer(rw, &f.statuses)
	case "/config":
		answer(rw, &f.configs)
	}
}

// answer writes the first of the answers left.
func answer(rw http.ResponseWriter, answers *[]string) {
	next := (*answers)[0]
	if len(*answers) > 1 {
		*answers = (*answers)[1:]
	}
	if text, isError := strings.CutPrefix(next, "!"); isError {
		http.Error(rw, text, http.StatusInternalServerError)
		return
	}
	_, _ = rw.Write([]byte(next))
}

// requests returns what was asked so far.
func (f *fakeBackupRestore) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...)
}

// newTestWrapper returns a wrapper beside fake in folders of its own, and the
// context that its stop ends.
func newTestWrapper(t *testing.T, fake *fakeBackupRestore) (*wrapper, context.Context) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	dir := t.TempDir()
	return &wrapper{
		options: options{
			backupRestore: strings.TrimPrefix(strings.TrimPrefix(fake.URL, "https://"), "http://"),
			etcdName:      "localhost",
			etcdPort:      freePort(t),
			port:          freePort(t),
		},
		folder:     dir,
		configFile: filepath.Join(dir, "etcd.conf.yaml"),
		pause:      time.Millisecond,
		stop:       cancel,
		log:        slog.New(slog.NewTextHandler(t.Output(), nil)),
	}, ctx
}

// lastPort is the port that freePort has tried last. It begins anywhere below
// those that the kernel gives to connections: a port that one of them held would
// be taken again before the member listens on it.
var lastPort atomic.Int32

// freePort returns a port that nothing listens on, another one each time.
func freePort(t *testing.T) int {
	t.Helper()
	lastPort.CompareAndSwap(0, 10000+rand.Int32N(15000))
	for range 100 {
		port := int(lastPort.Add(1))
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}
