// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package tunnel

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

// PortError is the kubelet's error for a port of a pod that can't be reached.
type PortError struct {
	Namespace, Pod string
	Port           int
	// Message is the kubelet's message. It has more details than a user needs.
	Message string
}

func (e *PortError) refused() bool { return strings.Contains(e.Message, "connection refused") }

// Reset reports whether the pod closed a connection that it had accepted.
func (e *PortError) Reset() bool { return strings.Contains(e.Message, "connection reset by peer") }

func (e *PortError) Error() string {
	if e.refused() {
		return fmt.Sprintf("nothing listens on port %d of pod %s/%s (connection refused)", e.Port, e.Namespace, e.Pod)
	}
	return fmt.Sprintf("port %d of pod %s/%s: %s", e.Port, e.Namespace, e.Pod, e.Message)
}

// Unwrap returns the system's error for a refused or reset connection, which errors.Is finds
// as if the port had been dialled directly.
func (e *PortError) Unwrap() error {
	switch {
	case e.refused():
		return syscall.ECONNREFUSED
	case e.Reset():
		return syscall.ECONNRESET
	}
	return nil
}

// grace is how long the end of the data stream and the error stream wait for each other.
const grace = 250 * time.Millisecond

// podConn is a connection to a port of a pod. It is one end of a pipe, since the streams to
// the pod have no deadlines and a pipe has.
type podConn struct {
	net.Conn

	to       podAddr
	upgraded httpstream.Connection
	ended    chan struct{} // closed when the error stream has ended

	mu   sync.Mutex
	fail error
}

// openPort opens the two streams to a port over an upgraded connection. The result owns that
// connection.
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
	_ = failure.Close() // only the write side: nothing is sent on this stream
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := upgraded.CreateStream(headers)
	if err != nil {
		_ = upgraded.Close() // the first error counts
		return nil, err
	}
	near, far := net.Pipe()
	c := &podConn{Conn: near, to: to, upgraded: upgraded, ended: make(chan struct{})}
	go c.readError(failure)
	go c.receive(far, data)
	go c.send(data, far)
	return c, nil
}

// readError reads the kubelet's error, if it sends one.
func (c *podConn) readError(failure io.Reader) {
	defer close(c.ended)
	if message, _ := io.ReadAll(io.LimitReader(failure, 1<<16)); len(message) > 0 {
		failure := &PortError{Namespace: c.to.namespace, Pod: c.to.pod, Port: c.to.port, Message: strings.TrimSpace(string(message))}
		c.failed(failure)
		if !failure.refused() {
			time.Sleep(grace) // the last data may still arrive
		}
		_ = c.upgraded.Close() // the data stream may stay open
	}
}

// receive copies the data from the pod into the pipe.
func (c *podConn) receive(far io.WriteCloser, data io.Reader) {
	_, err := io.Copy(far, data)
	select {
	case <-c.ended:
	case <-time.After(grace):
	}
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		c.failed(err)
	}
	_ = far.Close() // never fails for a pipe
}

// send copies the data from the pipe to the pod.
func (c *podConn) send(data io.Writer, far io.ReadCloser) {
	_, err := io.Copy(data, far)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		c.failed(err)
	}
	_ = far.Close()        // never fails for a pipe
	_ = c.upgraded.Close() // nothing else uses it
}

// failed stores the first error.
func (c *podConn) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail == nil {
		c.fail = err
	}
}

// reason replaces the end of the pipe by the error that caused it.
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
