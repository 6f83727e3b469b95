// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"strings"
	"sync"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/proxy"
)

// printUsage prints the endpoints and how to use them. A command ends by itself.
func printUsage(a *app.App, p *proxy.Proxy, command bool) {
	for _, endpoint := range p.Endpoints {
		a.Notef("%s  %s", endpoint.URL, strings.Join(endpoint.Pods, ", "))
	}
	tls, password := false, false
	for _, m := range p.Members.Endpoints {
		tls, password = tls || m.TLS != nil, password || m.Username != ""
	}
	switch {
	case p.Passthrough && tls:
		printPassthrough(a, p)
	case p.Socket == "" && tls:
		a.Warn("any user of this machine can use these endpoints with the cluster's client certificate. With --socket DIR, only you can.")
	case p.Socket == "":
		a.Warn("any user of this machine can use these endpoints. With --socket DIR, only you can.")
	}
	if password {
		a.Notef("Authentication is on: use etcdctl with --user.")
	}
	if !command {
		a.Notef("Press Ctrl-C to stop.")
	}
}

// printPassthrough prints what a client needs for TLS with the members.
func printPassthrough(a *app.App, p *proxy.Proxy) {
	a.Notef("TLS is passed through: use etcdctl with --cacert, --cert and --key.")
	for _, endpoint := range p.Endpoints {
		for _, pod := range endpoint.Pods {
			if shown := p.Members.Certificate(pod); shown != nil && shown.VerifyHostname(endpoint.Host) != nil {
				a.Warn("the certificate of %s is not valid for %s, so a client needs an option for the expected name. etcdctl has none.", pod, endpoint.Host)
			}
		}
	}
}

// warnOnce returns a function that warns about a failure of a pod, unless the last failure of the
// pod had the same message.
func warnOnce(a *app.App) func(pod string, err error) {
	var mu sync.Mutex
	last := map[string]string{}
	return func(pod string, err error) {
		mu.Lock()
		repeated := last[pod] == err.Error()
		last[pod] = err.Error()
		mu.Unlock()
		if !repeated {
			a.Warn("%s.", err)
		}
	}
}
