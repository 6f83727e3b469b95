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

// Certificate is what a member has shown on the connection of its Client, nil before
// there was one and where it serves in the clear.
func (c *Cluster) Certificate(pod string) *x509.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[pod]; m != nil {
		return m.link.certificate()
	}
	return nil
}

// Relay passes a client's connection on to the first of some members that can be
// reached, and returns when either side ends it; it closes the client's. TLS, and the
// identity that a member wants to see, are added on the way, unless through says that
// the client has its own. failed is told of each member that could not be reached, or
// was and broke off: where no etcd listens is only known by then.
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
		// Members speak gRPC and plain HTTP on one port, and TLS says which is meant.
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
		return true, nil // an end like any other
	}
	return true, Explain(e, err)
}
