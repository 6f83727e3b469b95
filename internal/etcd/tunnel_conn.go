// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
)

// PortError is why a pod's port could not be reached, as its kubelet says.
type PortError struct {
	Namespace, Pod string
	Port           int
	// Said is the kubelet's message, with more in it than a person wants to know.
	Said string
}

func (e *PortError) refused() bool { return strings.Contains(e.Said, "connection refused") }
func (e *PortError) reset() bool   { return strings.Contains(e.Said, "connection reset by peer") }

func (e *PortError) Error() string {
	if e.refused() {
		return fmt.Sprintf("nothing listens on port %d of pod %s/%s (connection refused)", e.Port, e.Namespace, e.Pod)
	}
	return fmt.Sprintf("port %d of pod %s/%s: %s", e.Port, e.Namespace, e.Pod, e.Said)
}

// Unwrap makes a refused or reset connection one to errors.Is, as if it had been
// dialled directly.
func (e *PortError) Unwrap() error {
	switch {
	case e.refused():
		return syscall.ECONNREFUSED
	case e.reset():
		return syscall.ECONNRESET
	}
	return nil
}

// grace is how long the end of the data and the word of why wait for each other.
const grace = 250 * time.Millisecond

// podConn is a connection to a port of a pod. It is one end of a pipe, which knows
// deadlines as the streams beyond don't.
type podConn struct {
	net.Conn

	to       podAddr
	upgraded httpstream.Connection
	told     chan struct{} // closed when the error stream has ended

	mu   sync.Mutex
	fail error
}

// openPort asks for a pair of streams to one port over an upgraded connection, which
// then belongs to the result.
func openPort(upgraded httpstream.Connection, to podAddr) (*podConn, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(to.port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failure, err := upgraded.CreateStream(headers)
	if err != nil {
		_ = upgraded.Close() // the first error counts
		return nil, err
	}
	_ = failure.Close() // for our side: nothing is ever sent on it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := upgraded.CreateStream(headers)
	if err != nil {
		_ = upgraded.Close() // the first error counts
		return nil, err
	}
	near, far := net.Pipe()
	c := &podConn{Conn: near, to: to, upgraded: upgraded, told: make(chan struct{})}
	go c.listen(failure)
	go c.receive(far, data)
	go c.send(data, far)
	return c, nil
}

// listen reads what the kubelet has to complain of.
func (c *podConn) listen(failure io.Reader) {
	defer close(c.told)
	if said, _ := io.ReadAll(io.LimitReader(failure, 1<<16)); len(said) > 0 {
		failure := &PortError{Namespace: c.to.namespace, Pod: c.to.pod, Port: c.to.port, Said: strings.TrimSpace(string(said))}
		c.failed(failure)
		if !failure.refused() {
			time.Sleep(grace) // the member's own last words may be on their way
		}
		_ = c.upgraded.Close() // the data stream may stay open as if nothing were
	}
}

func (c *podConn) receive(far io.WriteCloser, data io.Reader) {
	_, err := io.Copy(far, data)
	select {
	case <-c.told:
	case <-time.After(grace):
	}
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		c.failed(err)
	}
	_ = far.Close() // a pipe's never fails
}

func (c *podConn) send(data io.Writer, far io.ReadCloser) {
	_, err := io.Copy(data, far)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		c.failed(err)
	}
	_ = far.Close()        // a pipe's never fails
	_ = c.upgraded.Close() // nothing else uses it
}

// failed remembers the first reason.
func (c *podConn) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail == nil {
		c.fail = err
	}
}

// reason puts the kubelet's word in the place of a pipe's plain end.
func (c *podConn) reason(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		return c.fail
	}
	return err
}

func (c *podConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.reason(err)
}

func (c *podConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.reason(err)
}

func (c *podConn) LocalAddr() net.Addr  { return podAddr{} }
func (c *podConn) RemoteAddr() net.Addr { return c.to }

// podAddr is a port of a pod; the zero value is this side of the tunnel.
type podAddr struct {
	namespace, pod string
	port           int
}

func (podAddr) Network() string { return "port-forward" }

func (a podAddr) String() string {
	if a == (podAddr{}) {
		return "port-forward"
	}
	return fmt.Sprintf("%s/%s:%d", a.namespace, a.pod, a.port)
}
