// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
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
	// warn hears of members that can't be reached.
	warn  func(pod string, err error)
	clock clock.PassiveClock

	mu sync.Mutex
	// failedAt is when a pod was last not reached.
	failedAt map[string]time.Time
}

// backoff is how long a member that was not reached is tried after the others.
const backoff = 10 * time.Second

// listener is one local endpoint, for one pod or for several in turn.
type listener struct {
	Listener net.Listener
	url      string
	// host is the name in url that a client expects the certificate to have.
	host string
	pods []string
	next int
}

// listen listens for each pod, or once for all voters.
func listen(ctx context.Context, c *app.Cluster, s etcd.Survey, o options) (*listeners, error) {
	d := &listeners{members: c.Members, passthrough: o.passthrough, failedAt: map[string]time.Time{}, clock: c.Reader.Leases.Clock}
	groups, err := groupPods(c, s, o.one)
	if err != nil {
		return nil, err
	}
	secured := false
	for i, m := range s.Members {
		if m.Err != nil {
			d.failedAt[m.Pod] = d.clock.Now()
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
		door := &listener{pods: pods}
		name := pods[0]
		if o.one {
			name = c.Name
		}
		if err := door.open(ctx, o, i, name, scheme); err != nil {
			d.close()
			return nil, err
		}
		if o.passthrough && o.socket == "" {
			door.useLocalhost(c.Members)
		}
		d.all = append(d.all, door)
	}
	return d, nil
}

// groupPods are the pods behind each endpoint. None at all is an error: etcdctl without
// an endpoint would turn to whatever listens on this machine.
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
		return nil, fmt.Errorf("%s has no pods: there is nobody to speak to", c.Owner)
	case !one:
		return each, nil
	case len(voters) == 0:
		return nil, fmt.Errorf("%s has no pod with a voter: leave --one away", c.Owner)
	}
	return [][]string{voters}, nil
}

func (d *listener) open(ctx context.Context, o options, i int, name, scheme string) error {
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
	listener, err := config.Listen(ctx, network, address)
	if err != nil {
		return err
	}
	d.Listener = listener
	if o.socket != "" {
		d.url, d.host = "unix://"+address, filepath.Base(address)
		return os.Chmod(address, 0o600)
	}
	d.url = scheme + "://" + listener.Addr().String()
	d.host, _, err = net.SplitHostPort(listener.Addr().String())
	return err
}

// removeSocket takes away what a proxy that was killed has left behind, and nothing else.
func removeSocket(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s is there and is no socket: name another directory with --socket", path)
	}
	return os.Remove(path)
}

// useLocalhost calls the address that localhost has by that name, where a member's certificate
// has it and not the address.
func (d *listener) useLocalhost(members *etcd.Cluster) {
	shown := members.Certificate(d.pods[0])
	if shown == nil || shown.VerifyHostname(d.host) == nil || shown.VerifyHostname("localhost") != nil || d.host != "127.0.0.1" && d.host != "::1" {
		return
	}
	d.url = strings.Replace(d.url, d.host, "localhost", 1)
	d.host = "localhost"
}

// variables are the environment of etcdctl.
func (d *listeners) variables() []string {
	var urls []string
	for _, door := range d.all {
		urls = append(urls, door.url)
	}
	return []string{"ETCDCTL_ENDPOINTS=" + strings.Join(urls, ",")}
}

// serve passes connections on until the context ends.
func (d *listeners) serve(ctx context.Context) *sync.WaitGroup {
	var served sync.WaitGroup
	for _, door := range d.all {
		served.Go(func() {
			for {
				client, err := door.Listener.Accept()
				if err != nil {
					return // it was closed
				}
				served.Go(func() {
					d.members.Relay(ctx, client, d.roundRobin(door), d.passthrough, d.markFailed)
				})
			}
		})
	}
	return &served
}

// roundRobin is whom to try for one more connection: each first once, and those that were
// not reached before after the others.
func (d *listeners) roundRobin(door *listener) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := door.next % len(door.pods)
	door.next++
	pods := slices.Concat(door.pods[first:], door.pods[:first])
	now := d.clock.Now()
	ill := func(pod string) int {
		if now.Sub(d.failedAt[pod]) < backoff {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(pods, func(a, b string) int { return cmp.Compare(ill(a), ill(b)) })
	return pods
}

func (d *listeners) markFailed(pod string, err error) {
	d.mu.Lock()
	d.failedAt[pod] = d.clock.Now()
	d.mu.Unlock()
	d.warn(pod, err)
}

func (d *listeners) close() {
	for _, door := range d.all {
		_ = door.Listener.Close() // a second time is fine
	}
}

// latest remembers what was said last of each of several things.
type latest struct {
	mu   sync.Mutex
	said map[string]string
}

func newLatest() *latest { return &latest{said: map[string]string{}} }

// changed notes a text and returns whether it is news.
func (l *latest) changed(of, text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.said[of]
	l.said[of] = text
	return was != text
}
