// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package proxy listens on this machine for clients of etcd, and relays each connection to a member through
// the API server.
package proxy

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Config is the cluster for which a proxy listens, and where it listens.
type Config struct {
	Owner   owner.Owner
	Members *etcd.Cluster
	Clock   clock.PassiveClock
	// One is one endpoint for all voters, instead of one for each member.
	One bool
	// Passthrough leaves TLS to the clients.
	Passthrough bool
	// Address and Port are where the first endpoint listens. The others have the ports after it. With port 0, each
	// has a free one.
	Address string
	Port    int
	// Socket is a directory for Unix sockets, which replace ports. Empty is none.
	Socket string
	// Warn reports a member that can't be reached.
	Warn func(pod string, err error)
}

// Proxy are the local endpoints of a cluster.
type Proxy struct {
	Config

	Endpoints []*Endpoint

	mu sync.Mutex
	// failedAt is the time of the last failure of a pod.
	failedAt map[string]time.Time
}

// Listen opens an endpoint for each pod, or one for all voters. The caller serves and closes them.
func Listen(ctx context.Context, c Config, s etcd.Survey) (*Proxy, error) {
	p := &Proxy{Config: c, failedAt: map[string]time.Time{}}
	groups, err := groupPods(c.Owner, s, c.One)
	if err != nil {
		return nil, err
	}
	secured := false
	for i, m := range s.Members {
		if m.Err != nil {
			p.failedAt[m.Pod] = c.Clock.Now()
		}
		secured = secured || c.Members.Endpoints[i].TLS != nil
	}
	if c.Socket != "" {
		if err := os.MkdirAll(c.Socket, 0o700); err != nil {
			return nil, err
		}
	}
	scheme := "http"
	if secured && c.Passthrough {
		scheme = "https"
	}
	for i, pods := range groups {
		endpoint := &Endpoint{Pods: pods}
		name := pods[0]
		if c.One {
			name = c.Owner.Name
		}
		if err := endpoint.open(ctx, c, i, name, scheme); err != nil {
			p.Close()
			return nil, err
		}
		if c.Passthrough && c.Socket == "" {
			endpoint.useLocalhost(c.Members)
		}
		p.Endpoints = append(p.Endpoints, endpoint)
	}
	return p, nil
}

// groupPods returns the pods of each endpoint. No endpoint is an error, because etcdctl would then
// connect to a server on this machine.
func groupPods(o owner.Owner, s etcd.Survey, one bool) ([][]string, error) {
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
		return nil, fmt.Errorf("%s has no pods to connect to", o)
	case !one:
		return each, nil
	case len(voters) == 0:
		return nil, fmt.Errorf("%s has no pod with a voter: remove --one", o)
	}
	return [][]string{voters}, nil
}

// Variables returns the environment of etcdctl.
func (p *Proxy) Variables() []string {
	var urls []string
	for _, endpoint := range p.Endpoints {
		urls = append(urls, endpoint.URL)
	}
	return []string{"ETCDCTL_ENDPOINTS=" + strings.Join(urls, ",")}
}

// Close closes all endpoints. It may be called twice.
func (p *Proxy) Close() {
	for _, endpoint := range p.Endpoints {
		_ = endpoint.socket.Close() // closing twice is safe
	}
}
