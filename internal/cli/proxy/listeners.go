// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"os"
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
