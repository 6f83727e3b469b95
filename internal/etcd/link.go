// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
)

// link opens the connections of one client to one member. It does TLS itself, below gRPC.
// gRPC would only return text for an error of TLS, and wouldn't expose the member's
// certificate.
type link struct {
	tunnel   *tunnel.Dialer
	endpoint access.Endpoint
	// protocols are those that TLS proposes: h2 for gRPC, none for HTTP/1.
	protocols []string

	mu      sync.Mutex
	failure error
	leaf    *x509.Certificate
}

// dial opens a connection, with TLS if the endpoint has it.
func (l *link) dial(ctx context.Context) (net.Conn, error) {
	l.note(nil)
	e := l.endpoint
	conn, err := l.connect(ctx)
	if err != nil {
		l.note(err)
		return nil, err
	}
	if e.TLS == nil {
		return &watchedConn{Conn: conn, link: l}, nil
	}
	watched := &watchedConn{link: l}
	config := e.TLS.Clone()
	config.NextProtos = l.protocols
	config.GetClientCertificate = watched.certificate(e.TLS)
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the first error counts
		l.note(err)
		return nil, err
	}
	if presented := secured.ConnectionState().PeerCertificates; len(presented) > 0 {
		l.mu.Lock()
		l.leaf = presented[0]
		l.mu.Unlock()
	}
	watched.Conn = secured
	return watched, nil
}

// connect opens a port-forward, or connects to the endpoint's address.
func (l *link) connect(ctx context.Context) (net.Conn, error) {
	e := l.endpoint
	if e.Address == "" {
		return l.tunnel.Dial(ctx, e.Namespace, e.Pod, e.Port)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", net.JoinHostPort(e.Address, strconv.Itoa(e.Port)))
}

// note stores why the last connection failed; nil resets it.
func (l *link) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure = err
}

// cause returns why the last connection failed, or nil.
func (l *link) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// certificate returns the certificate that the member presented last. It is nil before the
// first connection and without TLS.
func (l *link) certificate() *x509.Certificate {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaf
}

var (
	// errSilent is a connection that ended before the member sent any data. etcd closes a
	// connection like that if it expects TLS and the client uses none.
	errSilent = errors.New("closed the connection without an answer")
	// errCertificateDemanded and errCertificateRejected are the same after the member had
	// requested a client certificate. In TLS 1.3 a server rejects a certificate after the
	// handshake, and its alert is often lost with the connection.
	errCertificateDemanded = errors.New("demands a client certificate")
	errCertificateRejected = errors.New("closed the connection after it received the client certificate")
)

// watchedConn reports its errors to its link. gRPC hides them if another error comes first.
type watchedConn struct {
	net.Conn

	link *link
	// requested and presented report whether the member requested a client certificate and
	// received one.
	requested, presented bool
	// received reports whether the member sent data. Read sets it; gRPC and HTTP call Read
	// from one goroutine at a time.
	received bool
}

// certificate returns a function that chooses the client certificate as crypto/tls does.
func (c *watchedConn) certificate(config *tls.Config) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c.requested = true
		if config.GetClientCertificate != nil {
			chosen, err := config.GetClientCertificate(request)
			c.presented = chosen != nil && len(chosen.Certificate) > 0
			return chosen, err
		}
		for i := range config.Certificates {
			if request.SupportsCertificate(&config.Certificates[i]) == nil {
				c.presented = true
				return &config.Certificates[i], nil
			}
		}
		return &tls.Certificate{}, nil
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received = c.received || n > 0
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
		c.link.note(c.meaning(err))
	}
	return n, err
}

// meaning returns the most likely reason for the end of a connection.
func (c *watchedConn) meaning(err error) error {
	cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
	switch {
	case !cut || c.received:
		return err
	case c.presented:
		return errCertificateRejected
	case c.requested:
		return errCertificateDemanded
	}
	return errSilent
}
