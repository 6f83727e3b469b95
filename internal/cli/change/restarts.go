// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
)

// Restarts returns a job that restarts members of a cluster.
func Restarts(a *app.App, c *app.Cluster) (*restart.Job, error) {
	credentials, err := a.Credentials.Read(a)
	if err != nil {
		return nil, err
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	return &restart.Job{
		Kube: c.Kube, Reader: c.Reader, Owner: c.Owner, Tunnel: tunnel.New(config), Credentials: credentials, Clock: a.Clock,
		Logf: func(format string, args ...any) { PrintStep(a, format, args...) },
	}, nil
}
