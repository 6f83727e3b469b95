// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// listener is one local endpoint, for one or more pods.
type listener struct {
	socket net.Listener
	url    string
	// host is the name in url, for which the certificate must be valid.
	host string
	pods []string
	// next is the number of connections so far.
	next int
}

func (l *listener) open(ctx context.Context, o options, i int, name, scheme string) error {
	network, address := "tcp", ""
	if o.socket == "" {
		port := o.port
		if port != 0 {
			port += i
		}
		address = net.JoinHostPort(o.address, strconv.Itoa(port))
	} else {
		path, err := filepath.Abs(filepath.Join(o.socket, name+".sock"))
		if err != nil {
			return err
		}
		network, address = "unix", path
		if err := removeSocket(path); err != nil {
			return err
		}
	}
	var config net.ListenConfig
	socket, err := config.Listen(ctx, network, address)
	if err != nil {
		return err
	}
	l.socket = socket
	if o.socket != "" {
		l.url, l.host = "unix://"+address, filepath.Base(address)
		return os.Chmod(address, 0o600)
	}
	l.url = scheme + "://" + socket.Addr().String()
	l.host, _, err = net.SplitHostPort(socket.Addr().String())
	return err
}

// removeSocket removes the socket of a proxy that was killed. It refuses to remove other files.
func removeSocket(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket: choose another directory with --socket", path)
	}
	return os.Remove(path)
}

// useLocalhost replaces a loopback address by "localhost", if the member's certificate is only
// valid for that name.
func (l *listener) useLocalhost(members *etcd.Cluster) {
	shown := members.Certificate(l.pods[0])
	if shown == nil || shown.VerifyHostname(l.host) == nil || shown.VerifyHostname("localhost") != nil || l.host != "127.0.0.1" && l.host != "::1" {
		return
	}
	l.url = strings.Replace(l.url, l.host, "localhost", 1)
	l.host = "localhost"
}
