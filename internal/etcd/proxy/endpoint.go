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

// Endpoint is one local endpoint, for one or more pods.
type Endpoint struct {
	URL string
	// Host is the name in URL, for which the certificate must be valid.
	Host string
	Pods []string

	socket net.Listener
	// next is the number of connections so far.
	next int
}

func (e *Endpoint) open(ctx context.Context, c Config, i int, name, scheme string) error {
	network, address := "tcp", ""
	if c.Socket == "" {
		port := c.Port
		if port != 0 {
			port += i
		}
		address = net.JoinHostPort(c.Address, strconv.Itoa(port))
	} else {
		path, err := filepath.Abs(filepath.Join(c.Socket, name+".sock"))
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
	e.socket = socket
	if c.Socket != "" {
		e.URL, e.Host = "unix://"+address, filepath.Base(address)
		return os.Chmod(address, 0o600)
	}
	e.URL = scheme + "://" + socket.Addr().String()
	e.Host, _, err = net.SplitHostPort(socket.Addr().String())
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
func (e *Endpoint) useLocalhost(members *etcd.Cluster) {
	shown := members.Certificate(e.Pods[0])
	if shown == nil || shown.VerifyHostname(e.Host) == nil || shown.VerifyHostname("localhost") != nil || e.Host != "127.0.0.1" && e.Host != "::1" {
		return
	}
	e.URL = strings.Replace(e.URL, e.Host, "localhost", 1)
	e.Host = "localhost"
}
