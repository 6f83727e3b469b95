// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
)

// Certificate returns the certificate that a member presented on the connection of its
// Client. It is nil before the first connection and without TLS.
func (c *Cluster) Certificate(pod string) *x509.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[pod]; m != nil {
		return m.link.certificate()
	}
	return nil
}

// Relay forwards a client's connection to the first of the pods that can be reached. It
// returns when either side closes the connection, and closes the client's side. Relay adds
// TLS and the client certificate, unless through is set because the client does its own TLS.
// It calls failed for each member that can't be reached, and for one that breaks the
// connection: a port on which no etcd listens is only detected then.
func (c *Cluster) Relay(ctx context.Context, client net.Conn, pods []string, through bool, failed func(pod string, err error)) {
	defer client.Close()
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()
	from := bufio.NewReader(client)
	for _, pod := range pods {
		reached, err := c.relay(ctx, client, from, pod, through)
		if err != nil && ctx.Err() == nil {
			failed(pod, err)
		}
		if reached || ctx.Err() != nil {
			return
		}
	}
}

// relay forwards the connection to one pod. reached reports whether the pod was dialled.
func (c *Cluster) relay(ctx context.Context, client io.Writer, from *bufio.Reader, pod string, through bool) (reached bool, err error) {
	e, err := c.endpoint(pod)
	if err != nil {
		return false, err
	}
	l := &link{tunnel: c.Tunnel, endpoint: e}
	switch {
	case through:
		l.endpoint.TLS = nil
	case e.TLS != nil:
		// Members serve gRPC and HTTP/1 on one port, and the protocol of TLS selects one.
		if begin, _ := from.Peek(3); string(begin) == "PRI" {
			l.protocols = []string{"h2"}
		}
	}
	member, err := l.dial(ctx)
	if err != nil {
		return false, Explain(e, err)
	}
	defer member.Close()
	go func() {
		_, _ = io.Copy(member, from)
		_ = member.Close() // the client has gone
	}()
	_, err = io.Copy(client, member)
	if err == nil || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) || l.cause() == nil {
		return true, nil // a regular end
	}
	return true, Explain(e, err)
}
