// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// listeners are the local endpoints of a proxy.
type listeners struct {
	members     *etcd.Cluster
	passthrough bool
	all         []*listener
	// warn reports a member that can't be reached.
	warn  func(pod string, err error)
	clock clock.PassiveClock

	mu sync.Mutex
	// failedAt is the time of the last failure of a pod.
	failedAt map[string]time.Time
}

// listener is one local endpoint, for one or more pods.
type listener struct {
	socket net.Listener
	url    string
	// host is the name in url, for which the certificate must be valid.
	host string
	pods []string
	// next is the number of connections so far.
	next int
}

// listen opens an endpoint for each pod, or one for all voters.
func listen(ctx context.Context, c *app.Cluster, s etcd.Survey, o options) (*listeners, error) {
	l := &listeners{members: c.Members, passthrough: o.passthrough, failedAt: map[string]time.Time{}, clock: c.Reader.Leases.Clock}
	groups, err := groupPods(c, s, o.one)
	if err != nil {
		return nil, err
	}
	secured := false
	for i, m := range s.Members {
		if m.Err != nil {
			l.failedAt[m.Pod] = l.clock.Now()
		}
		secured = secured || c.Members.Endpoints[i].TLS != nil
	}
	if o.socket != "" {
		if err := os.MkdirAll(o.socket, 0o700); err != nil {
			return nil, err
		}
	}
	scheme := "http"
	if secured && o.passthrough {
		scheme = "https"
	}
	for i, pods := range groups {
		endpoint := &listener{pods: pods}
		name := pods[0]
		if o.one {
			name = c.Name
		}
		if err := endpoint.open(ctx, o, i, name, scheme); err != nil {
			l.close()
			return nil, err
		}
		if o.passthrough && o.socket == "" {
			endpoint.useLocalhost(c.Members)
		}
		l.all = append(l.all, endpoint)
	}
	return l, nil
}

// groupPods returns the pods of each endpoint. No endpoint is an error, because etcdctl would then
// connect to a server on this machine.
func groupPods(c *app.Cluster, s etcd.Survey, one bool) ([][]string, error) {
	var each [][]string
	var voters []string
	for _, m := range s.Members {
		each = append(each, []string{m.Pod})
		if !m.Learner {
			voters = append(voters, m.Pod)
		}
	}
	switch {
	case len(each) == 0:
		return nil, fmt.Errorf("%s has no pods to connect to", c.Owner)
	case !one:
		return each, nil
	case len(voters) == 0:
		return nil, fmt.Errorf("%s has no pod with a voter: remove --one", c.Owner)
	}
	return [][]string{voters}, nil
}

func (l *listener) open(ctx context.Context, o options, i int, name, scheme string) error {
	network, address := "tcp", ""
	if o.socket == "" {
		port := o.port
		if port != 0 {
			port += i
		}
		address = net.JoinHostPort(o.address, strconv.Itoa(port))
	} else {
		path, err := filepath.Abs(filepath.Join(o.socket, name+".sock"))
		if err != nil {
			return err
		}
		network, address = "unix", path
		if err := removeSocket(path); err != nil {
			return err
		}
	}
	var config net.ListenConfig
	socket, err := config.Listen(ctx, network, address)
	if err != nil {
		return err
	}
	l.socket = socket
	if o.socket != "" {
		l.url, l.host = "unix://"+address, filepath.Base(address)
		return os.Chmod(address, 0o600)
	}
	l.url = scheme + "://" + socket.Addr().String()
	l.host, _, err = net.SplitHostPort(socket.Addr().String())
	return err
}

// removeSocket removes the socket of a proxy that was killed. It refuses to remove other files.
func removeSocket(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket: choose another directory with --socket", path)
	}
	return os.Remove(path)
}

// useLocalhost replaces a loopback address by "localhost", if the member's certificate is only
// valid for that name.
func (l *listener) useLocalhost(members *etcd.Cluster) {
	shown := members.Certificate(l.pods[0])
	if shown == nil || shown.VerifyHostname(l.host) == nil || shown.VerifyHostname("localhost") != nil || l.host != "127.0.0.1" && l.host != "::1" {
		return
	}
	l.url = strings.Replace(l.url, l.host, "localhost", 1)
	l.host = "localhost"
}

// variables returns the environment of etcdctl.
func (l *listeners) variables() []string {
	var urls []string
	for _, endpoint := range l.all {
		urls = append(urls, endpoint.url)
	}
	return []string{"ETCDCTL_ENDPOINTS=" + strings.Join(urls, ",")}
}

func (l *listeners) close() {
	for _, endpoint := range l.all {
		_ = endpoint.socket.Close() // closing twice is safe
	}
}
