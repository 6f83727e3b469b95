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
	"sync"
	"syscall"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
)

// link makes the connections of one client to one member. It speaks TLS itself,
// below gRPC: what goes wrong is then known as an error and not as a part of a
// sentence of gRPC's, and so is the certificate that the member shows.
type link struct {
	tunnel   *tunnel.Dialer
	endpoint Endpoint
	// protocols is what TLS offers: h2 for gRPC, nothing for plain HTTP.
	protocols []string

	mu      sync.Mutex
	failure error
	leaf    *x509.Certificate
}

// dial opens a connection, secured where the endpoint says so.
func (l *link) dial(ctx context.Context) (net.Conn, error) {
	l.note(nil)
	e := l.endpoint
	conn, err := l.tunnel.Dial(ctx, e.Namespace, e.Pod, e.Port)
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
	if shown := secured.ConnectionState().PeerCertificates; len(shown) > 0 {
		l.mu.Lock()
		l.leaf = shown[0]
		l.mu.Unlock()
	}
	watched.Conn = secured
	return watched, nil
}

// note remembers why the last connection failed; nil forgets it.
func (l *link) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure = err
}

// cause is why the last connection failed, or nil.
func (l *link) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// certificate is what the member showed last, nil before and without TLS.
func (l *link) certificate() *x509.Certificate {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaf
}

var (
	// errSilent is a connection that ended before the member had said anything: what
	// etcd does to a client that speaks plaintext where it expects TLS.
	errSilent = errors.New("closed the connection without a word")
	// errWantsCertificate and errDislikesCertificate are the same after it had asked
	// for a client certificate. In TLS 1.3 a server refuses one after the handshake,
	// and its alert often goes down with the connection.
	errWantsCertificate    = errors.New("wants a client certificate")
	errDislikesCertificate = errors.New("closed the connection after it saw the client certificate")
)

// watchedConn tells its link what it failed of. gRPC keeps that to itself where
// another error comes first.
type watchedConn struct {
	net.Conn

	link *link
	// asked and shown say whether the member wanted a client certificate and got one.
	asked, shown bool
	// heard is set by Read, which gRPC and HTTP call from one goroutine at a time.
	heard bool
}

// certificate chooses the client certificate as crypto/tls itself does.
func (c *watchedConn) certificate(config *tls.Config) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c.asked = true
		if config.GetClientCertificate != nil {
			chosen, err := config.GetClientCertificate(request)
			c.shown = chosen != nil && len(chosen.Certificate) > 0
			return chosen, err
		}
		for i := range config.Certificates {
			if request.SupportsCertificate(&config.Certificates[i]) == nil {
				c.shown = true
				return &config.Certificates[i], nil
			}
		}
		return &tls.Certificate{}, nil
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.heard = c.heard || n > 0
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
		c.link.note(c.meaning(err))
	}
	return n, err
}

// meaning is what the end of a connection most likely says.
func (c *watchedConn) meaning(err error) error {
	cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
	switch {
	case !cut || c.heard:
		return err
	case c.shown:
		return errDislikesCertificate
	case c.asked:
		return errWantsCertificate
	}
	return errSilent
}
